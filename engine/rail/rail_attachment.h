#pragma once

#include <cstdint>
#include <utility>

#include "engine/base/clock.h"
#include "engine/rail/rail.h"

namespace corail {

/// Stands between the transport and a share: frees the rail's window before the share learns of an
/// outcome. A part of the rail.
class Rail::Attachment final : public SliceSink {
 public:
  Attachment(Rail& rail, SliceSource& source) : rail_(rail), source_(&source) {}

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override {
    const TimePoint now = rail_.clock_.now();
    rail_.posted_.landed(*this, slice.tag, now);
    rail_.window_.landed(to - from, now);
    if (source_ != nullptr) source_->on_landed(slice, from, to);
  }
  void on_receipt(const Slice& slice, const PushReceipt& receipt) noexcept override {
    if (source_ != nullptr) source_->on_receipt(slice, receipt);
  }
  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override;

  Rail& rail_;
  SliceSource* source_;  // null once abandoned
  std::uint64_t bytes_in_flight_ = 0;
  std::uint64_t turn_bytes_ = 0;  // posted; equal for shares that have had equal turns
  std::uint32_t slices_in_flight_ = 0;
  Duration submit_time_{};
  bool dry_ = false;  // had nothing when it was asked last
};

}  // namespace corail
