#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <span>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/region_registry.h"
#include "rpc/call_handler.h"
#include "rpc/method.h"
#include "rpc/object_messages.h"
#include "rpc/object_services.h"
#include "rpc/push_service.h"
#include "rpc/rail_host.h"

namespace corail {

/// The owner's side of one session, as far as it is about objects: lookup, listing, deletion, and
/// reads under leases, pulled or pushed.
///
/// Owned by the session's server, home executor only. stop(), then the session's rails are dropped,
/// then end() must have returned before destruction.
class ObjectService {
 public:
  /// All outlive it.
  ObjectService(const asio::any_io_executor& executor, Clock& clock, const RegionRegistry& regions,
                RailHost& rails, const ObjectServices& objects, SessionId session);
  ObjectService(const ObjectService&) = delete;
  ObjectService& operator=(const ObjectService&) = delete;

  /// LookupObject, OpenObject, ListObjects, DeleteObject, ReadStripes.
  Task<Result<FrameBuffer>> serve(InboundCall& call);

  /// Whether the read is one of an object, as far as is remembered.
  bool knows(ReadId read) const { return objects_.gate.knows(session_, read); }
  Result<Duration> renew(ReadId read, Duration ttl);
  /// Of a read that it knows. One that ends, or is quiesced, is answered when nothing of it is on
  /// its way any more (RailDoor::push).
  Task<Result<void>> end_read(Method method, ReadId read, InboundCall& call);

  void stop() { pushes_.stop(); }
  /// Waits for orders, then lets go of the session's leases.
  Task<void> end();

 private:
  Result<FrameBuffer> lookup(std::span<const std::byte> body);
  Result<FrameBuffer> open(std::span<const std::byte> body);
  Result<FrameBuffer> list(std::span<const std::byte> body);
  Task<Result<FrameBuffer>> erase(std::span<const std::byte> body);

  const RegionRegistry& regions_;
  const ObjectServices& objects_;
  const SessionId session_;
  PushService pushes_;
};

}  // namespace corail
