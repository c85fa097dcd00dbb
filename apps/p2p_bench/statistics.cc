#include "apps/p2p_bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace corail::bench {

double nearest_rank(const std::vector<double>& sorted, double percent) {
  const double rank = std::ceil(percent / 100.0 * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

Statistics statistics_of(std::vector<double> values) {
  Statistics result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const bool odd = values.size() % 2 == 1;
  result.median = odd ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  result.p50 = nearest_rank(values, 50);
  result.p99 = nearest_rank(values, 99);
  result.min = values.front();
  result.max = values.back();
  return result;
}

}  // namespace corail::bench
