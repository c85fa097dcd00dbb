#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/rail/push.h"
#include "test/verbs/verbs_rig.h"

namespace corail::test {

/// Keeps orders until the test answers them.
class HandCourier final : public PushCourier {
 public:
  void order(PushOrder order, Answered answered) override {
    orders.push_back(order);
    answers_.push_back(std::move(answered));
  }
  void answer(std::size_t which, Result<PushReceipt> receipt) {
    std::exchange(answers_[which], nullptr)(std::move(receipt));
  }
  /// The owner says that it has written what was ordered.
  void confirm(std::size_t which) {
    PushReceipt receipt;
    receipt.bytes = orders[which].length;
    answer(which, receipt);
  }

  std::vector<PushOrder> orders;

 private:
  std::vector<Answered> answers_;
};

/// A rig whose rails' orders come to the test, which gives them to the door.
struct PushRig {
  explicit PushRig(VerbsOptions options = VerbsOptions()) : PushRig(std::move(options), nullptr) {}
  /// One whose long calls are made on `control`.
  explicit PushRig(const asio::any_io_executor& control) : PushRig(VerbsOptions(), &control) {}

  /// A rail with memory that may be written for `sink`.
  std::unique_ptr<VerbsTransport> granted(SliceSink& sink);
  Result<void> grant(VerbsTransport& rail, SliceSink& sink, TimePoint deadline);
  Result<void> grant(VerbsTransport& rail, SliceSink& sink) { return grant(rail, sink, soon()); }
  TimePoint soon() const { return rig->soon(); }
  void revoke(VerbsTransport& rail, SliceSink& sink);
  Errc fence(VerbsTransport& rail, SliceSink& sink);

  /// Pushed slices of `length` bytes that cover [from, to).
  std::vector<Slice> slices(std::uint64_t from, std::uint64_t to, std::uint64_t length) const;

  /// The door writes what the order says, from `held`. `ended` is what came of it; kUnset until
  /// then, and after a success.
  struct Push {
    bool ended = false;
    Result<void> outcome;
    std::weak_ptr<const void> pinned;
  };
  std::shared_ptr<Push> push(const PushOrder& order, std::function<bool()> cancelled = {},
                             SessionId session = kSession);
  /// Until the push has ended, the device doing what it is told.
  Errc push_now(const PushOrder& order, SessionId session = kSession);
  /// What is ready, and nothing that the device has to do.
  void settle();

  std::unique_ptr<VerbsRig> rig;
  std::shared_ptr<HandCourier> courier = std::make_shared<HandCourier>();

 private:
  PushRig(VerbsOptions options, const asio::any_io_executor* control);
};

}  // namespace corail::test
