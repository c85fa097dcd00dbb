#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/memory/pin.h"
#include "rpc/object_view.h"
#include "test/sim/destination_map.h"
#include "test/sim/objects/read_record.h"
#include "test/sim/objects/store_model.h"
#include "test/sim/rail_observer.h"

namespace corail::sim {

/// The two nodes of a seed of objects.
inline constexpr std::size_t kHolder = 0;
inline constexpr std::size_t kUser = 1;

/// What the two nodes may do: what was posted, served, landed and handed over, and which of it
/// breaks which invariant. Knows nothing of the engine but the seams that it is called from.
class ObjectModel final : public RailObserver {
 public:
  /// How long after its deadline a read may end, and a put, which tells its home that it has.
  ObjectModel(Journal& journal, const Clock& clock, Duration read_grace, Duration put_grace);
  ~ObjectModel() override;

  Journal& journal() noexcept override { return journal_; }
  TimePoint now() const { return clock_.now(); }
  StoreModel& store() noexcept { return store_; }
  DestinationMap& destinations(std::size_t node) { return *destinations_[node]; }

  // At the rails: ObservedTransport.
  void on_post(RailRecord& rail, ReadContext context, const Slice& slice) override;
  void on_landed(const RailRecord& rail, ReadContext context, const Slice& slice,
                 std::uint64_t from, std::uint64_t to) override;
  void on_outcome(RailRecord& rail, ReadContext context, const Slice& slice,
                  const Result<void>& outcome) override;

  /// At the doors: these bytes of a node are about to be sent. As long as the pin lives that comes
  /// back instead of theirs, they must not change (I6).
  Pin on_serve(std::size_t node, const PinnedBytes& served);
  std::uint64_t serving() const noexcept { return serving_; }

  // On the control channel: LeaseEars.
  void on_opened(std::size_t link, ReadId read, Duration ttl);
  void on_renewed(std::size_t link, ReadId read, Duration ttl);
  void on_confirm_sent(std::size_t link, ReadId read);
  void on_confirm_heard(std::size_t link, ReadId read);

  // At both ends of a read: the driver.
  ObjectReadRecord& begin_read(std::size_t link, ReadId read, ObjectReadOrder order);
  void on_success(ObjectReadRecord& read, const ObjectView& view);
  void on_failure(ObjectReadRecord& read, const Error& error);
  void on_let_go(const ObjectReadRecord& read);
  /// The view must still be what it was (I1).
  void check_view(const ObjectReadRecord& read, const ObjectView& view);
  /// What a lookup said, which the key's generation must have been meanwhile.
  void on_lookup(std::size_t key, std::optional<ObjectGeneration> generation, TimePoint asked);
  /// Nothing runs longer than its deadline and the grace allow (I8).
  void check_deadlines();
  void check_end();

 private:
  class Served;
  using ReadKey = std::pair<std::size_t, std::uint64_t>;  // link, and read

  ObjectReadRecord* find(std::size_t link, ReadId read);
  /// Null for a read that does not run.
  PostedSlices* posted_of(const RailRecord& rail, ReadContext context);
  std::size_t node_of(ReadContext context) const noexcept;
  void check_source(std::size_t node, std::span<const std::byte> bytes);
  void check_ended(ObjectReadRecord& read);
  void check_lease(const ObjectReadRecord& read);
  void check_counts(const ObjectReadRecord& read);

  Journal& journal_;
  const Clock& clock_;
  const Duration read_grace_;
  const Duration put_grace_;
  StoreModel store_;
  std::unique_ptr<DestinationMap> destinations_[2];
  std::deque<ObjectReadRecord> reads_;
  std::map<ReadKey, ObjectReadRecord*> by_read_;
  std::map<std::uint64_t, PostedSlices> pulls_;  // of puts' stripes, by read id
  std::uint64_t serving_ = 0;
};

}  // namespace corail::sim
