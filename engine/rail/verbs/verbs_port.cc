#include "engine/rail/verbs/verbs_port.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <system_error>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/rail/verbs/gid_text.h"

namespace corail {
namespace {

/// Events of a device that are taken in one go; more of them wait for the next handler (I8).
constexpr int kMaxDeviceEvents = 64;

/// Tells the ports of a process apart.
std::atomic<std::uint64_t> ports_made{0};
/// Generations of all ports: they only have to grow.
std::atomic<std::uint64_t> generations_made{0};

/// A READ lands in local memory, and over the border of two registrations in two pieces of it.
Result<void> check_segments(const DeviceLimits& limits, const VerbsOptions& options) {
  const std::uint32_t least = options.max_region_bytes == 0 ? 1 : 2;
  if (limits.max_segments >= least) return ok_result();
  return Error(
      Errc::kInvalidArgument, Stage::kSetup,
      fmt::format("a READ on {} may land in {} pieces of memory (max_sge, max_sge_rd), but "
                  "{} are needed{}",
                  options.device, limits.max_segments, least,
                  least == 1 ? "; use tcp rails over its interface"
                             : " where memory is registered in pieces; leave out the "
                               "longest registration"));
}

}  // namespace

Result<std::shared_ptr<VerbsPort>> VerbsPort::open(const VerbsApi& api, Executor& executor,
                                                   asio::any_io_executor control,
                                                   VerbsOptions options) {
  auto device = Device::open(api, options.device);
  if (!device.ok()) return std::move(device).error();
  const auto facts = (*device)->port(options.port);
  if (!facts.ok()) return facts.error();
  const auto gids = (*device)->gids(options.port);
  if (!gids.ok()) return gids.error();
  const std::string name = fmt::format("{}:{}", options.device, options.port);
  const auto gid = choose_gid(*gids, facts->link, options.gid, name);
  // The addresses of an interface that is down come when it comes up.
  if (!gid.ok() && (facts->active || options.gid)) return gid.error();
  const auto suits = check_segments((*device)->limits(), options);
  if (!suits.ok()) return suits.error();
  auto pd = ProtectionDomain::make(*device);
  if (!pd.ok()) return std::move(pd).error();
  auto completions = CompletionQueue::make(*device, kPortCompletions);
  if (!completions.ok()) return std::move(completions).error();
  auto events = DeviceEvents::make(*device);
  if (!events.ok()) return std::move(events).error();
  return std::shared_ptr<VerbsPort>(new VerbsPort(executor, std::move(control), std::move(options),
                                                  *device, *pd, std::move(completions).value(),
                                                  std::move(events).value(),
                                                  gid.ok() ? *gid : GidEntry(), *facts));
}

VerbsPort::VerbsPort(Executor& executor, asio::any_io_executor control, VerbsOptions options,
                     std::shared_ptr<const Device> device,
                     std::shared_ptr<const ProtectionDomain> pd,
                     std::unique_ptr<CompletionQueue> completions,
                     std::unique_ptr<const DeviceEvents> device_events, GidEntry gid,
                     const PortFacts& facts)
    : executor_(executor),
      control_(std::move(control)),
      options_(std::move(options)),
      device_(std::move(device)),
      pd_(std::move(pd)),
      completions_(std::move(completions)),
      device_events_(std::move(device_events)),
      gid_(gid),
      id_(++ports_made),
      name_(fmt::format("{}:{}", options_.device, options_.port)),
      address_(gid_text(gid_, facts)),
      sizes_(clamp_queue(device_->limits())),
      max_slice_bytes_(corail::max_slice_bytes(facts)),
      memory_(std::make_shared<VerbsMemory>(pd_, options_.max_region_bytes)),
      random_(options_.seed + id_),
      requests_(completions_->capacity()),
      self_(std::make_shared<VerbsPort*>(this)),
      events_(std::in_place, executor.context(), completions_->descriptor()),
      device_descriptor_(std::in_place, executor.context(), device_events_->descriptor()) {
  health_->event(facts.active);
  executor_.add_poller(*this);
  wait_for_device();
}

VerbsPort::~VerbsPort() {
  CORAIL_CHECK(owners_.empty(), "a port outlives its rails");
  shut();
}

void VerbsPort::shut() {
  if (!events_) return;
  *self_ = nullptr;
  executor_.remove_poller(*this);
  events_->release();
  events_.reset();
  device_descriptor_->release();
  device_descriptor_.reset();
}

Result<LocalEnd> VerbsPort::describe() {
  if (broken_) return *broken_;
  const auto facts = device_->port(options_.port);
  if (!facts.ok()) return facts.error();
  if (!facts->active) {
    return Error(Errc::kConnectFailed, Stage::kConnect,
                 fmt::format("the port {} is down; check its cable and its interface", name_));
  }
  const auto gids = device_->gids(options_.port);
  if (!gids.ok()) return gids.error();
  const auto gid = choose_gid(*gids, facts->link, options_.gid, name_);
  if (!gid.ok()) return gid.error();
  gid_ = *gid;
  address_ = gid_text(gid_, *facts);
  LocalEnd own;
  own.gid_index = gid_.index;
  Greeting& greeting = own.greeting;
  greeting.rail = id_;
  greeting.link = facts->link;
  greeting.mtu_bytes = facts->mtu_bytes;
  greeting.lid = facts->lid;
  greeting.gid = gid_.gid;
  greeting.reads_sent = sizes_.reads_sent;
  greeting.reads_answered = sizes_.reads_answered;
  return own;
}

std::uint64_t VerbsPort::next_generation() noexcept { return ++generations_made; }

Result<std::unique_ptr<QueuePair>> VerbsPort::make_pair(PeerMay peer_may) const {
  return QueuePair::make(pd_, *completions_, options_.tuning, options_.port, sizes_, peer_may);
}

void VerbsPort::add_owner(CompletionOwner& owner) { owners_.push_back(&owner); }

void VerbsPort::remove_owner(CompletionOwner& owner) noexcept {
  std::erase(owners_, &owner);
  std::erase(starved_, &owner);
  std::replace(to_deliver_.begin(), to_deliver_.end(), &owner,
               static_cast<CompletionOwner*>(nullptr));
}

void VerbsPort::release(OpKey key) noexcept {
  requests_.erase(key);
  // The next round finds room, whoever made it.
  if (!starved_.empty() && events_) executor_.wake();
}

void VerbsPort::wait_for_room(CompletionOwner& owner) {
  const bool waits = std::find(starved_.begin(), starved_.end(), &owner) != starved_.end();
  if (!waits) starved_.push_back(&owner);
}

std::size_t VerbsPort::take_batch() noexcept {
  std::array<Completion, CompletionQueue::kBatch> batch;
  const auto count = completions_->poll(batch);
  if (!count.ok()) {
    broken(count.error());
    return 0;
  }
  for (std::size_t i = 0; i < *count; ++i) {
    const OpKey key = OpKey::unpack(batch[i].request);
    const VerbsRequest* const request = requests_.find(key);
    if (request == nullptr) {
      ++stale_;
      continue;
    }
    CompletionOwner* const owner = request->owner;
    owner->on_completion(key, batch[i]);
    const bool known =
        std::find(to_deliver_.begin(), to_deliver_.end(), owner) != to_deliver_.end();
    if (!known) to_deliver_.push_back(owner);
  }
  return *count;
}

std::size_t VerbsPort::poll() {
  if (broken_) return 0;
  const std::size_t taken = take_batch();
  if (requests_.size() < requests_.capacity()) {
    // The first to wait is the first to post.
    to_deliver_.insert(to_deliver_.end(), starved_.begin(), starved_.end());
    starved_.clear();
  }
  // By index: what is called may destroy owners, and take batches of its own.
  for (std::size_t i = 0; i < to_deliver_.size(); ++i) {
    CompletionOwner* const owner = std::exchange(to_deliver_[i], nullptr);
    if (owner != nullptr) owner->deliver();
  }
  to_deliver_.clear();
  return taken;
}

void VerbsPort::drain() noexcept {
  while (!broken_ && take_batch() > 0) continue;
  // What it brought for others is delivered in the next round.
  if (events_) executor_.wake();
}

bool VerbsPort::arm() {
  if (broken_) return true;
  const auto armed = completions_->arm();
  if (!armed.ok()) {
    broken(armed.error());
    return true;
  }
  if (std::exchange(waiting_, true)) return true;
  events_->async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = self_](const std::error_code& error) {
                        if (*self == nullptr || error) return;
                        VerbsPort& port = **self;
                        port.waiting_ = false;
                        port.completions_->take_events();
                        port.executor_.wake();
                      });
  return true;
}

