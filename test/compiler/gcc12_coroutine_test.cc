// Constructs around co_await that were found to be sound with GCC 12.2 and may be used. One case
// per idiom, so that a change of compiler is noticed here and not in a transfer.
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "test/compiler/trace.h"

namespace corail::compiler {
namespace {

asio::awaitable<int> take(Trace trace) {
  co_await suspend();
  co_return trace.value();
}

asio::awaitable<int> take_two(Trace left, Trace right) {
  co_await suspend();
  co_return left.value() * 10 + right.value();
}

asio::awaitable<int> by_value_parameter() {
  const Trace named(3);
  const int copied = co_await take(named);
  co_return copied + named.value();
}

asio::awaitable<int> constructor_temporary() {
  const int taken = co_await take(Trace(4));
  co_return taken;
}

asio::awaitable<int> temporary_beside_await() {
  const int taken = co_await take_two(Trace(5), co_await make_trace(6));
  co_return taken;
}

asio::awaitable<int> take_tuple(std::pair<Trace, Trace> pair, std::tuple<Trace, int> tuple) {
  co_await suspend();
  co_return pair.first.value() + pair.second.value() + std::get<0>(tuple).value() +
      std::get<1>(tuple);
}

asio::awaitable<int> pair_and_tuple_braces() {
  const int taken = co_await take_tuple({Trace(1), Trace(2)}, {Trace(3), 4});
  co_return taken;
}

asio::awaitable<std::pair<Trace, int>> make_both() {
  Trace trace = co_await make_trace(7);
  co_return std::pair<Trace, int>(std::move(trace), 8);
}

asio::awaitable<int> structured_binding() {
  const auto [trace, number] = co_await make_both();
  co_return trace.value() + number;
}

asio::awaitable<std::vector<Trace>> make_many() {
  std::vector<Trace> many(3, Trace(2));
  co_await suspend();
  co_return many;
}

asio::awaitable<int> range_for() {
  int sum = 0;
  for (const Trace& trace : co_await make_many()) {
    const int more = co_await make_int(1);
    sum += trace.value() + more;
  }
  co_return sum;
}

asio::awaitable<int> fail() {
  const Trace unwound(1);
  co_await suspend();
  throw std::runtime_error("expected");
}

asio::awaitable<int> try_and_catch() {
  bool caught = false;
  try {
    const Trace unwound(2);
    co_await fail();
  } catch (const std::runtime_error&) {
    caught = true;
  }
  // An await is not allowed inside catch; the flag carries the news out of it.
  const int after = co_await make_int(caught ? 1 : 0);
  co_return after;
}

class Counter {
 public:
  explicit Counter(int start) : trace_(start) {}
  asio::awaitable<int> plus(Trace other) const {
    co_await suspend();
    co_return trace_.value() + other.value();
  }

 private:
  Trace trace_;
};

asio::awaitable<int> member_coroutine() {
  const Counter counter(4);
  const int sum = co_await counter.plus(Trace(5));
  co_return sum;
}

template <typename T>
asio::awaitable<T> echo(T value) {
  co_await suspend();
  co_return value;
}

asio::awaitable<int> template_and_generic_lambda() {
  const Trace echoed = co_await echo(Trace(6));
  const auto generic = [](auto state) -> asio::awaitable<int> {
    co_await suspend();
    co_return state.value();
  };
  const int from_lambda = co_await generic(Trace(7));
  co_return echoed.value() * 10 + from_lambda;
}

asio::awaitable<void> wait_for_ever(Trace held) {
  const Trace local(held.value());
  asio::steady_timer timer(co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max());
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> nested_wait(Trace held) {
  const Trace local(1);
  co_await wait_for_ever(std::move(held));
}

BOOST_FIXTURE_TEST_SUITE(allowed, BalancedTraces)

BOOST_AUTO_TEST_CASE(class_parameter_by_value) { BOOST_TEST(run(by_value_parameter()) == 6); }

BOOST_AUTO_TEST_CASE(temporary_with_constructor) { BOOST_TEST(run(constructor_temporary()) == 4); }

BOOST_AUTO_TEST_CASE(temporary_beside_a_nested_await) {
  BOOST_TEST(run(temporary_beside_await()) == 56);
}

BOOST_AUTO_TEST_CASE(braces_of_pair_and_tuple) { BOOST_TEST(run(pair_and_tuple_braces()) == 10); }

BOOST_AUTO_TEST_CASE(structured_binding_of_an_await) {
  BOOST_TEST(run(structured_binding()) == 15);
}

BOOST_AUTO_TEST_CASE(range_for_over_an_await) { BOOST_TEST(run(range_for()) == 9); }

BOOST_AUTO_TEST_CASE(try_and_catch_around_an_await) { BOOST_TEST(run(try_and_catch()) == 1); }

BOOST_AUTO_TEST_CASE(member_function) { BOOST_TEST(run(member_coroutine()) == 9); }

BOOST_AUTO_TEST_CASE(function_template_and_generic_lambda) {
  BOOST_TEST(run(template_and_generic_lambda()) == 67);
}

// Destroying the context destroys the suspended frames, inner ones first, and all they hold.
BOOST_AUTO_TEST_CASE(abandoned_nested_frame) {
  {
    asio::io_context context(1);
    asio::co_spawn(context, nested_wait(Trace(2)), asio::detached);
    context.poll();
    BOOST_TEST(Trace::live_count > 0);
  }
  BOOST_TEST(Trace::live_count == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::compiler
