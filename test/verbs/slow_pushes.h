#pragma once

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "test/verbs/push_rig.h"

namespace corail::test {

/// Writes outcomes down beside what the device does.
class TracingSink final : public SliceSink {
 public:
  explicit TracingSink(ScriptedVerbs& machine) : machine_(machine) {}
  void on_landed(const Slice&, std::uint64_t, std::uint64_t) noexcept override {}
  void on_outcome(const Slice&, Result<void> outcome) noexcept override {
    machine_.trace.push_back("outcome");
    ++total;
    code = outcome.ok() ? Errc::kUnset : outcome.error().code();
  }
  std::size_t total = 0;
  Errc code = Errc::kUnset;

 private:
  ScriptedVerbs& machine_;
};

inline Task<void> connect_slowly(VerbsTransport* rail, RailEndpoint endpoint, TimePoint deadline) {
  const auto connected = co_await rail->connect(std::move(endpoint), deadline);
  BOOST_TEST_REQUIRE(connected.ok());
}
inline Task<void> close_slowly(VerbsTransport* rail) { co_await rail->close(); }
inline Task<void> drop_slowly(VerbsRailDoor* door) { co_await door->drop_session(kSession); }
inline Task<void> grant_slowly(VerbsTransport* rail, SliceSink* sink,
                               std::vector<std::span<std::byte>> memory, TimePoint deadline,
                               Errc* code) {
  const auto granted = co_await rail->grant(*sink, std::move(memory), deadline);
  *code = granted.ok() ? Errc::kUnset : granted.error().code();
}
inline Task<void> revoke_slowly(VerbsTransport* rail, SliceSink* sink) {
  co_await rail->revoke(*sink);
}
inline Task<void> fence_slowly(VerbsTransport* rail, SliceSink* sink, TimePoint deadline,
                               Errc* code) {
  const auto fenced = co_await rail->fence(*sink, deadline);
  *code = fenced.ok() ? Errc::kUnset : fenced.error().code();
}

/// A rig whose control thread does nothing unless it is let to.
struct SlowPushes {
  /// Of a task that was started.
  using Ended = std::shared_ptr<bool>;

  ~SlowPushes() { finish(start(drop_slowly(rig.door.get()))); }

  Ended start(Task<void> task) {
    auto ended = std::make_shared<bool>(false);
    asio::co_spawn(rig.context, std::move(task), [ended](const std::exception_ptr& thrown) {
      *ended = true;
      if (thrown) std::rethrow_exception(thrown);
    });
    return ended;
  }
  /// What the port's own thread does.
  void run_ready() {
    for (int i = 0; i < 50; ++i) {
      rig.context.restart();
      rig.context.poll();
    }
  }
  /// One call of the control thread.
  void run_call() {
    control.restart();
    control.poll_one();
  }
  template <typename Condition>
  void run_until(Condition condition) {
    while (!condition()) {
      run_ready();
      run_call();
    }
  }
  void finish(const Ended& ended) {
    run_until([&ended] { return *ended; });
  }
  Errc grant(VerbsTransport& rail, SliceSink& sink, TimePoint deadline) {
    std::vector<std::span<std::byte>> memory;
    memory.emplace_back(rig.memory);
    Errc code = Errc::kBusy;
    finish(start(grant_slowly(&rail, &sink, std::move(memory), deadline, &code)));
    return code;
  }
  std::unique_ptr<VerbsTransport> granted(SliceSink& sink) {
    auto rail = rig.make_rail();
    finish(start(connect_slowly(rail.get(), rig.endpoint, rig.soon())));
    BOOST_TEST_REQUIRE((grant(*rail, sink, rig.soon()) == Errc::kUnset));
    return rail;
  }
  /// The queue pair here that an order of ours is for.
  ScriptedVerbs::FakePair* target(const PushOrder& order) {
    for (auto* const pair : rig.asking()) {
      if (pair->attributes.dest_qp_num == order.channel) return pair;
    }
    return nullptr;
  }

  asio::io_context control;
  PushRig pushes{control.get_executor()};
  VerbsRig& rig = *pushes.rig;
};

}  // namespace corail::test
