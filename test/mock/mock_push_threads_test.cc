#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/executor.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/mock/mock_transport.h"
#include "test/support/canary.h"
#include "test/support/held_blocks.h"
#include "test/support/outcome_sink.h"
#include "test/support/scripted_courier.h"

// A mock rail whose two ends have threads of their own, as in a process with several nodes.

namespace corail::test {
namespace {

/// Carries orders to the owner's thread, and its answers back to the rail's.
class ThreadCourier final : public PushCourier {
 public:
  ThreadCourier(asio::any_io_executor rail, asio::any_io_executor owners_thread, PushOwner owner)
      : rail_(std::move(rail)), thread_(std::move(owners_thread)), owner_(owner), scope_(thread_) {}

  void order(PushOrder order, Answered answered) override {
    CarriedOrder carried;
    carried.order = order;
    carried.answered = [rail = rail_, answered](Result<PushReceipt> receipt) {
      asio::post(rail, [answered, receipt] { answered(receipt); });
    };
    asio::post(thread_, [this, carried] {
      scope_.spawn(serve_order(owner_, carried, [] { return false; }));
    });
  }

  /// On the owner's thread, once no more is ordered.
  Task<void> join() { co_await scope_.join(); }

 private:
  const asio::any_io_executor rail_;
  const asio::any_io_executor thread_;
  const PushOwner owner_;
  TaskScope scope_;
};

struct ThreadRig {
  ThreadRig()
      : held(shape(), 1),
        door(net, "owner"),
        transport(requesting.asio_executor(), clock, random, net, options(), FaultScript()),
        sink(requesting.asio_executor()),
        memory(held.total_bytes()) {
    BOOST_TEST_REQUIRE(door.open().ok());
    endpoint = door.admit_session(SessionId(1), ChannelToken{}, held);
    PushOwner owner;
    owner.door = &door;
    owner.session = SessionId(1);
    owner.gate = &held;
    owner.region = RegionId(100);
    courier =
        std::make_shared<ThreadCourier>(requesting.asio_executor(), holding.asio_executor(), owner);
    endpoint.courier = courier;
    requesting.start();
    holding.start();
  }
  ~ThreadRig() {
    requesting.stop();
    holding.stop();
  }

  static HeldShape shape() {
    HeldShape shape;
    shape.blocks = 64;
    shape.regions = 1;
    return shape;
  }
  static MockOptions options() {
    MockOptions options;
    options.link.bytes_per_second = 2'000'000'000;
    options.link.packet_bytes = 16 * kKiB;
    options.reports_landing = false;
    return options;
  }

  std::vector<Slice> slices() {
    std::vector<Slice> slices;
    constexpr std::uint64_t kLength = 40'000;
    for (std::uint64_t at = 0; at < memory.size(); at += kLength) {
      Slice slice;
      slice.remote_offset = at;
      slice.length = std::min<std::uint64_t>(kLength, memory.size() - at);
      slice.destination = memory.data() + at;
      slice.tag = slices.size();
      slice.pushed = true;
      slices.push_back(slice);
    }
    return slices;
  }

  void on_rails_thread(Task<void> task) {
    asio::co_spawn(requesting.asio_executor(), std::move(task), asio::use_future).get();
  }
  void on_owners_thread(Task<void> task) {
    asio::co_spawn(holding.asio_executor(), std::move(task), asio::use_future).get();
  }
  TimePoint soon() { return clock.now() + std::chrono::seconds(60); }

  SteadyClock clock;
  SeededRandom random{1};
  HeldBlocks held;
  MockNet net;
  MockHolder door;
  Executor requesting{"requester"};
  Executor holding{"holder"};
  MockTransport transport;
  std::shared_ptr<ThreadCourier> courier;
  RailEndpoint endpoint;
  OutcomeSink sink;
  std::vector<std::byte> memory;
};

/// How the pushes end.
enum class End { kWhole, kFence, kDrop };

Task<void> drop_session_of(ThreadRig& rig) { co_await rig.door.drop_session(SessionId(1)); }

/// On the rail's thread.
Task<void> push_all(ThreadRig& rig, std::vector<Slice> slices, End how) {
  const auto connected = co_await rig.transport.connect(rig.endpoint, rig.soon());
  BOOST_TEST_REQUIRE(connected.ok());
  rig.transport.post(ReadContext{}, slices, rig.sink);
  if (how != End::kWhole) {
    co_await rig.sink.outcomes(slices.size() / 3);
  }
  if (how == End::kFence) {
    const auto fenced = co_await rig.transport.fence(rig.sink, rig.soon());
    BOOST_TEST(fenced.ok());
  } else if (how == End::kDrop) {
    asio::co_spawn(rig.holding.asio_executor(), drop_session_of(rig), asio::detached);
  }
  co_await rig.sink.outcomes(slices.size());
  BOOST_TEST(rig.sink.breaches() == 0U);
}

Task<void> close_rail(ThreadRig& rig) { co_await rig.transport.close(); }

Task<void> close_owner(ThreadRig& rig) {
  co_await rig.courier->join();
  co_await rig.door.close();
}

BOOST_AUTO_TEST_SUITE(mock_push_threads)

BOOST_AUTO_TEST_CASE(pushes_end_on_both_threads) {
  for (const End how : {End::kWhole, End::kFence, End::kDrop}) {
    ThreadRig rig;
    const std::vector<Slice> slices = rig.slices();
    rig.on_rails_thread(push_all(rig, slices, how));
    const std::span<const std::byte> sent = rig.held.segment(0, 0);
    if (how == End::kWhole) {
      BOOST_TEST(rig.sink.count(Errc::kUnset) == slices.size());
      BOOST_TEST(std::equal(rig.memory.begin(), rig.memory.end(), sent.data()));
    }
    const Canary next_owner(rig.memory, 2);
    rig.on_rails_thread(close_rail(rig));
    rig.on_owners_thread(close_owner(rig));
    BOOST_TEST(next_owner.changed_bytes() == 0U);
    BOOST_TEST(rig.held.pins() == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
