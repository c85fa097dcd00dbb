#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/rail/push.h"
#include "engine/rail/slice.h"

namespace corail::test {

/// Writes down what a transport says about slices, and what it must not have said. One thread.
class RecordingSink final : public SliceSink {
 public:
  explicit RecordingSink(const asio::any_io_executor& executor) : changed_(executor) {}

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override;
  void on_receipt(const Slice& slice, const PushReceipt& receipt) noexcept override;
  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override;

  /// Returns once so many outcomes have come.
  Task<void> outcomes(std::size_t count);
  /// Returns once so many bytes have landed, over all slices.
  Task<void> landed(std::uint64_t bytes);

  std::size_t outcome_count() const noexcept { return outcomes_.size(); }
  std::size_t receipts() const noexcept { return receipts_; }
  std::size_t count(Errc code) const;  // kUnset: successes
  std::uint64_t landed_bytes() const noexcept { return landed_bytes_; }
  /// The detail of the first failure.
  const std::string& first_detail() const noexcept { return first_detail_; }
  /// Slices with more than one outcome, landings with gaps or after the outcome, successes of
  /// slices that have not landed whole, receipts of other lengths or after the outcome.
  std::size_t breaches() const noexcept { return breaches_; }

  /// Called in the middle of each landing and each outcome, when set.
  std::function<void(const Slice&)> during_landing;
  std::function<void(const Slice&, Errc)> during_outcome;

 private:
  Event changed_;
  std::map<std::uint64_t, std::uint64_t> landed_;  // by tag
  std::map<std::uint64_t, Errc> outcomes_;         // by tag
  std::uint64_t landed_bytes_ = 0;
  std::size_t receipts_ = 0;
  std::size_t breaches_ = 0;
  std::string first_detail_;
};

}  // namespace corail::test
