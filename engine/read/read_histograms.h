#pragma once

#include "engine/base/log_histogram.h"
#include "engine/read/read_report.h"

namespace corail {

/// How long the parts of many reads took, to be merged over threads, rails and nodes. Some 200 KiB,
/// so it lives on the heap or in a node. Not for several threads at once.
struct ReadHistograms {
  /// Counts a read that has ended, whatever it came to. What it has not come to is not counted: a
  /// read that was cancelled has no commit, one that was not has no cancel.
  void add(const ReadReport& report) noexcept;
  void merge(const ReadHistograms& other) noexcept;

  // Of whole reads.
  LogHistogram total;   // StageTimes::total
  LogHistogram wait;    // until all slices had ended
  LogHistogram verify;  // what was left of it for the join
  LogHistogram commit;  // until the owners had confirmed
  LogHistogram cancel;  // from giving up until quiescent
  // Of the rails of reads that brought something, one value for each.
  LogHistogram post;
  LogHistogram queue;
  LogHistogram hash;   // on the receiving thread
  LogHistogram slice;  // the mean of its slices, from posted until ended
  LogHistogram disk;   // the mean of its pushed slices, where the owner told of any
  LogHistogram send;   // likewise
};

}  // namespace corail
