#include "test/verbs/verbs_rig.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <utility>

#include "engine/rail/rail_greeter.h"

namespace corail::test {
namespace {

/// Carries greetings straight to a door.
class StraightGreeter final : public RailGreeter {
 public:
  StraightGreeter(VerbsRailDoor& door, SessionId session) : door_(door), session_(session) {}
  Task<Result<std::string>> greet(std::string words, TimePoint) override {
    auto answer = co_await door_.greet(session_, std::move(words));
    co_return answer;
  }

 private:
  VerbsRailDoor& door_;
  const SessionId session_;
};

class NoGate final : public LeaseGate {
 public:
  Result<PinnedBytes> admit(SessionId, ReadContext, RegionId, std::uint64_t,
                            std::uint64_t) override {
    return Error(Errc::kRefused, "a device asks nobody");
  }
};
NoGate no_gate;

Task<void> connect(VerbsTransport* rail, RailEndpoint endpoint, TimePoint deadline) {
  const auto connected = co_await rail->connect(std::move(endpoint), deadline);
  BOOST_TEST_REQUIRE(connected.ok(), (connected.ok() ? "" : connected.error().to_string()));
}

VerbsOptions in_pieces_of(std::uint64_t max_region_bytes) {
  VerbsOptions options;
  options.max_region_bytes = max_region_bytes;
  return options;
}

bool serves(const ScriptedVerbs::FakePair& pair) {
  return (pair.attributes.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0;
}

Task<void> close(VerbsTransport* rail) { co_await rail->close(); }
Task<void> close(VerbsRailDoor* door) { co_await door->close(); }

}  // namespace

VerbsRig::VerbsRig(std::uint64_t max_region_bytes) : VerbsRig(in_pieces_of(max_region_bytes)) {}

VerbsRig::VerbsRig(VerbsOptions options, const Shape& shape)
    : VerbsRig(std::move(options), shape, nullptr) {}

VerbsRig::VerbsRig(const asio::any_io_executor& control)
    : VerbsRig(VerbsOptions(), Shape(), &control) {}

VerbsRig::VerbsRig(VerbsOptions options, const Shape& shape, const asio::any_io_executor* control)
    : held(kBytes), memory(kBytes) {
  ScriptedVerbs::FakeDevice& device = machine.add_device("a", 1);
  if (shape) shape(device);
  options.device = "a";
  port = *VerbsPort::open(machine.api(), executor,
                          control != nullptr ? *control : executor.asio_executor(), options);
  for (std::size_t i = 0; i < kBytes; ++i) held[i] = static_cast<std::byte>(i * 31 + i / 256);
  served = *port->memory()->add(held, MemoryUse::kServed);
  landing = *port->memory()->add(memory, MemoryUse::kLanding);
  door = std::make_unique<VerbsRailDoor>(port, clock);
  BOOST_TEST_REQUIRE(door->open().ok());
  endpoint = admit(kSession);
}

VerbsRig::~VerbsRig() {
  run(close(door.get()));
  BOOST_TEST(door->pairs() == 0);
  door.reset();
  landing.reset();
  served.reset();
  port->shut();
  port.reset();
  BOOST_TEST((keeps_for_ever || machine.alive() == 0));
  for (const std::string& breach : machine.breaches()) BOOST_ERROR(breach);
}

std::unique_ptr<VerbsTransport> VerbsRig::make_rail() {
  return std::make_unique<VerbsTransport>(port, clock);
}

std::unique_ptr<VerbsTransport> VerbsRig::connected() {
  auto rail = make_rail();
  run(connect(rail.get(), endpoint, soon()));
  return rail;
}

std::unique_ptr<VerbsTransport> VerbsRig::connected(SessionId session) {
  auto rail = make_rail();
  run(connect(rail.get(), admit(session), soon()));
  return rail;
}

RailEndpoint VerbsRig::admit(SessionId session) {
  RailEndpoint admitted = door->admit_session(session, {}, no_gate);
  admitted.greeter = std::make_shared<StraightGreeter>(*door, session);
  return admitted;
}

std::vector<Slice> VerbsRig::slices(std::uint64_t from, std::uint64_t to,
                                    std::uint64_t length) const {
  std::vector<Slice> all;
  for (std::uint64_t at = from; at < to; at += length) {
    Slice slice;
    slice.remote_offset = at;
    slice.remote_key = served != nullptr ? served->key() : 0;
    slice.destination = const_cast<std::byte*>(memory.data()) + at;
    slice.length = std::min(length, to - at);
    slice.tag = at;
    all.push_back(slice);
  }
  return all;
}

bool VerbsRig::landed(std::size_t from, std::size_t to) const {
  return std::equal(held.begin() + static_cast<std::ptrdiff_t>(from),
                    held.begin() + static_cast<std::ptrdiff_t>(to),
                    memory.begin() + static_cast<std::ptrdiff_t>(from));
}

std::vector<ScriptedVerbs::FakePair*> VerbsRig::asking() {
  auto pairs = machine.pairs();
  std::erase_if(pairs, [](const auto* pair) { return serves(*pair); });
  return pairs;
}

std::vector<ScriptedVerbs::FakePair*> VerbsRig::serving() {
  auto pairs = machine.pairs();
  std::erase_if(pairs, [](const auto* pair) { return !serves(*pair); });
  return pairs;
}

std::size_t VerbsRig::posted() {
  std::size_t count = 0;
  for (const auto* pair : machine.pairs()) count += pair->posted.size();
  return count;
}

void close_rail(VerbsRig& rig, std::unique_ptr<VerbsTransport> rail) {
  rig.run(close(rail.get()));
  rail.reset();
  BOOST_TEST(rig.asking().size() == 0);
  BOOST_TEST(rig.port->requests().size() == 0);
}

void run_device_until(VerbsRig& rig, const OutcomeSink& sink, std::size_t count) {
  rig.run_until([&] {
    rig.machine.run_all();
    return sink.total() >= count;
  });
}

}  // namespace corail::test
