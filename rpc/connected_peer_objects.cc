// What a peer does with objects.
#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"
#include "rpc/cancel_bridge.h"
#include "rpc/connected_peer.h"
#include "rpc/object_client.h"
#include "rpc/object_read.h"
#include "rpc/running_fetch.h"
#include "rpc/slot_cancel.h"

namespace corail {

TimePoint ConnectedPeer::call_deadline() const {
  return time_after(context_.clock.now(), context_.options.call_deadline);
}

Task<Result<ObjectDescriptor>> ConnectedPeer::lookup_object(std::string key) {
  auto found = co_await run_on(context_.home, without_exceptions(lookup_on_home(std::move(key))));
  if (!found) co_return std::move(found).error().on_peer(name_);
  co_return found;
}

Task<Result<ObjectDescriptor>> ConnectedPeer::lookup_on_home(std::string key) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, CancelToken());
  CallCancel cancel;
  const CancelBridge bridge(context_.home, running.token(), cancel);
  const CallOptions options{call_deadline(), &cancel};
  ObjectClient client(*session_);
  auto found = co_await client.lookup(std::move(key), options);
  if (!found) co_return running.outcome(std::move(found).error());
  co_return found;
}

Task<Result<std::vector<ObjectSummary>>> ConnectedPeer::list_objects(ListObjectsRequest page) {
  auto listed = co_await run_on(context_.home, without_exceptions(list_on_home(std::move(page))));
  if (!listed) co_return std::move(listed).error().on_peer(name_);
  co_return listed;
}

Task<Result<std::vector<ObjectSummary>>> ConnectedPeer::list_on_home(ListObjectsRequest page) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, CancelToken());
  CallCancel cancel;
  const CancelBridge bridge(context_.home, running.token(), cancel);
  const CallOptions options{call_deadline(), &cancel};
  ObjectClient client(*session_);
  auto listed = co_await client.list(std::move(page), options);
  if (!listed) co_return running.outcome(std::move(listed).error());
  co_return listed;
}

Task<Result<ObjectGeneration>> ConnectedPeer::delete_object(
    std::string key, std::optional<ObjectGeneration> if_generation) {
  DeleteObjectRequest request;
  request.key = std::move(key);
  request.if_generation = if_generation;
  auto deleted =
      co_await run_on(context_.home, without_exceptions(delete_on_home(std::move(request))));
  if (!deleted) co_return std::move(deleted).error().on_peer(name_);
  co_return deleted;
}

Task<Result<ObjectGeneration>> ConnectedPeer::delete_on_home(DeleteObjectRequest request) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, CancelToken());
  CallCancel cancel;
  const CancelBridge bridge(context_.home, running.token(), cancel);
  const CallOptions options{call_deadline(), &cancel};
  ObjectClient client(*session_);
  auto deleted = co_await client.erase(std::move(request), options);
  if (!deleted) co_return running.outcome(std::move(deleted).error());
  co_return deleted;
}

Task<Result<ObjectView>> ConnectedPeer::read_by_descriptor(ObjectDescriptor object,
                                                           ReadObjectOptions options) {
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  const SlotCancel cancel(state.slot(), options.cancel);
  options.cancel = cancel.token();
  auto shared = std::make_shared<const ObjectDescriptor>(std::move(object));
  // A coroutine chain of its own, as for a fetch of blocks.
  auto view = co_await run_on(context_.home, without_exceptions(read_object_on_home(
                                                 std::move(shared), std::move(options))));
  if (!view) co_return std::move(view).error().on_peer(name_);
  co_return view;
}

Task<Result<ObjectView>> ConnectedPeer::read_object_on_home(
    std::shared_ptr<const ObjectDescriptor> object, ReadObjectOptions options) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, options.cancel);
  options.cancel = running.token();
  const ReadId read(next_read_++);
  auto reading =
      std::make_unique<ObjectRead>(fetch_context(), read, std::move(object), std::move(options));
  auto view = co_await reading->run();
  reading.reset();
  if (!view) co_return running.outcome(std::move(view).error());
  co_return view;
}

}  // namespace corail
