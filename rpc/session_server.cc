#include "rpc/session_server.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "rpc/block_wait.h"
#include "rpc/put_service.h"

namespace corail {
namespace {

std::unique_ptr<ObjectService> service_of(const asio::any_io_executor& executor,
                                          const SessionServices& services, SessionId id) {
  if (services.objects == nullptr) return nullptr;
  return std::make_unique<ObjectService>(executor, services.clock, services.regions, services.rails,
                                         *services.objects, id);
}

}  // namespace

SessionServer::SessionServer(asio::any_io_executor executor, const SessionServices& services,
                             TemplateCache& templates, SessionId id, Session& session)
    : executor_(std::move(executor)),
      services_(services),
      templates_(templates),
      id_(id),
      objects_(service_of(executor_, services, id)),
      puts_(services.puts == nullptr ? nullptr
                                     : std::make_unique<PutService>(*services.puts, session)),
      idle_(executor_) {}

SessionServer::~SessionServer() {
  CORAIL_CHECK(ended_, "what a session holds is let go of before it is destroyed");
}

class SessionServer::Serving {
 public:
  explicit Serving(SessionServer& server) : server_(server) { ++server_.serving_; }
  ~Serving() {
    --server_.serving_;
    server_.idle_.notify();
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  SessionServer& server_;
};

Task<void> SessionServer::end() {
  if (objects_) objects_->stop();
  if (puts_) puts_->stop();
  // First the handlers end, so that none of them can take a lease after the session was dropped.
  while (serving_ > 0) {
    co_await idle_.wait();
  }
  // Rails before leases: a peer that is still being sent something is told that its channel ended,
  // not that its lease did. And what is pushed ends with its channel.
  if (rails_touched_) {
    co_await services_.rails.drop(id_);
  }
  if (objects_) co_await objects_->end();
  if (puts_) co_await puts_->end();
  if (services_.store != nullptr) services_.store->drop_session(id_);
  ended_ = true;
}

Task<Result<FrameBuffer>> SessionServer::serve(InboundCall& call) {
  const Serving serving(*this);
  auto answer = co_await dispatch(call);
  co_return answer;
}

Task<Result<FrameBuffer>> SessionServer::dispatch(InboundCall& call) {
  const Method method = call.method();
  switch (method) {
    case Method::kOpenRails: {
      auto answer = co_await open_rails(call.body());
      co_return answer;
    }
    case Method::kGreetDoor: {
      auto answer = co_await greet_door(call.body());
      co_return answer;
    }
    case Method::kGetRegions:
      co_return get_regions(call.body());
    case Method::kQueryBlocksForTransfer: {
      auto answer = co_await query(call);
      co_return answer;
    }
    case Method::kRenewLease:
      co_return renew(call.body());
    case Method::kLaneSums:
      co_return lane_sums(call.body());
    case Method::kConfirmLease:
    case Method::kConfirmAndRelease:
    case Method::kReleaseLease:
    case Method::kQuiesceRead: {
      auto answer = co_await end_read(call);
      co_return answer;
    }
    case Method::kLookupObject:
    case Method::kOpenObject:
    case Method::kListObjects:
    case Method::kDeleteObject:
    case Method::kReadStripes: {
      auto answer = co_await serve_objects(call);
      co_return answer;
    }
    case Method::kBeginPut:
    case Method::kPutStripe:
    case Method::kCommitPut:
    case Method::kAbortPut: {
      auto answer = co_await serve_put(call);
      co_return answer;
    }
    default:
      co_return Error(Errc::kProtocol, Stage::kServe,
                      fmt::format("method {} is unknown to this node, which speaks protocol {} to "
                                  "{}",
                                  static_cast<unsigned>(method), kProtocolMin, kProtocolMax));
  }
}

Task<Result<FrameBuffer>> SessionServer::serve_put(InboundCall& call) {
  if (!puts_) co_return Error(Errc::kNotFound, Stage::kServe, "this node keeps no objects");
  auto answer = co_await puts_->serve(call);
  co_return answer;
}

Task<Result<FrameBuffer>> SessionServer::open_rails(std::span<const std::byte> body) {
  const auto asked = decode_open_rails(body);
  if (!asked.ok()) co_return asked.error();
  if (rails_open_) {
    co_return Error(Errc::kInvalidArgument, Stage::kConnect,
                    "the rails of this session are open already");
  }
  rails_open_ = true;
  rails_touched_ = true;
  const auto rails = co_await services_.rails.admit(id_);
  rails_open_ = rails.ok();
  if (!rails.ok()) co_return rails.error();
  CORAIL_CHECK(!rails->empty() && rails->size() <= kMaxRails, "a node has 1 to 64 rails");
  const auto table = services_.regions.snapshot();
  co_return encode_open_rails_answer(*rails, *table);
}

Task<Result<FrameBuffer>> SessionServer::greet_door(std::span<const std::byte> body) {
  auto asked = decode_greet_door(body);
  if (!asked.ok()) co_return std::move(asked).error();
  if (!rails_open_) {
    co_return Error(Errc::kProtocol, Stage::kConnect, "the rails of this session are not open");
  }
  const auto words = co_await services_.rails.greet(id_, asked->door, std::move(asked->words));
  if (!words.ok()) co_return words.error();
  co_return encode_greet_door_answer(*words);
}

Result<FrameBuffer> SessionServer::get_regions(std::span<const std::byte> body) {
  const auto asked = decode_get_regions(body);
  if (!asked.ok()) return asked.error();
  return encode_get_regions_answer(*services_.regions.snapshot());
}

Task<Result<FrameBuffer>> SessionServer::query(InboundCall& call) {
  const auto asked = decode_query(call.body());
  if (!asked.ok()) co_return asked.error();
  if (services_.store == nullptr) {
    co_return Error(Errc::kNotFound, Stage::kQuery, "this node holds no blocks");
  }
  if (asked->wait > Duration::zero()) {
    auto waited =
        co_await wait_for_blocks(executor_, services_.clock, *services_.store, id_, *asked, call);
    if (!waited.ok()) co_return std::move(waited).error();
    // Nobody would come to release a lease.
    if (call.cancelled()) {
      co_return Error(Errc::kCancelled, Stage::kQuery, "the caller has given up");
    }
  }
  co_return answer_query(*asked);
}

Result<FrameBuffer> SessionServer::answer_query(const QueryBlocks& asked) {
  QueryRequest request;
  request.session = id_;
  request.read = asked.read;
  request.name_space = asked.name_space;
  request.hashes = asked.hashes;
  request.ttl = asked.ttl;
  request.encoding = asked.encoding;
  const auto answer = services_.store->query_for_transfer(request);
  if (!answer.ok()) return answer.error();

  Result<FrameBuffer> frame = encode_query_answer(*answer, templates_);
  const std::uint32_t most = limits_of(Method::kQueryBlocksForTransfer).answer_bytes;
  if (answer->block_count > 0 && asked.layout_id != 0 && answer->layout->id() != asked.layout_id) {
    frame = Error(Errc::kLayoutMismatch, Stage::kQuery,
                  fmt::format("the blocks here have another layout ({} lanes, {} bytes a block) "
                              "than the one expected; both nodes must serve the same model with "
                              "the same split",
                              answer->layout->lanes(), answer->layout->block_bytes()));
  } else if (frame->body_bytes() > most) {
    frame = Error(Errc::kTooLarge, Stage::kQuery,
                  fmt::format("the answer has {} bytes, more than the {} allowed; ask for fewer "
                              "blocks at once",
                              frame->body_bytes(), most));
  }
  // Nobody would come to release a lease that was not told about.
  if (!frame.ok()) services_.store->release(id_, asked.read);
  return frame;
}

Result<FrameBuffer> SessionServer::renew(std::span<const std::byte> body) {
  const auto asked = decode_renew(body);
  if (!asked.ok()) return asked.error();
  const bool of_object = objects_ && objects_->knows(asked->read);
  if (!of_object && services_.store == nullptr) {
    return Error(Errc::kNotFound, Stage::kConfirm, "there is no such lease");
  }
  const auto ttl = of_object ? objects_->renew(asked->read, asked->ttl)
                             : services_.store->renew(id_, asked->read, asked->ttl);
  if (!ttl.ok()) return ttl.error();
  return encode_renew_answer(*ttl);
}

Result<FrameBuffer> SessionServer::lane_sums(std::span<const std::byte> body) {
  const auto asked = decode_lane_sums(body);
  if (!asked.ok()) return asked.error();
  if (services_.store == nullptr) {
    return Error(Errc::kNotFound, Stage::kServe, "there is no such lease");
  }
  auto sums = services_.store->lane_sums(id_, asked->read, asked->lanes);
  if (!sums.ok()) return sums.error();
  auto all = services_.store->lane_sums(id_, asked->read, LaneRange{});
  if (!all.ok()) return all.error();
  LaneSums answer;
  answer.sums = std::move(*sums);
  answer.rests = std::move(*all);
  for (std::size_t i = 0; i < answer.sums.size(); ++i) answer.rests[i] -= answer.sums[i];
  return encode_lane_sums_answer(answer);
}

Task<Result<FrameBuffer>> SessionServer::end_read(InboundCall& call) {
  const Method method = call.method();
  const auto read = decode_read_id(method, call.body());
  if (!read.ok()) co_return read.error();
  Result<void> ended;
  // Nothing overtakes the opening of an object, so a read that is known to neither is of blocks.
  if (objects_ && objects_->knows(*read)) {
    ended = co_await objects_->end_read(method, *read, call);
  } else {
    ended = end_blocks(method, *read);
  }
  if (!ended.ok()) co_return std::move(ended).error();
  co_return FrameBuffer();
}

Result<void> SessionServer::end_blocks(Method method, ReadId read) {
  BlockStore* const store = services_.store;
  if (method == Method::kConfirmAndRelease || method == Method::kConfirmLease) {
    if (store == nullptr) return Error(Errc::kNotFound, Stage::kConfirm, "there is no such lease");
    return method == Method::kConfirmLease ? store->confirm(id_, read)
                                           : store->confirm_and_release(id_, read);
  }
  if (store == nullptr) return ok_result();
  if (method == Method::kReleaseLease) {
    store->release(id_, read);
  } else {
    store->quiesce(id_, read);
  }
  return ok_result();
}

Task<Result<FrameBuffer>> SessionServer::serve_objects(InboundCall& call) {
  if (!objects_) co_return Error(Errc::kNotFound, Stage::kQuery, "this node holds no objects");
  auto answer = co_await objects_->serve(call);
  co_return answer;
}

}  // namespace corail
