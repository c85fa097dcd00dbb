#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/exec/executor.h"
#include "engine/memory/region_registry.h"
#include "engine/rail/port.h"
#include "engine/rail/rail_door.h"
#include "rpc/port_host.h"
#include "rpc/put_messages.h"
#include "rpc/put_sources.h"
#include "rpc/rpc_server.h"
#include "test/node/two_nodes.h"

namespace corail::test {

/// A writer of puts made of parts, which says whatever a test wants: what a node never would.
class PutStranger {
 public:
  explicit PutStranger(const std::string& home_address);
  ~PutStranger();

  Result<ObjectGeneration> begin(std::string key, std::uint64_t size);
  /// A stripe in memory of its own, with the right checksum, under an id of its own, offered.
  PutStripeRequest offer(ObjectGeneration put, std::uint32_t stripe,
                         const std::vector<std::byte>& bytes);
  Result<void> put(const PutStripeRequest& request);
  std::future<Result<void>> start_put(const PutStripeRequest& request);
  Result<ObjectDescriptor> commit(ObjectGeneration put, std::string key);
  Result<void> abort(ObjectGeneration put);

  /// While it is set nothing is served: rails wait for what they asked for.
  std::atomic<bool> serve_nothing{false};
  /// Slices that were asked for meanwhile, or before.
  std::atomic<std::uint64_t> asked{0};
  /// Cuts the connection, once.
  void vanish();
  /// Cuts it when the home wants its rails opened.
  std::atomic<bool> vanish_at_the_door{false};

 private:
  class Gate;
  class Doors;
  template <typename T>
  T run(Task<T> task) {
    return asio::co_spawn(home_.asio_executor(), std::move(task), asio::use_future).get();
  }
  CallOptions in_time() const;

  SteadyClock clock_;
  SeededRandom random_{99};
  Executor home_{"stranger"};
  Executor rail_{"stranger-rail"};
  std::vector<std::unique_ptr<Port>> ports_;
  RegionRegistry registry_;
  PutSources sources_{registry_, {}, 64 * kMiB};
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<PortHost> host_;
  std::unique_ptr<Doors> doors_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<SessionClient> client_;
  ByteStream* stream_ = nullptr;  // of the session
  std::vector<std::shared_ptr<PutMemory>> memory_;
};

}  // namespace corail::test
