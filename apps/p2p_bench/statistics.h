#pragma once

#include <vector>

namespace corail::bench {

/// What a series of measurements comes to. All zero when there are none.
struct Statistics {
  double median = 0;  // the mean of the middle two when their number is even
  double p50 = 0;     // nearest rank: a value that was really measured
  double p99 = 0;
  double min = 0;
  double max = 0;
};

Statistics statistics_of(std::vector<double> values);

/// The smallest value such that at least `percent` of all are not above it. `sorted` is ascending
/// and not empty; 0 < percent <= 100.
double nearest_rank(const std::vector<double>& sorted, double percent);

}  // namespace corail::bench
