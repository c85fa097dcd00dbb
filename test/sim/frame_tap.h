#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "rpc/frame.h"

namespace corail::sim {

/// Cuts one direction of a control connection into frames, beside the product's own reader: the
/// preface is skipped, and from the first frame that makes no sense on it hears nothing more.
class FrameTap {
 public:
  using OnFrame = std::function<void(const FrameHeader&, std::span<const std::byte>)>;
  explicit FrameTap(OnFrame on_frame) : on_frame_(std::move(on_frame)) {}

  void feed(std::span<const std::byte> bytes);
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  const OnFrame on_frame_;
  std::vector<std::byte> pending_;
  std::uint64_t bytes_ = 0;
  bool greeted_ = false;
  bool lost_ = false;
};

}  // namespace corail::sim
