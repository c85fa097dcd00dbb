#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/object/object_descriptor.h"
#include "engine/store/object_store_types.h"
#include "rpc/call.h"
#include "rpc/object_messages.h"
#include "rpc/session_client.h"

namespace corail {

/// An object that is open at its owner, under a lease.
struct OpenObject {
  OpenObjectAnswer answer;
  std::shared_ptr<const RegionTable> regions;  // at least as new as the answer
};

/// The requester's calls about objects, over a session that it does not own. Each fails with
/// kIncompatible where the other node's release knows no objects, kProtocol for an answer that
/// breaks the rules, or what the owner or the connection says.
class ObjectClient {
 public:
  explicit ObjectClient(SessionClient& session) : session_(session) {}

  /// The present generation, checked; kNotFound.
  Task<Result<ObjectDescriptor>> lookup(std::string key, CallOptions options);

  /// Leases the generation. `stripes` and `granules` are how many the owner has by the descriptor,
  /// and those of request.granules_of. kGenerationChanged, kNotFound: it is no more. A failure may
  /// leave a lease at the owner: release the read as after a success.
  Task<Result<OpenObject>> open(OpenObjectRequest request, std::size_t stripes,
                                std::size_t granules, CallOptions options);

  /// Keys in order. kInvalidArgument: not 1 to kMaxListedObjects, or a key that is none.
  Task<Result<std::vector<ObjectSummary>>> list(ListObjectsRequest request, CallOptions options);

  /// The generation that was deleted. kNotFound, kGenerationChanged.
  Task<Result<ObjectGeneration>> erase(DeleteObjectRequest request, CallOptions options);

 private:
  Result<void> may_call() const;

  SessionClient& session_;
};

}  // namespace corail
