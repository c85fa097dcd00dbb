#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/p2p_bench/limit_wire.h"
#include "apps/p2p_bench/stored_sets.h"

namespace corail::bench {

/// The holder's half of the raw loop: one blocking thread per connection, sending straight from the
/// stored blocks. Owned by the holder; `sets` outlive it. Destroying it ends and joins its threads,
/// whatever they are doing.
class LimitServer {
 public:
  /// Listens on `port` of the control address and of each rail; 0 takes any free ports. Fails when
  /// one of them is taken.
  static Result<std::unique_ptr<LimitServer>> open(const std::string& control_host,
                                                   const std::vector<std::string>& rail_hosts,
                                                   std::uint32_t port, const Shape& shape,
                                                   const std::vector<SourceMemory>& sets);
  ~LimitServer();
  LimitServer(const LimitServer&) = delete;
  LimitServer& operator=(const LimitServer&) = delete;

  /// Where requesters greet first.
  const std::string& address() const noexcept { return address_; }

 private:
  struct Connection {
    Descriptor socket;
    std::thread thread;
    std::atomic<bool> ended = false;
  };

  LimitServer(const Shape& shape, const std::vector<SourceMemory>& sets);
  void accept_all();
  void accept_one(const Descriptor& listener);
  /// Waits for a while, or until the server ends.
  void pause() const;
  void serve(const Descriptor& socket);
  bool serve_command(const Descriptor& socket, const LimitCommand& command);
  void join_ended();

  const Shape shape_;
  const std::vector<SourceMemory>& sets_;
  std::string address_;
  std::string hello_;
  std::vector<Descriptor> listeners_;
  Descriptor stop_;                    // an eventfd that wakes the accepting thread
  std::list<Connection> connections_;  // the accepting thread's, then the destructor's
  std::thread accepting_;
};

}  // namespace corail::bench
