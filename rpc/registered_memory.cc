#include "rpc/registered_memory.h"

#include <asio/post.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/event.h"
#include "engine/exec/run_on.h"
#include "engine/exec/shielded.h"

namespace corail {
namespace {

Task<void> forget(std::shared_ptr<CallersMemory> memory) {
  memory->forget();
  co_return;
}

/// On home.
Task<void> forget_once_free(std::shared_ptr<CallersMemory> memory, asio::any_io_executor home,
                            asio::any_io_executor mapping) {
  // The last pin goes on any thread, and does not know whether anybody waits for it any more.
  const auto freed = std::make_shared<Event>(home);
  memory->retire([home, freed] { asio::post(home, [freed] { freed->notify(); }); });
  co_await freed->wait();
  co_await run_on(mapping, forget(memory));
}

}  // namespace

RegisteredMemory::RegisteredMemory(std::shared_ptr<CallersMemory> memory,
                                   asio::any_io_executor home, asio::any_io_executor mapping)
    : memory_(std::move(memory)), home_(std::move(home)), mapping_(std::move(mapping)) {}

RegisteredMemory& RegisteredMemory::operator=(RegisteredMemory&& other) noexcept {
  RegisteredMemory gone(std::move(*this));
  memory_ = std::move(other.memory_);
  home_ = std::move(other.home_);
  mapping_ = std::move(other.mapping_);
  return *this;
}

RegisteredMemory::~RegisteredMemory() {
  if (!memory_) return;
  const bool free = memory_->try_retire();
  CORAIL_CHECK(free, "no read lands in memory that its caller may free (contract 5); close it");
  memory_->forget();
}

std::span<std::byte> RegisteredMemory::bytes() const noexcept {
  return memory_ ? memory_->bytes() : std::span<std::byte>();
}

DestinationPiece RegisteredMemory::piece(std::uint64_t offset, std::uint64_t length) const {
  DestinationPiece piece;
  piece.memory = memory_;
  piece.offset = offset;
  piece.length = length;
  return piece;
}

Task<void> RegisteredMemory::close() {
  auto memory = std::exchange(memory_, nullptr);
  if (!memory) co_return;
  co_await shielded(run_on(home_, forget_once_free(std::move(memory), home_, mapping_)));
}

}  // namespace corail
