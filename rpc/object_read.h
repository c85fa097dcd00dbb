#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/slab_pool.h"
#include "engine/object/object_descriptor.h"
#include "engine/plan/object_plan.h"
#include "engine/plan/schedule.h"
#include "engine/read/read_report.h"
#include "rpc/call.h"
#include "rpc/fetch_admission.h"
#include "rpc/fetch_context.h"
#include "rpc/lease_keeper.h"
#include "rpc/object_client.h"
#include "rpc/object_options.h"
#include "rpc/object_view.h"
#include "rpc/object_want.h"

namespace corail {

/// One read of an object of one owner: admit → open → plan → allocate → read → hand over. Whatever
/// happens after the open was sent, the lease is given back, by the confirmation or by a release.
///
/// Lives in the frame that awaits run(), on the home executor.
class ObjectRead {
 public:
  ObjectRead(FetchContext context, ReadId read, std::shared_ptr<const ObjectDescriptor> object,
             ReadObjectOptions options);
  ObjectRead(const ObjectRead&) = delete;
  ObjectRead& operator=(const ObjectRead&) = delete;

  /// Once only. The outcomes are those of Peer::read_by_descriptor.
  Task<Result<ObjectView>> run();

 private:
  Result<void> choose_destination();
  Task<Result<void>> enter();
  Task<Result<ObjectView>> open_and_read();
  Task<Result<void>> open();
  Result<void> choose_mode();
  void keep();
  Task<Result<void>> read_leased();
  Result<void> plan();
  std::uint64_t max_slice_bytes() const noexcept;
  Task<Result<void>> allocate();
  Task<Result<void>> read();
  Task<Result<void>> confirm_nothing();
  Task<void> copy(ObjectView& view);
  Task<void> release();

  const FetchContext context_;
  const ReadId read_;
  const std::shared_ptr<const ObjectDescriptor> object_;
  const ReadObjectOptions options_;
  const TimePoint callers_deadline_;
  FetchAdmission admission_;
  CallCancel cancel_open_;
  ObjectWant want_;  // once run() has checked
  OpenObject open_;
  bool pushed_ = false;
  TimePoint usable_until_{};  // the lease's end less the margin
  std::function<void(TimePoint)> extended_;
  std::shared_ptr<const SchedulePolicy> scheduler_;  // null: least_loaded
  std::optional<LeaseKeeper> keeper_;
  std::shared_ptr<const ObjectPlan> plan_;
  std::vector<SlabChunk> chunks_;
  bool given_back_ = false;
  ReadReport report_;
};

}  // namespace corail
