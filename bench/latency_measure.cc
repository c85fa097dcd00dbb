#include "bench/latency_measure.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corail::bench {
namespace {

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// Reads the big set again and again until it is told to end.
class BigReader {
 public:
  explicit BigReader(LatencyPair& pair) : pair_(pair), thread_([this] { work(); }) {}
  ~BigReader() { join(); }
  BigReader(const BigReader&) = delete;
  BigReader& operator=(const BigReader&) = delete;

  /// Which big read is running, counted from 1; 0 between two of them.
  std::uint64_t running() const { return running_; }
  bool failed() const { return failed_; }

  /// Waits for the last one; the error that stopped it, or how many were read.
  Result<std::uint64_t> end() {
    join();
    return outcome_;
  }

 private:
  void join() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void work() {
    std::uint64_t read = 0;
    while (!stop_) {
      running_ = read + 1;
      const auto took = pair_.fetch_big();
      running_ = 0;
      if (!took.ok()) {
        outcome_ = took.error();
        failed_ = true;
        return;
      }
      outcome_ = ++read;
    }
  }

  LatencyPair& pair_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<std::uint64_t> running_ = 0;
  Result<std::uint64_t> outcome_ = std::uint64_t{0};
  std::thread thread_;
};

/// Notes how long it took if all of it was beside one big read.
template <typename Take>
Result<void> time_beside(const BigReader& big, std::vector<double>& times, const Take& take) {
  const std::uint64_t before = big.running();
  const Result<Duration> took = take();
  if (!took.ok()) return took.error();
  if (before != 0 && big.running() == before) times.push_back(milliseconds(*took));
  return ok_result();
}

/// Clock ticks of user and system time, fields 14 and 15; the name in field 2 may have blanks.
std::optional<std::uint64_t> used_ticks() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  return user + system;
}

}  // namespace

Result<Alternating> measure_alternating(LatencyPair& pair, std::uint32_t samples) {
  Alternating times;
  // As many before those that count as it takes to have everything warm.
  const std::uint32_t warmup = samples / 10 + 1;
  for (std::uint32_t i = 0; i < warmup + samples; ++i) {
    const auto read = pair.fetch_small();
    if (!read.ok()) return read.error();
    const auto exchange = pair.exchange();
    if (!exchange.ok()) return exchange.error();
    if (i < warmup) continue;
    times.read_ms.push_back(milliseconds(*read));
    times.exchange_ms.push_back(milliseconds(*exchange));
  }
  return times;
}

Result<BesideBig> measure_beside_big(LatencyPair& pair, std::uint32_t samples) {
  BesideBig times;
  // The first touch of the destination of a big read is not what is measured.
  const auto warmup = pair.fetch_big();
  if (!warmup.ok()) return warmup.error();
  for (std::uint32_t i = 0; i < samples; ++i) {
    const auto took = pair.fetch_small();
    if (!took.ok()) return took.error();
    times.alone_ms.push_back(milliseconds(*took));
  }
  BigReader big(pair);
  while (times.beside_ms.size() < samples && !big.failed()) {
    auto measured = time_beside(big, times.beside_ms, [&pair] { return pair.fetch_small(); });
    if (measured.ok()) {
      measured = time_beside(big, times.exchange_beside_ms, [&pair] { return pair.exchange(); });
    }
    if (!measured.ok()) return measured.error();
  }
  const auto read = big.end();
  if (!read.ok()) return read.error();
  times.big_reads = *read;
  return times;
}

std::optional<double> idle_cpu_share(Clock& clock, Duration length) {
  const TimePoint begin = clock.now();
  const auto before = used_ticks();
  {
    // Nobody notifies it: this thread has nothing to do either.
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait_until(lock, begin + length, [] { return false; });
  }
  const auto after = used_ticks();
  const double spent = std::chrono::duration<double>(clock.now() - begin).count();
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (!before || !after || ticks_per_second <= 0 || spent <= 0) return std::nullopt;
  return static_cast<double>(*after - *before) / ticks_per_second / spent;
}

}  // namespace corail::bench
