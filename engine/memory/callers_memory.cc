#include "engine/memory/callers_memory.h"

#include <fmt/core.h>

#include <atomic>
#include <utility>

#include "engine/base/check.h"
#include "engine/memory/landing_registry.h"
#include "engine/memory/slab.h"

namespace corail {

/// One pinned part; destroyed with the last copy of its chunk.
class CallersMemory::Part final : public ChunkMemory {
 public:
  Part(std::shared_ptr<CallersMemory> memory, std::span<std::byte> bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() override {
    if (!quarantined_.load(std::memory_order_acquire)) memory_->unpin();
  }

  std::span<std::byte> bytes() const noexcept override { return bytes_; }
  // Nobody has said where the pages are.
  std::int32_t numa_node() const noexcept override { return kAnyNumaNode; }
  bool engine_owned() const noexcept override { return false; }
  /// The pin stays for ever, and with it the registration.
  void quarantine() const noexcept override { quarantined_.store(true, std::memory_order_release); }

 private:
  const std::shared_ptr<CallersMemory> memory_;
  const std::span<std::byte> bytes_;
  mutable std::atomic<bool> quarantined_{false};
};

CallersMemory::CallersMemory(std::shared_ptr<LandingRegistry> registry, std::span<std::byte> bytes,
                             MemoryRegistrations registrations)
    : registry_(std::move(registry)), bytes_(bytes), registrations_(std::move(registrations)) {}

CallersMemory::~CallersMemory() {
  CORAIL_CHECK(forgotten_, "devices forget memory before its caller has it back (contract 5)");
}

Result<SlabChunk> CallersMemory::pin(std::uint64_t offset, std::uint64_t length) {
  if (length == 0 || offset > bytes_.size() || length > bytes_.size() - offset) {
    return Error(Errc::kInvalidArgument, Stage::kSubmit,
                 fmt::format("{} bytes at {} are not a part of the registered memory, which has {}",
                             length, offset, bytes_.size()));
  }
  const std::lock_guard lock(mutex_);
  if (retired_) {
    return Error(Errc::kClosed, Stage::kSubmit,
                 "the registered memory is being closed, or was; register it again");
  }
  SlabChunk part(std::make_shared<const Part>(shared_from_this(), bytes_.subspan(offset, length)));
  ++pins_;
  return part;
}

void CallersMemory::unpin() noexcept {
  std::function<void()> when_free;
  {
    const std::lock_guard lock(mutex_);
    CORAIL_CHECK(pins_ > 0, "a pin goes once");
    if (--pins_ == 0) when_free = std::exchange(when_free_, nullptr);
  }
  if (when_free) when_free();
}

void CallersMemory::retire(std::function<void()> when_free) {
  {
    const std::lock_guard lock(mutex_);
    CORAIL_CHECK(!retired_, "memory retires once");
    retired_ = true;
    if (pins_ > 0) {
      when_free_ = std::move(when_free);
      return;
    }
  }
  when_free();
}

bool CallersMemory::try_retire() noexcept {
  const std::lock_guard lock(mutex_);
  if (pins_ > 0) return false;
  CORAIL_CHECK(!retired_, "memory retires once");
  retired_ = true;
  return true;
}

void CallersMemory::forget() {
  {
    const std::lock_guard lock(mutex_);
    CORAIL_CHECK(retired_ && pins_ == 0 && !forgotten_, "pins outlive no registration (I6)");
    forgotten_ = true;
  }
  registrations_.clear();
  registry_->remove(bytes_);
}

}  // namespace corail
