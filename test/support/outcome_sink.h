#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "engine/base/error.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/rail/slice.h"

namespace corail::test {

/// Writes down the outcomes of slices of a transport that tells of nothing else. One thread.
class OutcomeSink final : public SliceSink {
 public:
  explicit OutcomeSink(const asio::any_io_executor& executor) : changed_(executor) {}

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override;
  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override;

  /// Returns once so many outcomes have come.
  Task<void> outcomes(std::size_t count);
  std::size_t count(Errc code) const;  // kUnset: successes
  std::size_t total() const noexcept { return codes_.size(); }
  /// The first failure.
  const std::string& first_detail() const noexcept { return first_detail_; }
  /// Slices with more than one outcome, and landings.
  std::size_t breaches() const noexcept { return breaches_; }

 private:
  Event changed_;
  std::map<std::uint64_t, Errc> codes_;  // by tag
  std::string first_detail_;
  std::size_t breaches_ = 0;
};

}  // namespace corail::test
