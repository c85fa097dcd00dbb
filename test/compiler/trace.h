#pragma once

#include <asio.hpp>
#include <boost/test/unit_test.hpp>
#include <exception>
#include <memory>
#include <utility>

namespace corail::compiler {

// A value with an identity on the heap, so that a sanitizer sees a value destroyed twice and a
// plain build at least miscounts. A compiler that mishandles temporaries of a coroutine fails here.
class Trace {
 public:
  Trace() : Trace(0) {}
  explicit Trace(int value) : value_(std::make_unique<int>(value)) { ++live_count; }
  Trace(const Trace& other) : Trace(other.value()) {}
  Trace(Trace&& other) noexcept : value_(std::move(other.value_)) { ++live_count; }
  Trace& operator=(Trace other) noexcept {
    value_.swap(other.value_);
    return *this;
  }
  ~Trace() { --live_count; }

  // The value given at construction; -1 once moved from.
  int value() const { return value_ ? *value_ : -1; }

  static inline int live_count = 0;

 private:
  std::unique_ptr<int> value_;
};

// Every case starts and must end without a live Trace.
struct BalancedTraces {
  BalancedTraces() { Trace::live_count = 0; }
  ~BalancedTraces() { BOOST_TEST(Trace::live_count == 0); }
};

// Runs one coroutine to its end on a context of its own and returns its result. Not use_future: it
// completes on a thread of Asio's own.
template <typename T>
T run(asio::awaitable<T> task) {
  asio::io_context context(1);
  std::exception_ptr failure;
  T result{};
  asio::co_spawn(context, std::move(task), [&](std::exception_ptr error, T value) {
    failure = error;
    result = std::move(value);
  });
  context.run();
  if (failure) {
    std::rethrow_exception(failure);
  }
  return result;
}

// Suspends for real: the caller is resumed from the context's queue.
inline asio::awaitable<void> suspend() { co_await asio::post(asio::use_awaitable); }

inline asio::awaitable<Trace> make_trace(int value) {
  co_await suspend();
  co_return Trace(value);
}

inline asio::awaitable<int> make_int(int value) {
  co_await suspend();
  co_return value;
}

}  // namespace corail::compiler
