#include "test/softroce/device_rig.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <utility>

#include "engine/exec/sleep.h"
#include "engine/rail/rail_greeter.h"
#include "engine/verbs/verbs_api.h"

namespace corail::test {
namespace {

class DoorGreeter final : public RailGreeter {
 public:
  explicit DoorGreeter(VerbsRailDoor& door) : door_(door) {}
  Task<Result<std::string>> greet(std::string words, TimePoint) override {
    auto answer = co_await door_.greet(kSession, std::move(words));
    co_return answer;
  }

 private:
  VerbsRailDoor& door_;
};

class UnaskedGate final : public LeaseGate {
 public:
  Result<PinnedBytes> admit(SessionId, ReadContext, RegionId, std::uint64_t,
                            std::uint64_t) override {
    return Error(Errc::kRefused, "a device asks nobody");
  }
};
UnaskedGate unasked_gate;

Task<void> connect(VerbsTransport* rail, RailEndpoint endpoint, TimePoint deadline,
                   Result<void>* connected) {
  *connected = co_await rail->connect(std::move(endpoint), deadline);
}

Task<void> fence_rail(VerbsTransport* rail, SliceSink* sink, TimePoint deadline,
                      Result<void>* fenced) {
  *fenced = co_await rail->fence(*sink, deadline);
}

Task<void> sleep(Clock* clock, asio::any_io_executor executor, Duration time) {
  const auto timer = clock->make_timer(executor);
  co_await sleep_until(*timer, clock->now() + time);
}

}  // namespace

std::unique_ptr<Slab> registered_slab(const VerbsPort& port, MemoryUse use) {
  SlabOptions options;
  options.bytes = kHeldBytes;
  auto slab = Slab::create(options);
  BOOST_TEST_REQUIRE(slab.ok());
  const auto registered = (*slab)->register_with({port.memory()}, use);
  BOOST_TEST_REQUIRE(registered.ok(), (registered.ok() ? "" : registered.error().to_string()));
  return std::move(*slab);
}

DeviceRig::DeviceRig(std::string device, std::uint64_t max_region_bytes) {
  VerbsOptions options;
  options.device = std::move(device);
  options.max_region_bytes = max_region_bytes;
  auto opened = VerbsPort::open(system_verbs(), executor, executor.asio_executor(), options);
  BOOST_TEST_REQUIRE(opened.ok(), (opened.ok() ? "" : opened.error().to_string()));
  port = std::move(*opened);
  held = registered_slab(*port, MemoryUse::kServed);
  memory = registered_slab(*port, MemoryUse::kLanding);
  for (std::uint64_t i = 0; i < kHeldBytes; ++i) {
    held->data()[i] = static_cast<std::byte>(i * 31 + i / 4096 * 7);
  }
  door = std::make_unique<VerbsRailDoor>(port, clock);
  BOOST_TEST_REQUIRE(door->open().ok());
  endpoint = door->admit_session(kSession, {}, unasked_gate);
  endpoint.greeter = std::make_shared<DoorGreeter>(*door);
}

DeviceRig::~DeviceRig() {
  run(door->close());
  door.reset();
  memory.reset();
  held.reset();
}

Result<void> DeviceRig::try_connect(VerbsTransport& rail) {
  Result<void> connected;
  run(connect(&rail, endpoint, clock.now() + std::chrono::seconds(30), &connected));
  return connected;
}

std::unique_ptr<VerbsTransport> DeviceRig::connected() {
  auto rail = std::make_unique<VerbsTransport>(port, clock);
  const auto result = try_connect(*rail);
  BOOST_TEST_REQUIRE(result.ok(), (result.ok() ? "" : result.error().to_string()));
  return rail;
}

void DeviceRig::close(std::unique_ptr<VerbsTransport> rail) {
  run(rail->close());
  rail.reset();
  BOOST_TEST(port->requests().size() == 0);
}

Result<void> DeviceRig::fence(VerbsTransport& rail, SliceSink& sink, Duration time) {
  Result<void> fenced;
  run(fence_rail(&rail, &sink, clock.now() + time, &fenced));
  return fenced;
}

void DeviceRig::run_for(Duration time) { run(sleep(&clock, context.get_executor(), time)); }

std::vector<Slice> DeviceRig::slices(std::uint64_t bytes, std::uint64_t length) const {
  std::vector<Slice> all;
  for (std::uint64_t at = 0; at < bytes; at += length) {
    Slice slice;
    slice.remote_offset = at;
    slice.remote_key = held->keys().front();
    slice.destination = memory->data() + at;
    slice.length = std::min(length, bytes - at);
    slice.tag = at;
    all.push_back(slice);
  }
  return all;
}

bool DeviceRig::landed(std::uint64_t bytes) const {
  return std::memcmp(memory->data(), held->data(), bytes) == 0;
}

void DeviceRig::fill(std::byte with) {
  std::memset(memory->data(), std::to_integer<int>(with), memory->bytes());
}

std::uint64_t DeviceRig::changed(std::byte with) const {
  const auto* begin = memory->data();
  const auto* end = begin + memory->bytes();
  return memory->bytes() - static_cast<std::uint64_t>(std::count(begin, end, with));
}

}  // namespace corail::test
