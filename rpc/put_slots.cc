#include "rpc/put_slots.h"

#include <asio/post.hpp>
#include <utility>

namespace corail {

class PutSlot::Use {
 public:
  Use(std::shared_ptr<PutSlots> slots, std::uint32_t slot)
      : slots_(std::move(slots)),
        memory_(slots_->memory_),
        slot_(slot),
        offset_(slot * slots_->slot_bytes_),
        length_(slots_->slot_bytes_) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    // The last pin goes wherever a slice was sent; the list of free slots is home's.
    const asio::any_io_executor home = slots_->home_;
    asio::post(home, [slots = std::move(slots_), slot = slot_] { slots->give_back(slot); });
  }

  std::uint64_t offset() const noexcept { return offset_; }
  std::span<std::byte> bytes() const noexcept { return memory_->bytes().subspan(offset_, length_); }
  const std::shared_ptr<PutMemory>& memory() const noexcept { return memory_; }

 private:
  std::shared_ptr<PutSlots> slots_;
  const std::shared_ptr<PutMemory> memory_;
  const std::uint32_t slot_;
  const std::uint64_t offset_;
  const std::uint64_t length_;
};

std::span<std::byte> PutSlot::bytes() const noexcept { return use_->bytes(); }

PutOffer PutSlot::offer(std::uint64_t length) const {
  PutOffer offer;
  offer.memory = use_->memory();
  offer.offset = use_->offset();
  offer.length = length;
  offer.pin = Pin(use_);
  return offer;
}

PutSlots::PutSlots(asio::any_io_executor home, std::shared_ptr<PutMemory> memory,
                   std::uint64_t slot_bytes, std::uint32_t slots, std::function<void()> came_back)
    : home_(std::move(home)),
      memory_(std::move(memory)),
      slot_bytes_(slot_bytes),
      came_back_(std::move(came_back)) {
  for (std::uint32_t slot = slots; slot > 0; --slot) free_.push_back(slot - 1);
}

PutSlot PutSlots::take() {
  if (free_.empty() || !memory_) return PutSlot();
  auto use = std::make_shared<const PutSlot::Use>(shared_from_this(), free_.back());
  free_.pop_back();
  return PutSlot(std::move(use));
}

void PutSlots::close() noexcept {
  came_back_ = nullptr;
  memory_.reset();
}

void PutSlots::give_back(std::uint32_t slot) noexcept {
  free_.push_back(slot);  // within what was reserved by the constructor
  if (came_back_) came_back_();
}

}  // namespace corail