void VerbsPort::wait_for_device() {
  device_descriptor_->async_wait(asio::posix::stream_descriptor::wait_read,
                                 [self = self_](const std::error_code& error) {
                                   if (*self == nullptr || error) return;
                                   (*self)->take_device_events();
                                 });
}

void VerbsPort::take_device_events() {
  for (int taken = 0; taken < kMaxDeviceEvents && !broken_; ++taken) {
    const auto event = device_events_->take();
    if (!event) break;
    const bool active = event->kind == DeviceEventKind::kPortActive;
    switch (event->kind) {
      case DeviceEventKind::kPortActive:
      case DeviceEventKind::kPortDown:
        // A device tells each of its users of all ports.
        if (event->port != options_.port) break;
        if (health_->event(active)) log(LogLevel::kWarning, "{}: {}", name_, event->what);
        break;
      case DeviceEventKind::kGidChange:
        if (event->port == options_.port) gids_changed();
        break;
      case DeviceEventKind::kFatal:
        broken(Error(Errc::kRailFailed, Stage::kWait,
                     fmt::format("{}: {}; check the kernel's log, and restart this process once "
                                 "the device is back",
                                 options_.device, event->what)));
        health_->event(false);
        break;
      case DeviceEventKind::kOther:
        log_limited("device event", LogLevel::kInfo, "{}: {}", options_.device, event->what);
        break;
    }
  }
  // What was called may have shut the port. The descriptor of a device that is gone stays readable.
  if (device_descriptor_ && !broken_) wait_for_device();
}

/// Rails whose packets carry a GID that the port has lost wait for answers that go elsewhere; they
/// are rebuilt with one that it has. Another address beside theirs is no reason to.
void VerbsPort::gids_changed() {
  const auto gids = device_->gids(options_.port);
  if (!gids.ok() || !health_->active()) return;
  const bool has = std::any_of(gids->begin(), gids->end(), [this](const GidEntry& entry) {
    return entry.index == gid_.index && entry.gid == gid_.gid;
  });
  if (has) return;
  log(LogLevel::kWarning, "{} has lost its address {}; its rails are rebuilt", name_, address_);
  health_->event(false);
  health_->event(true);
}

void VerbsPort::broken(const Error& why) noexcept {
  if (broken_) return;
  broken_ = why;
  log(LogLevel::kError, "the port {} is out of use: {}", name_, why.to_string());
  const std::vector<CompletionOwner*> told = owners_;
  for (CompletionOwner* const owner : told) owner->on_broken(why);
}

}  // namespace corail
