#include "test/hazard/hasty_transport.h"

#include <cstdint>

namespace corail::test {

/// Between the transport below and one sink, until that is fenced.
class HastyTransport::Ear final : public SliceSink {
 public:
  explicit Ear(SliceSink& sink) : sink_(&sink) {}

  void posted(const Slice& slice) { in_flight_[slice.tag] = slice; }

  void end_all() {
    SliceSink& sink = *std::exchange(sink_, nullptr);
    for (const auto& [tag, slice] : std::exchange(in_flight_, {})) {
      sink.on_outcome(slice, Error(Errc::kFlushed, Stage::kWait, "said to have ended"));
    }
  }

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override {
    if (sink_ != nullptr) sink_->on_landed(slice, from, to);
  }
  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override {
    in_flight_.erase(slice.tag);
    if (sink_ != nullptr) sink_->on_outcome(slice, std::move(outcome));
  }

 private:
  SliceSink* sink_;                           // null once fenced
  std::map<std::uint64_t, Slice> in_flight_;  // by tag
};

HastyTransport::HastyTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

HastyTransport::~HastyTransport() = default;

void HastyTransport::post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) {
  auto& ear = ears_[&sink];
  if (!ear) ear = std::make_unique<Ear>(sink);
  for (const Slice& slice : slices) ear->posted(slice);
  inner_->post(context, slices, *ear);
}

Task<Result<void>> HastyTransport::fence(SliceSink& sink, TimePoint /*deadline*/) {
  const auto found = ears_.find(&sink);
  if (found == ears_.end()) co_return ok_result();
  deaf_.push_back(std::move(found->second));
  ears_.erase(found);
  deaf_.back()->end_all();
  co_return ok_result();
}

}  // namespace corail::test
