#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/read/read_budget.h"
#include "rpc/options.h"
#include "rpc/put_sources.h"
#include "rpc/session_client.h"

namespace corail {

/// What the puts of a node share where they are written. Owned by the node, outlives its peers'
/// close(). Home executor only.
struct PutParts {
  PutSources& sources;
  std::shared_ptr<ReadBudget> budget;  // bytes of memory of the puts under way
  Random& random;                      // for read ids
};

/// What all puts through one peer share. Owned by the peer, whose close() ends each of them.
struct PutContext {
  asio::any_io_executor home;
  Clock& clock;
  SessionClient& session;
  asio::any_io_executor hashing;  // also copies and maps, which takes longer than home may
  const NodeOptions& options;
  PutParts& parts;
};

}  // namespace corail
