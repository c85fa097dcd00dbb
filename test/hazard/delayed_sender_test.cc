#include <fmt/core.h>

#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/exec/event.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/tcp/tcp_transport.h"
#include "test/hazard/hasty_transport.h"
#include "test/hazard/next_owner.h"
#include "test/rail/run_task.h"
#include "test/support/fake_holder.h"
#include "test/support/read_rig.h"
#include "test/support/repetitions.h"

// A peer that sends what was asked of it late: when the read has been given up, has returned, and
// its memory has another owner. Over sockets of this machine, in real time.

namespace corail::test {
namespace {

/// A holder of one channel that knows no haste: told to hold, it stops in the middle of a frame
/// until it is told to go, and it sends everything that was ever asked for, whatever was cancelled.
class DelayedSender {
 public:
  DelayedSender(asio::io_context& context, HeldBlocks& held)
      : held_(held),
        door_(context),
        holding_(context.get_executor()),
        go_(context.get_executor()) {}

  RailEndpoint endpoint() const { return door_.endpoint(); }

  /// The next frame stops in its middle.
  void hold() { hold_ = true; }
  /// Returns when it has.
  Task<void> held_up() { co_await holding_.wait(); }
  void go() { go_.notify(); }

  /// Until the requester hangs up.
  Task<void> run() {
    co_await door_.accept();
    while (true) {
      const auto request = co_await door_.next_request_if_any();
      if (!request) break;
      if (request->kind == RequestKind::kRead) co_await serve(*request);
    }
  }

 private:
  Task<void> serve(Request request) {
    const ReadContext context{request.read, request.epoch};
    const auto admitted =
        held_.admit(SessionId(1), context, request.region, request.offset, request.length);
    BOOST_TEST_REQUIRE(admitted.ok());
    const std::span<const std::byte> bytes = admitted->bytes;
    const std::size_t half = bytes.size() / 2;
    co_await door_.send_header(request.op, 0, bytes.size());
    co_await door_.send(bytes.first(half));
    if (std::exchange(hold_, false)) {
      holding_.notify();
      co_await go_.wait();
    }
    co_await door_.send(bytes.subspan(half));
  }

  HeldBlocks& held_;
  FakeHolder door_;
  Event holding_;
  Event go_;
  bool hold_ = false;
};

/// How a read is given up.
enum class GivenUp { kByCancel, kByDeadline };

/// One tcp rail to a delayed sender. With the guard off a fence does not swap the landing target
/// for discard: the read is told that its slices have ended, and the bytes land where they were to.
class DelayedRig {
 public:
  explicit DelayedRig(bool guarded)
      : held_(HeldShape(), 7),
        sender_(context_, held_),
        owner_(context_.get_executor(), time_),
        pool_(pool_options()),
        scope_(context_.get_executor()) {
    TcpOptions options;
    options.local_address = "127.0.0.1";
    options.channels = 1;
    std::unique_ptr<Transport> transport =
        std::make_unique<TcpTransport>(context_.get_executor(), clock_, options);
    if (!guarded) transport = std::make_unique<HastyTransport>(std::move(transport));
    RailWindow window;
    window.bytes = kMiB;
    window.max_slice_bytes = kMaxSlice;
    rail_ = std::make_unique<Rail>("tcp", context_.get_executor(), clock_, std::move(transport),
                                   window);
  }

  /// Bytes that arrived in the memory's next owner's data, over all rounds.
  std::uint64_t run(int rounds, GivenUp how) {
    std::uint64_t late = 0;
    run_task(context_, all_rounds(rounds, how, late));
    BOOST_TEST(owner_.leases() == 0U);
    BOOST_TEST(held_.pins() == 0U);
    BOOST_TEST(pool_.outstanding_bytes() == 0U);
    return late;
  }

 private:
  static constexpr std::uint64_t kMaxSlice = 64 * kKiB;

  static SlabPoolOptions pool_options() {
    SlabPoolOptions options;
    options.slab_bytes = 4 * kMiB;
    return options;
  }

