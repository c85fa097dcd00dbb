#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/exec/op_table.h"
#include "engine/rail/push.h"
#include "engine/rail/slice.h"

namespace corail {

/// A slice between post() and its outcome; fenced ones beyond it, until the holder ends them.
struct PostedSlice {
  Slice slice;
  ReadContext context;
  SliceSink* sink = nullptr;
  std::uint64_t received = 0;
  std::uint64_t order = 0;  // the number of its order; 0: it is READ
  bool answered = false;    // the owner has sent all that was ordered
  bool discard = false;     // it has had its outcome: bytes that still come are dropped
  bool cancelled = false;   // the holder has been asked to end it
};

/// Whether reads share a rail.
struct Sharing {
  std::optional<ReadContext> context;  // of any of them
  bool others = false;
};

/// The slices of one channel. Whatever ends a slice goes through here, which is what makes outcomes
/// exactly one each.
///
/// A fenced slice keeps its slot until the holder has ended it, so that its late frames are told
/// from stale ones; until then further slices may have to wait for a slot. A pushed slice ends once
/// its bytes have landed and its order was answered, or with an answer that is no: the answer may
/// overtake bytes, so those of an order that has ended are no breach, and go nowhere. Owned by its
/// channel; on the executor's thread. Sinks are called last in each function, and may post from
/// within.
class InFlight {
 public:
  explicit InFlight(std::uint32_t capacity) : ops_(capacity), ordered_(capacity) {}

  void add(const PostedSlice& posted);

  /// Gives the oldest waiting slice a slot, if there are both, and a pushed one the number of its
  /// order, which is higher than all before. The caller asks the holder for it.
  std::optional<std::pair<OpKey, PostedSlice>> start_next();

  /// Null for an operation that does not exist, whoever made the key up.
  PostedSlice* find(OpKey key) noexcept { return ops_.find(key); }

  /// Which operation a frame or an answer is about: its key, or the number of its order. Remote
  /// input; one that find() does not know where there is none (I5).
  OpKey resolve(OpKey wire) noexcept;

  /// Whether this is the number of an order that was given out, whether it has ended or not.
  bool was_ordered(OpKey wire) const noexcept;

  /// What the owner answers to an order. True where a slot may be free now.
  bool answer(std::uint64_t order, Result<PushReceipt> receipt) noexcept;

  /// `bytes` more of the operation have been received, into its destination or away.
  void received(OpKey key, std::uint64_t bytes) noexcept;

  /// Ends the operation if nothing of it is missing.
  void end_if_complete(OpKey key) noexcept;

  /// The operation is over, and its key stale.
  void end(OpKey key, Result<void> outcome) noexcept;

  /// Gives up all of the sink's slices: their bytes are dropped from now on. Adds them to
  /// `given_up`; the caller tells the sink, once it has told the holder. Returns what is to be
  /// cancelled there. A holder may end other slices of the same read as well, which are flushed
  /// then: one that looks at no epochs does.
  std::vector<ReadContext> give_up(const SliceSink& sink, std::vector<Slice>& given_up);

  /// All slices have this outcome.
  void end_all(const Error& error);

  /// Adds what its slices say to what those of other channels do.
  void look(Sharing& sharing) noexcept;

  /// Bytes that have come, of all slices so far.
  std::uint64_t received() const noexcept { return received_; }
  /// Bytes that are still to come.
  std::uint64_t outstanding() const noexcept { return outstanding_; }
  /// Slices without an outcome.
  std::uint32_t live() const noexcept { return live_; }

 private:
  OpTable<PostedSlice> ops_;
  std::vector<OpKey> ordered_;  // by slot: the latest order there
  std::uint64_t orders_ = 0;    // so far
  std::deque<PostedSlice> waiting_;
  std::uint64_t received_ = 0;
  std::uint64_t outstanding_ = 0;
  std::uint32_t live_ = 0;
};

}  // namespace corail
