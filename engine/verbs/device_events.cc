#include "engine/verbs/device_events.h"

#include <fcntl.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstring>

#include "engine/verbs/verbs_api.h"
#include "engine/verbs/verbs_error.h"

namespace corail {
namespace {

DeviceEventKind kind_of(ibv_event_type type) noexcept {
  switch (type) {
    case IBV_EVENT_PORT_ACTIVE:
      return DeviceEventKind::kPortActive;
    case IBV_EVENT_PORT_ERR:
      return DeviceEventKind::kPortDown;
    case IBV_EVENT_GID_CHANGE:
      return DeviceEventKind::kGidChange;
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_CQ_ERR:
      return DeviceEventKind::kFatal;
    default:
      return DeviceEventKind::kOther;
  }
}

}  // namespace

Result<std::unique_ptr<DeviceEvents>> DeviceEvents::make(std::shared_ptr<const Device> device) {
  const int descriptor = device->handle()->async_fd;
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) {
    return verbs_error(Stage::kSetup, "fcntl", device->name(), errno);
  }
  return std::unique_ptr<DeviceEvents>(new DeviceEvents(std::move(device)));
}

int DeviceEvents::descriptor() const noexcept { return device_->handle()->async_fd; }

std::optional<DeviceEvent> DeviceEvents::take() const {
  ibv_async_event told;
  std::memset(&told, 0, sizeof told);
  DeviceEvent event;
  errno = 0;
  if (device_->api().get_async_event(device_->handle(), &told) != 0) {
    if (errno == EAGAIN || errno == EINTR) return std::nullopt;
    // A device that was pulled out stays readable and tells nothing, for ever.
    event.kind = DeviceEventKind::kFatal;
    event.what = verbs_error(Stage::kWait, "get_async_event", device_->name(), errno).detail();
    return event;
  }
  event.kind = kind_of(told.event_type);
  const bool of_port = event.kind == DeviceEventKind::kPortActive ||
                       event.kind == DeviceEventKind::kPortDown ||
                       event.kind == DeviceEventKind::kGidChange;
  if (of_port) event.port = static_cast<std::uint8_t>(told.element.port_num);
  event.what = ::ibv_event_type_str(told.event_type);
  device_->api().ack_async_event(&told);
  return event;
}

}  // namespace corail
