// What to write instead of each construct that GCC 12.2 mistranslates: one case per known bug. The
// numbers are those of GCC's bug database.
#include <optional>
#include <string>
#include <vector>

#include "test/compiler/trace.h"

namespace corail::compiler {
namespace {

struct Pair {
  Trace first;
  Trace second;
};

Pair make_pair_of(int first, int second) { return Pair{Trace(first), Trace(second)}; }

asio::awaitable<int> sum(Pair pair) {
  co_await suspend();
  co_return pair.first.value() + pair.second.value();
}

asio::awaitable<int> sum_by_reference(const Pair& pair) {
  co_await suspend();
  co_return pair.first.value() + pair.second.value();
}

// 106188: an await inside the condition of a body without a local variable.
asio::awaitable<int> conditions() {
  int taken = 0;
  const int one = co_await make_int(1);
  if (one == 1) {
    ++taken;
  }
  bool more = true;
  while (more) {
    const int next = co_await make_int(taken);
    more = next < 3;
    ++taken;
  }
  const int choice = co_await make_int(2);
  switch (choice) {
    case 2:
      co_return taken;
    default:
      co_return -1;
  }
}

// 98401, 99576, 107288, 101367: a braced temporary of an aggregate beside an await.
asio::awaitable<int> aggregates() {
  Pair named{Trace(1), Trace(2)};
  const int by_reference = co_await sum_by_reference(named);
  const int by_move = co_await sum(std::move(named));
  const int from_function = co_await sum(make_pair_of(3, 4));
  co_return by_reference + by_move + from_function;
}

struct AddTo {
  Trace left;
  asio::awaitable<int> operator()(Trace right) const {
    co_await suspend();
    co_return left.value() + right.value();
  }
};

template <typename Function>
asio::awaitable<int> call(const Function& function, int value) {
  co_await suspend();
  co_return function(value);
}

// 99576, 100611: a temporary lambda that captures by value.
asio::awaitable<int> lambdas() {
  const Trace left(5);
  const auto by_value = [left](int right) { return left.value() + right; };
  const int named = co_await call(by_value, 1);
  const int by_reference = co_await call([&left](int right) { return left.value() + right; }, 2);
  const AddTo add_to{Trace(5)};
  const int object = co_await add_to(Trace(3));
  const auto stateless = [](Trace state) -> asio::awaitable<int> {
    co_await suspend();
    co_return state.value();
  };
  const int parameter = co_await stateless(left);
  co_return named + by_reference + object + parameter;
}

// The same family: an aggregate initialised with an await among the braces.
asio::awaitable<Pair> constructed() {
  Trace first = co_await make_trace(1);
  Trace second = co_await make_trace(2);
  co_return Pair(std::move(first), std::move(second));
}

// The same family: an await in one arm of a conditional expression.
asio::awaitable<Trace> branches(bool wait) {
  if (wait) {
    Trace made = co_await make_trace(7);
    co_return made;
  }
  co_return Trace(8);
}

asio::awaitable<int> count(std::vector<Trace> traces) {
  co_await suspend();
  co_return static_cast<int>(traces.size());
}

// An initializer list inside an await does not compile.
asio::awaitable<int> lists() {
  std::vector<Trace> named{Trace(1), Trace(2), Trace(3)};
  co_return co_await count(std::move(named));
}

asio::awaitable<int> at_once(int value) { co_return value; }

// 100897: symmetric transfer that grows the stack. Asio's awaitable does not use it.
asio::awaitable<int> long_loop() {
  int sum_of_ones = 0;
  for (int i = 0; i < 200'000; ++i) {
    const int one = co_await at_once(1);
    sum_of_ones += one;
  }
  co_return sum_of_ones;
}

// 102051: default arguments on coroutines. An overload does the same.
asio::awaitable<int> scaled(int value, int factor) {
  co_await suspend();
  co_return value* factor;
}
asio::awaitable<int> scaled(int value) { return scaled(value, 10); }

// 115851, 112341: statement expressions around an await. The check is written out.
asio::awaitable<std::optional<Trace>> checked(bool good) {
  co_await suspend();
  if (!good) {
    co_return std::nullopt;
  }
  co_return Trace(9);
}
asio::awaitable<int> propagated(bool good) {
  const auto found = co_await checked(good);
  if (!found) {
    co_return -1;
  }
  co_return found->value();
}

BOOST_FIXTURE_TEST_SUITE(replacement, BalancedTraces)

BOOST_AUTO_TEST_CASE(g1_await_before_the_condition) { BOOST_TEST(run(conditions()) == 4); }

BOOST_AUTO_TEST_CASE(g2_named_aggregate_or_function) { BOOST_TEST(run(aggregates()) == 13); }

BOOST_AUTO_TEST_CASE(g3_named_lambda_or_function_object) { BOOST_TEST(run(lambdas()) == 26); }

BOOST_AUTO_TEST_CASE(g4_await_then_construct) {
  const Pair pair = run(constructed());
  BOOST_TEST(pair.first.value() == 1);
  BOOST_TEST(pair.second.value() == 2);
}

BOOST_AUTO_TEST_CASE(g5_branch_instead_of_conditional) {
  BOOST_TEST(run(branches(true)).value() == 7);
  BOOST_TEST(run(branches(false)).value() == 8);
}

BOOST_AUTO_TEST_CASE(g6_named_list) { BOOST_TEST(run(lists()) == 3); }

BOOST_AUTO_TEST_CASE(g7_many_awaits_that_complete_at_once) {
  BOOST_TEST(run(long_loop()) == 200'000);
}

BOOST_AUTO_TEST_CASE(g8_overload_instead_of_default_argument) { BOOST_TEST(run(scaled(4)) == 40); }

BOOST_AUTO_TEST_CASE(g9_check_written_out) {
  BOOST_TEST(run(propagated(true)) == 9);
  BOOST_TEST(run(propagated(false)) == -1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::compiler
