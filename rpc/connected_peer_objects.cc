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

template <typename T, typename Request>
Task<Result<T>> ConnectedPeer::ask_object(ObjectCall<T, Request> call, Request request) {
  auto answer = co_await run_on(context_.home,
                                without_exceptions(ask_object_on_home(call, std::move(request))));
  if (!answer) co_return std::move(answer).error().on_peer(name_);
  co_return answer;
}

template <typename T, typename Request>
Task<Result<T>> ConnectedPeer::ask_object_on_home(ObjectCall<T, Request> call, Request request) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, CancelToken());
  CallCancel cancel;
  const CancelBridge bridge(context_.home, running.token(), cancel);
  const TimePoint deadline = time_after(context_.clock.now(), context_.options.call_deadline);
  const CallOptions options{deadline, &cancel};
  ObjectClient client(*session_);
  auto answer = co_await (client.*call)(std::move(request), options);
  if (!answer) co_return running.outcome(std::move(answer).error());
  co_return answer;
}

Task<Result<ObjectDescriptor>> ConnectedPeer::lookup_object(std::string key) {
  return ask_object(&ObjectClient::lookup, std::move(key));
}

Task<Result<std::vector<ObjectSummary>>> ConnectedPeer::list_objects(ListObjectsRequest page) {
  return ask_object(&ObjectClient::list, std::move(page));
}

Task<Result<ObjectGeneration>> ConnectedPeer::delete_object(
    std::string key, std::optional<ObjectGeneration> if_generation) {
  DeleteObjectRequest request;
  request.key = std::move(key);
  request.if_generation = if_generation;
  return ask_object(&ObjectClient::erase, std::move(request));
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
