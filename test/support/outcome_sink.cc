#include "test/support/outcome_sink.h"

#include <algorithm>

namespace corail::test {

void OutcomeSink::on_landed(const Slice&, std::uint64_t, std::uint64_t) noexcept { ++breaches_; }

void OutcomeSink::on_outcome(const Slice& slice, Result<void> outcome) noexcept {
  const Errc code = outcome.ok() ? Errc::kUnset : outcome.error().code();
  if (!codes_.emplace(slice.tag, code).second) ++breaches_;
  if (!outcome.ok() && first_detail_.empty()) first_detail_ = outcome.error().to_string();
  changed_.notify();
}

Task<void> OutcomeSink::outcomes(std::size_t count) {
  while (codes_.size() < count) co_await changed_.wait();
}

std::size_t OutcomeSink::count(Errc code) const {
  return static_cast<std::size_t>(std::count_if(
      codes_.begin(), codes_.end(), [code](const auto& entry) { return entry.second == code; }));
}

}  // namespace corail::test
