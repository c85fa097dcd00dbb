#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/memory/pin.h"
#include "engine/store/reservation.h"
#include "engine/store/store_state.h"
#include "engine/store/store_types.h"

namespace corail::detail {

/// One save: the new blocks' keys, pieces and checksum terms. Threads as Save says.
class SaveState {
 public:
  /// BlockStore::begin.
  static Result<std::unique_ptr<SaveState>> begin(StoreState& store, const SaveRequest& request);

  SaveState(StoreState& store, std::string name_space, std::uint32_t name_space_number)
      : store_(store), name_space_(std::move(name_space)), name_space_number_(name_space_number) {}
  SaveState(const SaveState&) = delete;
  SaveState& operator=(const SaveState&) = delete;
  ~SaveState() { store_.namespaces().drop(name_space_number_); }

  Result<Pin> pin(std::uint32_t part) const;
  std::span<const std::uint32_t> new_blocks() const noexcept { return new_blocks_; }
  std::span<std::byte> writable(std::uint32_t position, std::uint32_t lane) const noexcept;
  Result<void> put_part(std::uint32_t part);
  Result<void> seal();

 private:
  enum class PartPhase : std::uint8_t { kOpen, kPutting, kPut };
  using Pieces = std::vector<Piece>;
  struct PartProgress {
    /// The pieces until the seal or the end of the save's time, else null. Whoever works on the
    /// bytes shares them.
    std::shared_ptr<const Pieces> pieces() const {
      const std::lock_guard lock(mutex);
      return kept;
    }

    mutable std::mutex mutex;
    std::shared_ptr<const Pieces> kept;
    std::vector<std::uint64_t> sums;  // per new block: the terms of this part's lanes
    std::atomic<PartPhase> phase{PartPhase::kOpen};
  };

  void start_timer();
  void expire();
  Error expired() const;
  void drop_pieces();
  void sum_terms(const Pieces& pieces, const Part& part, std::vector<std::uint64_t>& sums) const;
  void insert(std::uint32_t block, std::span<const PartRef> parts);

  StoreState& store_;
  const std::string name_space_;
  const std::uint32_t name_space_number_;  // in use by this save
  std::shared_ptr<const Partition> partition_;
  std::vector<std::uint32_t> new_blocks_;
  std::vector<std::string> hashes_;  // of the new blocks
  std::vector<std::unique_ptr<PartProgress>> parts_;
  bool sealed_ = false;
  std::unique_ptr<Timer> timer_;  // until it is sealed; last, so that it goes before what it uses
};

}  // namespace corail::detail
