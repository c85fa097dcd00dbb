#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/check.h"
#include "engine/memory/landing_registry.h"
#include "engine/read/read_session.h"
#include "test/read/object_rig.h"

namespace corail::test {

/// Memory of a caller's own in place of the chunks that a request has: one after the other, with
/// gaps that belong to somebody else.
class CallersDestination {
 public:
  static constexpr std::uint64_t kGap = 777;

  /// `chunks` are those of the request, of the rig that looks at them, which outlives this.
  CallersDestination(ReadRequest& request, std::vector<SlabChunk>& chunks) : chunks_(chunks) {
    std::uint64_t size = kGap;
    for (const SlabChunk& chunk : chunks) size += chunk.bytes().size() + kGap;
    bytes_.assign(size, kUntouched);
    memory_ = registry_->add(bytes_).value();
    std::uint64_t at = kGap;
    for (SlabChunk& chunk : chunks) {
      const std::uint64_t length = chunk.bytes().size();
      parts_.push_back(std::span(bytes_).subspan(at, length));
      chunk = memory_->pin(at, length).value();
      at += length + kGap;
    }
    request.chunks = chunks;
  }
  ~CallersDestination() { CORAIL_CHECK(!memory_ || give_back(), "reads are over"); }
  CallersDestination(const CallersDestination&) = delete;
  CallersDestination& operator=(const CallersDestination&) = delete;

  /// Ends the registration, unless a read has a pin: then false, and it stays.
  bool give_back() {
    chunks_.clear();
    if (!memory_->try_retire()) return false;
    memory_->forget();
    memory_.reset();
    return true;
  }
  std::span<std::byte> bytes() noexcept { return bytes_; }
  const std::vector<std::span<std::byte>>& parts() const noexcept { return parts_; }

  bool holds(std::span<std::byte> range) const {
    return std::ranges::any_of(parts_, [range](std::span<std::byte> part) {
      return range.data() >= part.data() &&
             range.data() + range.size() <= part.data() + part.size();
    });
  }
  /// Whether every byte between the parts is as it was.
  bool gaps_untouched() const {
    std::vector<std::byte> copy = bytes_;
    for (const std::span<std::byte> part : parts_) {
      std::fill_n(copy.begin() + (part.data() - bytes_.data()), part.size(), kUntouched);
    }
    return std::ranges::count(copy, kUntouched) == static_cast<std::ptrdiff_t>(copy.size());
  }

 private:
  std::vector<SlabChunk>& chunks_;
  const std::shared_ptr<LandingRegistry> registry_ =
      std::make_shared<LandingRegistry>(MemoryRegistrars());
  std::vector<std::byte> bytes_;
  std::shared_ptr<CallersMemory> memory_;
  std::vector<std::span<std::byte>> parts_;
};

}  // namespace corail::test
