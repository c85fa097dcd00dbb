#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/dispatch.hpp>
#include <asio/execution_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/task.h"

namespace corail {

/// The place where one coroutine sleeps until somebody wakes it: the primitive under Event, Credits
/// and sleep_until.
///
/// Every member is called on the thread of the executor, whose context must be run by one thread.
/// A suspended coroutine does not react to Asio's cancellation. Destroying the Suspension abandons
/// the coroutine that sleeps in it: its frames are destroyed, from the executor's queue, without
/// being resumed. If the io_context goes first, it does the same: a frame never outlives its
/// context, even when the frame itself owns the Suspension.
class Suspension {
 public:
  explicit Suspension(const asio::any_io_executor& executor);
  ~Suspension() { abandon(); }
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;

  /// Sleeps until resume(). One coroutine at a time.
  Task<void> suspend();

  bool suspended() const noexcept { return act_ != nullptr; }

  /// Wakes the sleeper from the executor's queue, never from within this call. Nobody asleep:
  /// does nothing.
  void resume() { act(Action::kPost); }
  /// Wakes the sleeper from within this call when on its executor. For callers whose stack holds
  /// nothing that the sleeper might destroy.
  void resume_inline() { act(Action::kDispatch); }
  /// What the destructor does.
  void abandon() { act(Action::kDrop); }

 private:
  class Sleepers;
  enum class Action { kPost, kDispatch, kDrop };
  // Three pointers are enough for the handler that Asio makes for use_awaitable.
  static constexpr std::size_t kHandlerBytes = 4 * sizeof(void*);

  template <typename Handler>
  void sleep(Handler handler) {
    static_assert(sizeof(Handler) <= kHandlerBytes);
    static_assert(std::is_nothrow_move_constructible_v<Handler>);
    CORAIL_CHECK(!suspended(), "two coroutines wait in one place");
    ::new (static_cast<void*>(storage_)) Handler(std::move(handler));
    act_ = &act_on<Handler>;
    enlist();
  }

  template <typename Handler>
  static void act_on(void* storage, Action action) {
    auto* stored = static_cast<Handler*>(storage);
    // On the stack: destroying or resuming the frame may destroy this Suspension.
    Handler handler(std::move(*stored));
    stored->~Handler();
    if (action == Action::kPost) asio::post(std::move(handler));
    if (action == Action::kDispatch) asio::dispatch(std::move(handler));
  }

  void act(Action action);
  void enlist();
  void delist();

  Sleepers& sleepers_;
  Suspension* previous_ = nullptr;
  Suspension* next_ = nullptr;
  void (*act_)(void*, Action) = nullptr;
  alignas(std::max_align_t) std::byte storage_[kHandlerBytes];
};

}  // namespace corail
