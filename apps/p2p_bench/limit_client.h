#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "apps/p2p_bench/limit_wire.h"
#include "engine/base/clock.h"

namespace corail::bench {

/// Asks the limit endpoint at `address` what it offers. Gives up after two seconds of silence.
Result<HolderHello> ask_holder(const std::string& address);

/// The requester's half of the raw loop: as many connections as the rails have, each with a
/// blocking thread that exists before any clock starts. Owned by the runner, used on one thread;
/// abort() may come from any. Destroying it ends and joins the threads.
class LimitClient {
 public:
  /// Connection i of a rail goes from that rail's local host to the holder's endpoint of the same
  /// index, modulo their number. `clock` outlives the client.
  static Result<std::unique_ptr<LimitClient>> open(const HolderHello& hello,
                                                   const std::vector<std::string>& local_hosts,
                                                   std::uint32_t channels_per_rail, Clock& clock);
  ~LimitClient();
  LimitClient(const LimitClient&) = delete;
  LimitClient& operator=(const LimitClient&) = delete;

  /// Fetches one set into `destination`, each connection its share, in calls of `call_bytes`; the
  /// time from waking the threads until the last one has all. Fails with kConnectionLost.
  Result<Duration> fetch(std::uint32_t set, std::uint32_t call_bytes,
                         const std::vector<std::span<std::byte>>& destination);

  /// Ends a running fetch as failed, and all later ones. Any thread.
  void abort();

 private:
  /// What the threads share in one fetch.
  struct Round {
    std::uint64_t number = 0;  // 0: none yet
    std::uint64_t bytes = 0;
    std::uint32_t set = 0;
    std::uint32_t call_bytes = 0;
    const std::vector<std::span<std::byte>>* destination = nullptr;
  };

  explicit LimitClient(Clock& clock) : clock_(clock) {}
  void work(std::size_t index);
  bool fetch_share(std::size_t index, const Round& round) const;

  Clock& clock_;
  std::vector<Descriptor> sockets_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  Round round_;
  std::size_t running_ = 0;
  bool failed_ = false;
  bool closing_ = false;
};

}  // namespace corail::bench
