#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/plan/layout.h"
#include "engine/read/read_report.h"
#include "engine/store/store_types.h"
#include "rpc/call.h"
#include "rpc/fetch_context.h"
#include "rpc/lease_keeper.h"
#include "rpc/options.h"

namespace corail {

/// A prefix of blocks under a lease, as the requester knows it: query → keep → release.
///
/// Owned by whoever reads under it, on the home executor. Whatever happens after the query was
/// sent, the owner gives the lease back: with a confirmation that releases, or with release(),
/// which may overtake the query. stop_keeping() must have been awaited between keep() and
/// destruction.
class PrefixLease {
 public:
  PrefixLease(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
              std::shared_ptr<const BlockKeys> keys);
  PrefixLease(const PrefixLease&) = delete;
  PrefixLease& operator=(const PrefixLease&) = delete;

  /// Before anything is sent: what was never asked for needs no release either.
  Result<void> check_arguments(const FetchOptions& options) const;

  /// Once only. Takes the encoding and the cancel of the options. Fills the report's query stage
  /// and what the answer cost. Fails with kNotFound where not even the first block is there, else
  /// as SessionClient::query.
  Task<Result<void>> query(const FetchOptions& options, TimePoint deadline, ReadReport& report);

  /// From here on the lease is renewed; after a query that succeeded.
  void keep();
  /// Ends a renewal that is under way. Idempotent.
  Task<void> stop_keeping();

  /// Gives the lease back. Best effort: a holder that does not hear it frees the lease when it
  /// expires.
  Task<void> release();

  /// Told of each extension, on home, for as long as this lives. The lease outlives it.
  class Listener {
   public:
    Listener(PrefixLease& lease, std::function<void(TimePoint usable_until)> extended);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    PrefixLease& lease_;
    const std::list<std::function<void(TimePoint)>>::iterator entry_;
  };

  ReadId read() const noexcept { return read_; }
  const std::shared_ptr<const Layout>& layout() const noexcept { return layout_; }
  const BlockKeys& keys() const noexcept { return *keys_; }
  // Once the query has succeeded.
  const QueryAnswer& answer() const noexcept { return answer_; }
  /// In which the answer's addresses lie.
  const RegionTable& regions() const noexcept { return *regions_; }
  /// The lease's end less the margin.
  TimePoint usable_until() const noexcept { return usable_until_; }

 private:
  const FetchContext context_;
  const ReadId read_;
  const std::shared_ptr<const Layout> layout_;
  const std::shared_ptr<const BlockKeys> keys_;
  CallCancel cancel_query_;
  QueryAnswer answer_;
  std::shared_ptr<const RegionTable> regions_;
  TimePoint usable_until_{};
  std::list<std::function<void(TimePoint)>> listeners_;
  std::optional<LeaseKeeper> keeper_;
};

}  // namespace corail
