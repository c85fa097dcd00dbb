#pragma once

#include <asio/any_io_executor.hpp>

#include "engine/base/clock.h"
#include "engine/memory/landing_registry.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/rail_set.h"
#include "rpc/fetch_admission.h"
#include "rpc/options.h"
#include "rpc/session_client.h"

namespace corail {

/// What all fetches and leases from one peer share. Owned by the peer, whose close() waits for each
/// of them. Home executor only.
struct FetchContext {
  asio::any_io_executor home;
  Clock& clock;
  SessionClient& session;
  SlabPool& memory;
  asio::any_io_executor mapping;  // makes the pool's slabs, which may take seconds
  const NodeOptions& options;
  const RailSet& rails;
  FetchBudgets budgets;
  const LandingRegistry* landings = nullptr;  // memory of callers; null: there is none
};

/// A caller may ask for all the time there is.
inline TimePoint time_after(TimePoint now, Duration time) {
  return time > TimePoint::max() - now ? TimePoint::max() : now + time;
}

}  // namespace corail
