#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/result.h"
#include "engine/rail/slice.h"
#include "test/sim/journal.h"

namespace corail::sim {

/// One connected rail, as a model sees it.
struct RailRecord {
  std::size_t link = 0;
  std::uint64_t window = 0;
  std::uint64_t in_flight = 0;  // bytes
  bool lies = false;            // its device may say that a slice is done, and bytes are wrong
};

/// What is told of every rail: what is posted, and what becomes of it. Implemented by the models.
class RailObserver {
 public:
  virtual ~RailObserver() = default;

  virtual Journal& journal() noexcept = 0;
  virtual void on_post(RailRecord& rail, ReadContext context, const Slice& slice) = 0;
  virtual void on_landed(const RailRecord& rail, ReadContext context, const Slice& slice,
                         std::uint64_t from, std::uint64_t to) = 0;
  virtual void on_outcome(RailRecord& rail, ReadContext context, const Slice& slice,
                          const Result<void>& outcome) = 0;
};

}  // namespace corail::sim
