#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/clock.h"

namespace corail {

/// Where the time of one read went. The stages follow each other on the home executor, except
/// `submit`, which is summed over the rails and is part of the time that `wait` covers.
struct StageTimes {
  Duration admit{};  // waiting for room in the budgets
  Duration query{};  // asking the holder, until its answer is decoded
  Duration plan{};   // checking, planning, allocating the destination
  /// Wall time of cutting slices and queuing their requests. The socket calls that send them come
  /// later and are not in it.
  Duration submit{};
  Duration wait{};  // until every slice has ended; hashing on the receiving threads is hidden here
  Duration verify{};  // integrity work that is left for the join
  Duration commit{};  // the owner's confirmation
  Duration copy{};    // into the caller's own memory, where that was asked for; after the commit
  Duration seal{};    // building the view and handing it over

  /// From the wish to read to the end of the hand-over; submit is not added, being inside wait.
  Duration total() const noexcept {
    return admit + query + plan + wait + verify + commit + copy + seal;
  }
};

/// Where the time of one read went on one rail.
struct RailTimes {
  Duration post{};    // cutting slices and queuing their requests, machine time
  Duration queue{};   // from the read's begin on the rail until its first slice was posted
  Duration wait{};    // from the read's begin on the rail until every slice had ended
  Duration slices{};  // summed over its slices: from posted until ended
  Duration verify{};  // hashing on the receiving thread, machine time
  Duration disk{};    // summed over its pushed slices: until the owner had them in memory
  Duration send{};    // likewise: from then until the owner's transport had sent them
  Duration cancel{};  // from hearing that the read gives up until its slices had ended
};

struct RailReport {
  std::string name;
  std::uint64_t bytes = 0;   // landed through this rail
  std::uint64_t reads = 0;   // slices posted on it
  std::uint64_t errors = 0;  // slices that it failed
  /// Why it was skipped, being down or without the holder's keys when the read began, or did not
  /// see its end; empty: it took part.
  std::string down{};
  std::uint64_t retries = 0;  // slices that it took over from rails that failed
  std::uint32_t owner = 0;    // of the plan, that it reaches
  std::uint32_t thread = 0;   // rails with the same number share one; counted from 0
  RailTimes times{};
};

/// What a read did, counted by the engine; every figure is measured where the thing happens.
struct ReadReport {
  StageTimes stages;
  std::uint64_t query_response_bytes = 0;  // on the wire, frame headers included
  std::uint64_t run_table_bytes = 0;       // runs and template within the answer
  std::uint64_t runs = 0;
  std::uint64_t reads_planned = 0;  // fused and split
  std::uint64_t reads_posted = 0;   // with the shrunken tail slices
  std::uint64_t needed_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t verified_bytes = 0;
  std::uint32_t attempts = 1;        // more than one: slices of a rail that failed were retried
  std::uint64_t retried_slices = 0;  // posted once more, on another rail
  std::uint64_t retried_bytes = 0;
  /// From giving up, by a cancel, a deadline or a failure, until quiescent; none where it did not.
  Duration cancel{};
  Duration verify_cpu{};  // hashing on the receiving threads, machine time, summed over the rails
  std::vector<RailReport> rails;
};

}  // namespace corail
