#include "test/sim/observed_transport.h"

#include <utility>

namespace corail::sim {

class ObservedTransport::ObservedSink final : public SliceSink {
 public:
  ObservedSink(ObservedTransport& owner, SliceSink& sink) : owner_(owner), sink_(sink) {}

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override {
    owner_.check_executor("on_landed");
    owner_.observer_.on_landed(owner_.rail_, context, slice, from, to);
    sink_.on_landed(slice, from, to);
  }

  void on_receipt(const Slice& slice, const PushReceipt& receipt) noexcept override {
    owner_.check_executor("on_receipt");
    sink_.on_receipt(slice, receipt);
  }

  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override {
    owner_.check_executor("on_outcome");
    owner_.observer_.on_outcome(owner_.rail_, context, slice, outcome);
    sink_.on_outcome(slice, std::move(outcome));
  }

  ReadContext context;

 private:
  ObservedTransport& owner_;
  SliceSink& sink_;
};

ObservedTransport::ObservedTransport(asio::io_context& context, RailObserver& observer,
                                     RailRecord& rail, std::unique_ptr<Transport> inner)
    : context_(context), observer_(observer), rail_(rail), inner_(std::move(inner)) {}

ObservedTransport::~ObservedTransport() = default;

void ObservedTransport::check_executor(const char* what) const {
  if (context_.get_executor().running_in_this_thread()) return;
  observer_.journal().violate(
      7, fmt::format("{} of a rail of link {} was called on another executor", what, rail_.link));
}

ObservedTransport::ObservedSink& ObservedTransport::observed(SliceSink& sink) {
  auto& entry = sinks_[&sink];
  if (!entry) entry = std::make_unique<ObservedSink>(*this, sink);
  return *entry;
}

Task<Result<void>> ObservedTransport::connect(RailEndpoint remote, TimePoint deadline) {
  check_executor("connect");
  auto connected = co_await inner_->connect(std::move(remote), deadline);
  co_return connected;
}

void ObservedTransport::post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) {
  check_executor("post");
  // An address that is used again is another sink's: whatever the first one had posted has ended.
  ObservedSink& through = observed(sink);
  through.context = context;
  for (const Slice& slice : slices) observer_.on_post(rail_, context, slice);
  inner_->post(context, slices, through);
}

Task<Result<void>> ObservedTransport::fence(SliceSink& sink, TimePoint deadline) {
  check_executor("fence");
  observer_.journal().event("fence link {}", rail_.link);
  ObservedSink& through = observed(sink);
  auto fenced = co_await inner_->fence(through, deadline);
  co_return fenced;
}

Task<void> ObservedTransport::close() {
  check_executor("close");
  observer_.journal().event("close a rail of link {}", rail_.link);
  co_await inner_->close();
}

void ObservedTransport::when_lost(Lost lost) {
  inner_->when_lost([this, lost = std::move(lost)](const Error& why) {
    check_executor("when_lost");
    observer_.journal().event("lost a rail of link {}: {}", rail_.link, why.to_string());
    lost(why);
  });
}

bool ObservedTransport::usable() const noexcept {
  check_executor("usable");
  return inner_->usable();
}

}  // namespace corail::sim