  ReadRequest make_request(const CancelToken& token) {
    PlanLimits limits;
    limits.max_read_bytes = kMaxSlice;
    ReadRequest request;
    request.read = ReadId(next_read_++);
    request.plan = held_.plan(held_.all(), limits);
    for (const ChunkSpec& spec : request.plan->chunks()) {
      request.chunks.push_back(*pool_.allocate(spec.bytes, spec.numa_node));
    }
    request.rails = {rail_.get()};
    request.max_slice_bytes = kMaxSlice;
    request.expectation = held_.expectation(held_.all());
    request.deadline = time_.now() + kReadTime;
    request.fence_deadline = std::chrono::seconds(20);
    request.cancel = token;
    return request;
  }

  std::unique_ptr<RigRead> make_read(ReadRequest request) {
    return std::make_unique<RigRead>(context_.get_executor(), time_, owner_, held_.all(),
                                     std::move(request));
  }

  Task<void> give_up_when_held_up(GivenUp how, CancelToken token) {
    co_await sender_.held_up();
    if (how == GivenUp::kByCancel) {
      token.cancel();
    } else {
      time_.advance(kReadTime);
    }
  }

  Task<void> round(GivenUp how, std::uint64_t& late) {
    sender_.hold();
    CancelToken token;
    ReadRequest request = make_request(token);
    const ChunkPlaces places(request.chunks);
    auto doomed = make_read(std::move(request));
    scope_.spawn(give_up_when_held_up(how, token));
    const auto given_up = co_await doomed->run();
    const Errc expected = how == GivenUp::kByCancel ? Errc::kCancelled : Errc::kDeadline;
    BOOST_TEST((!given_up.ok() && given_up.error().code() == expected), text_of(given_up));
    co_await scope_.join();
    doomed.reset();
    const NextOwner next_owner(pool_, places);
    sender_.go();
    // What is read next comes over the same socket, behind everything that is late.
    const auto next = make_read(make_request(CancelToken()));
    const auto committed = co_await next->run();
    BOOST_TEST(committed.ok(), text_of(committed));
    BOOST_TEST(next->difference_to(held_).value_or("") == "");
    late += next_owner.changed_bytes();
  }

  Task<void> all_rounds(int rounds, GivenUp how, std::uint64_t& late) {
    TaskScope serving(context_.get_executor());
    serving.spawn(sender_.run());
    const auto connected = co_await rail_->connect(sender_.endpoint(), clock_.now() + kConnectTime);
    BOOST_TEST_REQUIRE(connected.ok());
    for (int i = 0; i < rounds; ++i) co_await round(how, late);
    const auto closed = co_await rail_->close();
    BOOST_TEST(closed.ok());
    co_await serving.join();
  }

  static constexpr Duration kConnectTime = std::chrono::seconds(30);
  static constexpr Duration kReadTime = std::chrono::minutes(1);

  asio::io_context context_{1};
  SteadyClock clock_;
  ManualClock time_;  // of the reads
  HeldBlocks held_;
  DelayedSender sender_;
  ScriptedOwner owner_;
  SlabPool pool_;
  TaskScope scope_;
  std::unique_ptr<Rail> rail_;
  std::uint64_t next_read_ = 1;
};

void compare(std::string_view what, GivenUp how) {
  const int rounds = repetitions(20);
  const ResourceCensus before;
  const std::uint64_t off = DelayedRig(false).run(rounds, how);
  const std::uint64_t on = DelayedRig(true).run(rounds, how);
  fmt::print(
      "tcp, {}, a fence swaps the landing target: off: {} rounds, {} late bytes; on: {} "
      "rounds, {} late bytes\n",
      what, rounds, off, rounds, on);
  BOOST_TEST(off > 0U);
  BOOST_TEST(on == 0U);
  BOOST_TEST(before.difference() == "");
}

BOOST_AUTO_TEST_SUITE(delayed_sender)

BOOST_AUTO_TEST_CASE(after_a_cancel) { compare("after a cancel", GivenUp::kByCancel); }

BOOST_AUTO_TEST_CASE(after_the_deadline) { compare("after the deadline", GivenUp::kByDeadline); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
