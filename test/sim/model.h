#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/region_table.h"
#include "engine/plan/layout.h"
#include "engine/rail/slice.h"
#include "engine/read/block_view.h"
#include "test/sim/destination_map.h"
#include "test/sim/fetch_record.h"
#include "test/sim/held_content.h"
#include "test/sim/journal.h"
#include "test/sim/rail_observer.h"

namespace corail::sim {

/// What a control connection may do to the model's knowledge of it.
struct LinkRecord {
  std::size_t node = 0;
  std::size_t holder = 0;
  /// The link whose control connection it uses: its own as a rule, or one of the holder's where two
  /// nodes share a session. What befalls the connection stands in that one's record.
  std::size_t wire = 0;
  SessionId session;     // at the holder
  bool corrupt = false;  // bits were flipped: what its frames say is nobody's word
  TimePoint begin;
  std::uint64_t allowance = 0;  // control bytes that its reads may have cost
  /// Every message arrives, and in time: a fetch that has returned leaves no lease behind.
  bool faithful = false;
};

/// What the two nodes may do, in the model's own data and words: who asked for what, what was
/// posted, admitted, landed and handed over, and which of it breaks which invariant. Knows nothing
/// of the engine but the seams it is called from.
class Model final : public RailObserver {
 public:
  Model(Journal& journal, const Clock& clock, std::shared_ptr<const Layout> layout,
        std::size_t nodes);

  Journal& journal() noexcept override { return journal_; }
  TimePoint now() const { return clock_.now(); }
  const Layout& layout() const noexcept { return *layout_; }
  HeldContent& content(std::size_t node) { return *content_[node]; }
  const HeldContent& content(std::size_t node) const { return *content_[node]; }
  DestinationMap& destinations(std::size_t node) { return *destinations_[node]; }
  std::deque<LinkRecord>& links() noexcept { return links_; }
  LinkRecord& wire_of(std::size_t link) { return links_[links_[link].wire]; }
  const LinkRecord& wire_of(std::size_t link) const { return links_[links_[link].wire]; }
  std::deque<FetchRecord>& fetches() noexcept { return fetches_; }

  /// The regions of a holder, as it published them.
  void publish(std::size_t node, std::span<const Region> regions);
  /// Bytes of one, 0 if there is none.
  std::uint64_t region_bytes(std::size_t node, RegionId region) const;

  FetchRecord& begin_fetch(std::size_t link, ReadId read, FetchOrder order);
  /// A lease that is asked for by itself, and a read of some lanes under it.
  FetchRecord& begin_lease(std::size_t link, ReadId read, FetchOrder order);
  FetchRecord& begin_range(const FetchRecord& lease, EpochNumber epoch, FetchOrder order);
  /// Who asked for the lease.
  FetchRecord* find(std::size_t link, ReadId read) {
    const auto first = by_read_.lower_bound({link, read.value(), 0});
    return first != by_read_.end() && is_of(first->first, link, read) ? first->second : nullptr;
  }
  FetchRecord* find(std::size_t link, ReadContext context);
  /// Everything that runs, or ran, under one lease.
  std::vector<FetchRecord*> all_of(std::size_t link, ReadId read);
  /// How long after its deadline a fetch may end.
  void set_grace(Duration grace) noexcept { grace_ = grace; }

  // At the rails: ObservedTransport.
  void on_post(RailRecord& rail, ReadContext context, const Slice& slice) override;
  void on_landed(const RailRecord& rail, ReadContext context, const Slice& slice,
                 std::uint64_t from, std::uint64_t to) override;
  void on_outcome(RailRecord& rail, ReadContext context, const Slice& slice,
                  const Result<void>& outcome) override;
  // At the holder's gate: ObservingGate.
  void on_admit(std::size_t holder, SessionId session, ReadContext context, RegionId region,
                std::uint64_t offset, std::span<const std::byte> bytes);

  // On the control channel, at the requester's end: LinkEars. Whose confirmation of a lease it is,
  // nobody says: it counts for each read under it that has landed and waits for one.
  void on_confirm_sent(std::size_t link, ReadId read, bool whole);
  // At the holder's end.
  void on_query(std::size_t link, ReadId read, const HolderLease& lease);
  void on_renewal(std::size_t link, ReadId read, Duration ttl);
  /// `remembered`: also where there is no lease yet, so that its query comes too late.
  void on_lease_over(std::size_t link, ReadId read, bool remembered);

  // At the end: Driver.
  void on_leased(FetchRecord& lease);
  void on_lease_closed(const FetchRecord& lease);
  void on_success(FetchRecord& fetch, const BlockView& view);
  void on_failure(FetchRecord& fetch, const Error& error);
  /// The view must still be what it was (I1).
  void check_view(const FetchRecord& fetch, const BlockView& view);
  /// Nothing runs longer than its deadline and the grace allow (I8).
  void check_deadlines();

 private:
  void check_ended(FetchRecord& fetch);
  void check_served(const FetchRecord& fetch, const FetchRecord::Admitted& admitted,
                    const Slice& slice, std::uint64_t from, std::uint64_t to, bool lies);
  void check_place(const FetchRecord& fetch, const Slice& slice);
  void check_lease_left(const FetchRecord& fetch);
  void check_lease(const FetchRecord& fetch);
  void check_chunks(const FetchRecord& fetch, const BlockView& view);
  void check_counts(const FetchRecord& fetch, const BlockView& view);

  Journal& journal_;
  const Clock& clock_;
  const std::shared_ptr<const Layout> layout_;
  Duration grace_{};
  std::vector<std::unique_ptr<HeldContent>> content_;
  std::vector<std::unique_ptr<DestinationMap>> destinations_;
  std::vector<std::map<std::uint32_t, Region>> regions_;
  std::deque<LinkRecord> links_;
  std::deque<FetchRecord> fetches_;
  using ReadKey = std::pair<std::size_t, std::uint64_t>;                   // link and read
  using FetchKey = std::tuple<std::size_t, std::uint64_t, std::uint64_t>;  // and epoch
  static bool is_of(const FetchKey& key, std::size_t link, ReadId read) noexcept {
    return std::get<0>(key) == link && std::get<1>(key) == read.value();
  }
  FetchRecord& begin(std::size_t link, ReadId read, EpochNumber epoch, FetchOrder order);
  LaneRange lanes_of(const FetchRecord& fetch) const noexcept;
  std::uint64_t needed_bytes(const FetchRecord& fetch, std::uint64_t blocks) const noexcept;
  std::map<FetchKey, FetchRecord*> by_read_;
  std::map<ReadKey, HolderLease> leases_;
};

}  // namespace corail::sim
