#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/exec/credits.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/object/object_descriptor.h"
#include "engine/read/cancel_token.h"
#include "engine/read/read_budget.h"
#include "rpc/put_context.h"
#include "rpc/put_slots.h"
#include "rpc/put_stream.h"

namespace corail {

/// Stripes of one put that are filled, or on their way, at a time (I8).
inline constexpr std::uint32_t kMaxStripesOfAPut = 4;

/// What a PutStream stands for: copies what is written into stripes in memory that the home may
/// read, and asks it to pull each that is full.
///
/// Shared by the peer, until it is ended, and the user's PutStream. Home executor only; once ended,
/// it may be let go of on any thread. What the context names outlives its end.
class PutWriter {
 public:
  PutWriter(PutContext context, std::string key, PutOptions options);
  PutWriter(const PutWriter&) = delete;
  PutWriter& operator=(const PutWriter&) = delete;
  ~PutWriter();

  /// Room in the budget, memory, and the home's word that the put has begun. Once only, and first.
  /// After a failure it is ended. `cancel` is for this call only, and ends the put.
  Task<Result<void>> begin(CancelToken cancel);
  // As PutStream.
  Task<Result<void>> write(std::span<const std::byte> bytes);
  Task<Result<ObjectDescriptor>> commit();
  Task<void> abort();

  /// For the peer, which goes: fails what is under way, waits for it, and ends the put.
  Task<void> close(Error why);

  ObjectGeneration generation() const noexcept { return put_; }
  bool ended() const noexcept { return ended_; }

  /// Makes every call under way, and every later one, fail soon. The first reason counts.
  void fail(Error why);

 private:
  class Working;

  Result<void> may_work() const;
  Result<void> check_arguments() const;
  Task<Result<void>> ask_to_begin();
  Task<Result<void>> prepare();
  void watch();
  CancelToken::Subscription fail_on(const CancelToken& cancel) const;
  std::uint64_t memory_bytes() const noexcept;
  std::uint64_t stripe_bytes() const noexcept;
  Task<Result<void>> fill(std::span<const std::byte> bytes);
  Task<void> send(PutSlot slot, std::uint32_t stripe, std::uint64_t length);
  Task<Result<void>> offer_and_call(const PutSlot& slot, std::uint32_t stripe,
                                    std::uint64_t length);
  Task<Result<ObjectDescriptor>> ask_to_commit();
  Task<void> tell_home();
  Task<void> settle();
  Task<void> end(bool tell);

  const PutContext context_;
  const std::string key_;
  const PutOptions options_;
  const TimePoint deadline_;
  ReadBudget::Share share_;
  std::shared_ptr<PutSlots> slots_;  // null: an empty object
  PutSlot slot_;                     // the stripe that is being filled
  ObjectGeneration put_;             // 0: not begun
  std::uint64_t written_ = 0;        // bytes
  std::uint32_t sent_ = 0;           // stripes that the home was asked to pull
  std::optional<Error> failed_;
  CancelToken stop_;  // pulled by fail(): ends the calls under way
  std::optional<CancelToken::Subscription> callers_cancel_;
  std::unique_ptr<Timer> timer_;
  const std::shared_ptr<PutWriter*>
      self_;                     // null once ended, for a cancel that is on its way to home
  std::uint32_t under_way_ = 0;  // stripes that the home has not answered
  Event moved_;                  // a slot came back, a stripe arrived, or all has failed
  bool working_ = false;         // one of the user's calls runs
  Event idle_;                   // none does
  Credits settling_turn_;        // one waits for that, others for their turn
  Credits ending_turn_;          // one ends it, others wait for that
  bool ended_ = false;
  TaskScope scope_;  // stripes on their way
};

}  // namespace corail
