#include "engine/exec/suspension.h"

#include <asio/execution/context.hpp>
#include <asio/query.hpp>
#include <asio/use_awaitable.hpp>

namespace corail {

/// The suspensions of one io_context that somebody sleeps in. A frame that owns the very Suspension
/// it sleeps in is a cycle that nobody else would ever break; when the context shuts down, this
/// does. No lock: one thread runs the context, and it is destroyed after that thread.
class Suspension::Sleepers : public asio::execution_context::service {
 public:
  using key_type = Sleepers;
  inline static asio::execution_context::id id;

  explicit Sleepers(asio::execution_context& context) : service(context) {}

  Suspension* first = nullptr;

 private:
  void shutdown() override {
    while (first != nullptr) first->abandon();
  }
};

Suspension::Suspension(const asio::any_io_executor& executor)
    : sleepers_(asio::use_service<Sleepers>(asio::query(executor, asio::execution::context))) {}

Task<void> Suspension::suspend() {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
      [this](auto handler) { sleep(std::move(handler)); }, asio::use_awaitable);
}

void Suspension::act(Action action) {
  if (!suspended()) return;
  delist();
  std::exchange(act_, nullptr)(storage_, action);
}

void Suspension::enlist() {
  previous_ = nullptr;
  next_ = sleepers_.first;
  if (next_ != nullptr) next_->previous_ = this;
  sleepers_.first = this;
}

void Suspension::delist() {
  (previous_ == nullptr ? sleepers_.first : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

}  // namespace corail
