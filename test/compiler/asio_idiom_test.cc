// How Asio 1.22.1 is used from coroutines here: operations of our own, errors as values, spawning
// on another executor, and running on after a cancel.
#include <asio/experimental/as_tuple.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "test/compiler/trace.h"

namespace corail::compiler {
namespace {

using CompletionSignature = void(std::error_code, int);

// An operation of our own completes through async_initiate; 1.22.1 cannot await anything else.
template <typename Token>
auto async_answer(int answer, Token&& token) {
  return asio::async_initiate<Token, CompletionSignature>(
      [answer](auto handler) {
        const auto executor = asio::get_associated_executor(handler);
        asio::post(executor, [answer, handler = std::move(handler)]() mutable {
          std::move(handler)(std::error_code(), answer);
        });
      },
      token);
}

asio::awaitable<int> own_operation() {
  const int answer = co_await async_answer(42, asio::use_awaitable);
  co_return answer;
}

asio::awaitable<bool> error_as_value() {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
  asio::post(timer.get_executor(), [&timer] { timer.cancel(); });
  std::error_code error;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
  co_return error == asio::error::operation_aborted;
}

asio::awaitable<int> error_and_value_as_tuple() {
  const auto [error, answer] =
      co_await async_answer(7, asio::experimental::as_tuple(asio::use_awaitable));
  co_return error ? -1 : answer;
}

asio::awaitable<std::size_t> child_context(Trace held) {
  const auto executor = co_await asio::this_coro::executor;
  auto& context = asio::query(executor, asio::execution::context);
  co_return reinterpret_cast<std::size_t>(&context) * (held.value() == 1 ? 1 : 0);
}

// A hop is a spawn on the other executor that is awaited.
asio::awaitable<bool> hop(asio::io_context& other) {
  const std::size_t there =
      co_await asio::co_spawn(other, child_context(Trace(1)), asio::use_awaitable);
  co_return there == reinterpret_cast<std::size_t>(static_cast<asio::execution_context*>(&other));
}

// A frame that must run to its end switches cancellation off first. Without the two lines the
// second await would throw.
asio::awaitable<int> run_on_after_cancel(asio::cancellation_signal& signal) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await asio::this_coro::throw_if_cancelled(false);
  signal.emit(asio::cancellation_type::terminal);
  const int first = co_await make_int(1);
  const int second = co_await make_int(2);
  co_return first + second;
}

// Children are emplaced, never assigned over: assigning to a live awaitable leaks its frame.
asio::awaitable<int> emplaced_children() {
  std::vector<asio::awaitable<int>> children;
  children.reserve(3);
  for (int i = 0; i < 3; ++i) {
    children.emplace_back(make_int(i));
  }
  int sum = 0;
  for (auto& child : children) {
    const int value = co_await std::move(child);
    sum += value;
  }
  co_return sum;
}

BOOST_FIXTURE_TEST_SUITE(asio_idiom, BalancedTraces)

BOOST_AUTO_TEST_CASE(operation_of_our_own) { BOOST_TEST(run(own_operation()) == 42); }

BOOST_AUTO_TEST_CASE(redirected_error) { BOOST_TEST(run(error_as_value())); }

BOOST_AUTO_TEST_CASE(error_in_a_tuple) { BOOST_TEST(run(error_and_value_as_tuple()) == 7); }

BOOST_AUTO_TEST_CASE(awaited_hop_to_another_executor) {
  asio::io_context home(1);
  asio::io_context other(1);
  std::optional<bool> ran_there;
  asio::co_spawn(home, hop(other), [&](std::exception_ptr, bool result) { ran_there = result; });
  // Both contexts are driven by this thread, so the order of their steps is fixed.
  for (int round = 0; round < 10 && !ran_there; ++round) {
    home.poll();
    other.poll();
    home.restart();
    other.restart();
  }
  BOOST_TEST(ran_there.value_or(false));
}

BOOST_AUTO_TEST_CASE(running_on_after_a_cancel) {
  asio::io_context context(1);
  asio::cancellation_signal signal;
  std::optional<int> result;
  asio::co_spawn(
      context, run_on_after_cancel(signal),
      asio::bind_cancellation_slot(
          signal.slot(), [&](std::exception_ptr error, int sum) { result = error ? -1 : sum; }));
  context.run();
  BOOST_TEST(result.value_or(0) == 3);
}

BOOST_AUTO_TEST_CASE(children_emplaced_and_awaited) { BOOST_TEST(run(emplaced_children()) == 3); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::compiler
