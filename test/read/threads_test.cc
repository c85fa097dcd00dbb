#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <future>
#include <thread>

#include "engine/exec/run_on.h"
#include "engine/rail/retire.h"
#include "test/read/repetitions.h"
#include "test/support/read_rig.h"

// Reads in real time on real threads: one per rail, and one home. What the virtual tests cannot see
// are races; ThreadSanitizer looks for them here. Nothing is asserted about time.

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t kRails = 3;

/// A thread that runs an io_context as long as it lives.
class Worker {
 public:
  Worker() : work_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  ~Worker() {
    work_.reset();
    thread_.join();
  }
  asio::any_io_executor executor() { return context_.get_executor(); }

  /// Runs the task there and returns its result here.
  template <typename T>
  T run(Task<T> task) {
    // Shared: the waiting thread may go on before the other has left set_value().
    const auto promise = std::make_shared<std::promise<T>>();
    asio::co_spawn(context_, std::move(task), [promise](std::exception_ptr failed, T value) {
      if (failed) {
        promise->set_exception(failed);
      } else {
        promise->set_value(std::move(value));
      }
    });
    return promise->get_future().get();
  }

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

Task<Result<void>> run_read(RigRead* read) {
  auto result = co_await read->run();
  co_return result;
}

/// As ReadRig, in real time.
class ThreadedRig {
 public:
  /// `bad` is what the second rail does wrong.
  explicit ThreadedRig(FaultScript bad)
      : holder_(net_, "holder"), owner_(home.executor(), clock), pool_(SlabPoolOptions{}) {
    BOOST_TEST_REQUIRE(holder_.open().ok());
    const RailEndpoint endpoint = holder_.admit_session(SessionId(1), ChannelToken{}, held);
    for (std::size_t i = 0; i < kRails; ++i) {
      MockOptions options;
      options.link.bytes_per_second = 400'000'000;
      options.link.packet_bytes = 16 * kKiB;
      options.link.jitter = microseconds(20);
      options.shared_fence = i != 0;
      const asio::any_io_executor executor = ports_[i].executor();
      auto transport = std::make_unique<MockTransport>(executor, clock, randoms_[i], net_, options,
                                                       i == 1 ? bad : FaultScript());
      RailWindow window;
      window.bytes = kMiB;
      window.max_slice_bytes = 256 * kKiB;
      rails_.push_back(
          std::make_unique<Rail>("mock", executor, clock, std::move(transport), window));
      const TimePoint deadline = clock.now() + std::chrono::seconds(30);
      BOOST_TEST_REQUIRE(ports_[i].run(rails_.back()->connect(endpoint, deadline)).ok());
    }
  }
  ~ThreadedRig() {
    for (std::size_t i = 0; i < kRails; ++i) {
      BOOST_TEST(ports_[i].run(retire(std::move(rails_[i]))).ok());
    }
  }

  std::unique_ptr<RigRead> make(CancelToken token, bool retry) {
    PlanLimits limits;
    limits.max_read_bytes = 256 * kKiB;
    ReadRequest request;
    request.read = ReadId(1);
    request.plan = held.plan(held.all(), limits);
    for (const ChunkSpec& spec : request.plan->chunks()) {
      request.chunks.push_back(*pool_.allocate(spec.bytes, 0));
    }
    for (const auto& rail : rails_) request.rails.push_back(rail.get());
    request.max_slice_bytes = limits.max_read_bytes;
    request.expectation = held.expectation(held.all());
    request.deadline = clock.now() + std::chrono::seconds(60);
    request.fence_deadline = std::chrono::seconds(20);
    request.cancel = std::move(token);
    request.retry_on_survivors = retry;
    return std::make_unique<RigRead>(home.executor(), clock, owner_, held.all(),
                                     std::move(request));
  }

  SteadyClock clock;
  HeldBlocks held{shape(), 12};
  Worker home;

 private:
  static HeldShape shape() {
    HeldShape shape;
    shape.blocks = 32;
    return shape;
  }

  MockNet net_;
  MockHolder holder_;
  ScriptedOwner owner_;
  SlabPool pool_;
  SeededRandom randoms_[kRails] = {SeededRandom(1), SeededRandom(2), SeededRandom(3)};
  Worker ports_[kRails];
  std::vector<std::unique_ptr<Rail>> rails_;
};

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(a_read_over_threads_is_byte_exact) {
  ThreadedRig rig{FaultScript()};
  const auto read = rig.make(CancelToken(), false);
  const auto result = rig.home.run(run_read(read.get()));
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(read->difference_to(rig.held).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(cancels_from_another_thread_at_any_time) {
  ThreadedRig rig{FaultScript()};
  SeededRandom random(3);
  for (int round = 0; round < repetitions(30); ++round) {
    CancelToken victims_token;
    const auto victim = rig.make(victims_token, round % 2 == 0);
    const auto bystander = rig.make(CancelToken(), round % 3 == 0);
    std::promise<Result<void>> promise;
    std::thread other([&] { promise.set_value(rig.home.run(run_read(bystander.get()))); });
    const std::uint64_t wait = random.below(6000);
    std::thread canceller([&] {
      std::this_thread::sleep_for(microseconds(wait));
      victims_token.cancel();
    });
    const auto result = rig.home.run(run_read(victim.get()));
    canceller.join();
    other.join();
    const auto others = promise.get_future().get();
    BOOST_TEST(others.ok(), text_of(others));
    BOOST_TEST(bystander->difference_to(rig.held).value_or("") == "");
    if (result.ok()) {
      BOOST_TEST(victim->difference_to(rig.held).value_or("") == "");
    } else {
      BOOST_TEST((result.error().code() == Errc::kCancelled), text_of(result));
    }
    BOOST_TEST(victim->late_bytes() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(what_a_rail_gives_back_is_read_on_other_threads) {
  for (int round = 0; round < repetitions(20); ++round) {
    const auto slice = static_cast<std::uint64_t>(round % 4);
    ThreadedRig rig(FaultScript().add(Fault(FaultKind::kCut, slice).at_packet(slice)));
    const auto read = rig.make(CancelToken(), true);
    const auto result = rig.home.run(run_read(read.get()));
    BOOST_TEST_REQUIRE(result.ok(), text_of(result));
    BOOST_TEST(read->difference_to(rig.held).value_or("") == "");
    BOOST_TEST(read->report().read_bytes == rig.held.total_bytes());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
