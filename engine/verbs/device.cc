#include "engine/verbs/device.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "engine/verbs/verbs_api.h"
#include "engine/verbs/verbs_error.h"

namespace corail {
namespace {

/// Entries of all ports' GID tables that are looked at, at most (I8).
constexpr std::size_t kMaxGids = 1024;

/// The system's list of devices, given back at the end of the scope.
class DeviceList {
 public:
  explicit DeviceList(const VerbsApi& api) : api_(api), list_(api.get_device_list(&count_)) {}
  ~DeviceList() {
    if (list_ != nullptr) api_.free_device_list(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  int count() const noexcept { return list_ == nullptr ? 0 : count_; }
  ibv_device* operator[](int index) const noexcept { return list_[index]; }

 private:
  const VerbsApi& api_;
  int count_ = 0;
  ibv_device** const list_;
};

std::uint32_t unsigned_of(int number) noexcept {
  return number < 0 ? 0 : static_cast<std::uint32_t>(number);
}

DeviceLimits limits_of(const ibv_device_attr& attributes) {
  DeviceLimits limits;
  limits.max_region_bytes = attributes.max_mr_size;
  limits.max_queue_requests = unsigned_of(attributes.max_qp_wr);
  limits.max_completions = unsigned_of(attributes.max_cqe);
  limits.max_segments = unsigned_of(std::min(attributes.max_sge, attributes.max_sge_rd));
  limits.max_reads_sent = unsigned_of(attributes.max_qp_init_rd_atom);
  limits.max_reads_answered = unsigned_of(attributes.max_qp_rd_atom);
  limits.ports = attributes.phys_port_cnt;
  return limits;
}

}  // namespace

std::vector<std::string> device_names(const VerbsApi& api) {
  const DeviceList list(api);
  std::vector<std::string> names;
  for (int i = 0; i < list.count(); ++i) names.emplace_back(api.get_device_name(list[i]));
  return names;
}

Result<std::shared_ptr<const Device>> Device::open(const VerbsApi& api, std::string_view name) {
  const DeviceList list(api);
  ibv_device* found = nullptr;
  for (int i = 0; i < list.count(); ++i) {
    if (api.get_device_name(list[i]) == name) found = list[i];
  }
  if (found == nullptr) {
    const std::vector<std::string> names = device_names(api);
    return Error(Errc::kUnknownName, Stage::kSetup,
                 names.empty()
                     ? fmt::format("there is no RDMA device '{}', and no other on this machine; "
                                   "check that its driver is loaded, or use tcp rails",
                                   name)
                     : fmt::format("there is no RDMA device '{}'; there are {}", name,
                                   fmt::join(names, ", ")));
  }
  ibv_context* const context = api.open_device(found);
  if (context == nullptr) return verbs_error(Stage::kSetup, "open_device", name, errno);
  std::shared_ptr<Device> device(new Device(api, std::string(name), context));
  ibv_device_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  const int error = api.query_device(context, &attributes);
  if (error != 0) return verbs_error(Stage::kSetup, "query_device", name, error);
  device->limits_ = limits_of(attributes);
  return std::shared_ptr<const Device>(std::move(device));
}

Device::~Device() { api_.close_device(context_); }

Result<PortFacts> Device::port(std::uint8_t number) const {
  if (number == 0 || number > limits_.ports) {
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 fmt::format("{} has no port {}; it has 1 to {}", name_, number, limits_.ports));
  }
  ibv_port_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  const int error = api_.query_port(context_, number, &attributes);
  if (error != 0) return verbs_error(Stage::kSetup, "query_port", name_, error);
  PortFacts facts;
  facts.active = attributes.state == IBV_PORT_ACTIVE;
  facts.state = attributes.state <= IBV_PORT_ACTIVE_DEFER ? static_cast<PortState>(attributes.state)
                                                          : PortState::kUnknown;
  const bool ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  facts.link = ethernet ? LinkLayer::kEthernet : LinkLayer::kInfiniBand;
  facts.mtu_bytes = 128U << attributes.active_mtu;
  facts.max_mtu_bytes = 128U << attributes.max_mtu;
  facts.max_message_bytes = attributes.max_msg_sz;
  facts.lid = attributes.lid;
  return facts;
}

Result<std::vector<GidEntry>> Device::gids(std::uint8_t port) const {
  std::vector<ibv_gid_entry> entries(kMaxGids);
  const std::ptrdiff_t count = api_.query_gid_table(context_, entries.data(), entries.size());
  if (count < 0) {
    return verbs_error(Stage::kSetup, "query_gid_table", name_, static_cast<int>(-count));
  }
  std::vector<GidEntry> gids;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const ibv_gid_entry& entry = entries[i];
    if (entry.port_num != port) continue;
    GidEntry gid;
    std::memcpy(gid.gid.data(), entry.gid.raw, gid.gid.size());
    gid.index = entry.gid_index;
    gid.type = entry.gid_type == IBV_GID_TYPE_ROCE_V2   ? GidType::kRoceV2
               : entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? GidType::kRoceV1
                                                        : GidType::kInfiniBand;
    gids.push_back(gid);
  }
  return gids;
}

}  // namespace corail
