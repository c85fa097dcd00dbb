#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/object/object_descriptor.h"
#include "engine/store/object_store_types.h"
#include "rpc/call.h"
#include "rpc/put_messages.h"
#include "rpc/session_client.h"

namespace corail {

/// The calls of puts, over a session of the writer's. They fail as the home says, with kProtocol
/// for an answer that breaks the rules, or as Connection::call does. Home executor only.

Task<Result<ObjectGeneration>> call_begin_put(SessionClient* home, PutRequest request,
                                              CallOptions options);
/// The stripe's memory stays as it is until this has returned, and longer where a pin is held.
Task<Result<void>> call_put_stripe(SessionClient* home, PutStripeRequest request,
                                   CallOptions options);
/// `key`: of the put.
Task<Result<ObjectDescriptor>> call_commit_put(SessionClient* home, ObjectGeneration put,
                                               std::string key, CallOptions options);
Task<Result<void>> call_abort_put(SessionClient* home, ObjectGeneration put, CallOptions options);

}  // namespace corail
