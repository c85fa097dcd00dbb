#include "test/rail/recording_sink.h"

namespace corail::test {

void RecordingSink::on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept {
  std::uint64_t& landed = landed_[slice.tag];
  if (from != landed || to <= from || to > slice.length) ++breaches_;
  if (outcomes_.contains(slice.tag)) ++breaches_;
  landed = to;
  landed_bytes_ += to - from;
  changed_.notify();
  if (during_landing) during_landing(slice);
}

void RecordingSink::on_receipt(const Slice& slice, const PushReceipt& receipt) noexcept {
  if (receipt.bytes != slice.length || outcomes_.contains(slice.tag)) ++breaches_;
  ++receipts_;
}

void RecordingSink::on_outcome(const Slice& slice, Result<void> outcome) noexcept {
  const Errc code = outcome.ok() ? Errc::kUnset : outcome.error().code();
  if (outcome.ok() && landed_[slice.tag] != slice.length) ++breaches_;
  if (!outcome.ok() && first_detail_.empty()) first_detail_ = outcome.error().to_string();
  if (!outcomes_.emplace(slice.tag, code).second) ++breaches_;
  changed_.notify();
  if (during_outcome) during_outcome(slice, code);
}

Task<void> RecordingSink::outcomes(std::size_t count) {
  while (outcomes_.size() < count) co_await changed_.wait();
}

Task<void> RecordingSink::landed(std::uint64_t bytes) {
  while (landed_bytes_ < bytes) co_await changed_.wait();
}

std::size_t RecordingSink::count(Errc code) const {
  std::size_t found = 0;
  for (const auto& [tag, outcome] : outcomes_) found += outcome == code ? 1 : 0;
  return found;
}

}  // namespace corail::test
