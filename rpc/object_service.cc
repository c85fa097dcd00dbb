#include "rpc/object_service.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "engine/object/descriptor_check.h"
#include "rpc/object_codec.h"

namespace corail {
namespace {

/// Reads that orders may be for; beyond them those are forgotten whose lease is no more. More than
/// the leases that a requester may have, so that this is seldom.
constexpr std::size_t kForgetReads = 256;

/// What the reader may order at once of stripes in memory: as much as a stripe may have.
constexpr std::uint64_t kNoStaging = kMaxStripeBytes;

Result<std::vector<std::uint64_t>> checksums_of(const StripingInfo& info,
                                                const std::vector<std::uint32_t>& stripes) {
  std::vector<std::uint64_t> granules;
  for (const std::uint32_t stripe : stripes) {
    const auto& chunks = info.object.chunks;
    if (stripe >= chunks.size() || chunks[stripe].node != info.home) {
      return Error(Errc::kInvalidArgument, Stage::kQuery,
                   fmt::format("stripe {} of '{}' is not on this node", stripe, info.object.key));
    }
    for (const Checksum64 granule : granules_of_stripe(info, stripe)) {
      granules.push_back(granule.value());
    }
  }
  return granules;
}

}  // namespace

ObjectService::ObjectService(const asio::any_io_executor& executor, Clock& clock,
                             const RegionRegistry& regions, RailHost& rails,
                             const ObjectServices& objects, SessionId session)
    : regions_(regions),
      objects_(objects),
      session_(session),
      pushes_(executor, clock, objects, rails, session) {}

Task<Result<FrameBuffer>> ObjectService::serve(InboundCall& call) {
  switch (call.method()) {
    case Method::kLookupObject:
      co_return lookup(call.body());
    case Method::kOpenObject:
      co_return open(call.body());
    case Method::kListObjects:
      co_return list(call.body());
    case Method::kDeleteObject: {
      auto answer = co_await erase(call.body());
      co_return answer;
    }
    default:
      break;
  }
  auto order = decode_read_stripes(call.body());
  if (!order.ok()) co_return std::move(order).error();
  auto answer = co_await pushes_.serve(call, *order);
  co_return answer;
}

Result<FrameBuffer> ObjectService::lookup(std::span<const std::byte> body) {
  const auto key = decode_lookup_object(body);
  if (!key.ok()) return key.error();
  const auto info = objects_.store.lookup(*key);
  if (!info.ok()) return info.error();
  return encode_descriptor((*info)->object);
}

/// Without an await, so that the release of the read cannot overtake it.
Result<FrameBuffer> ObjectService::open(std::span<const std::byte> body) {
  const auto asked = decode_open_object(body);
  if (!asked.ok()) return asked.error();
  if (pushes_.reads() >= kForgetReads) pushes_.forget_lapsed();
  const Freshness freshness = asked->snapshot ? Freshness::kSnapshot : Freshness::kCurrent;
  auto opened = objects_.gate.open(session_, asked->read, asked->key, asked->generation, freshness,
                                   asked->ttl);
  if (!opened.ok()) return std::move(opened).error();
  OpenObjectAnswer answer;
  answer.ttl = opened->ttl;
  answer.in_memory = opened->places.in_memory;
  answer.most_pushed = objects_.staging == nullptr || answer.in_memory
                           ? kNoStaging
                           : objects_.staging->buffer_bytes();
  auto granules = checksums_of(*opened->info, asked->granules_of);
  if (!granules.ok()) {
    // Nobody would come to release a lease that was not told about.
    objects_.gate.release(session_, asked->read);
    return std::move(granules).error();
  }
  answer.granules = std::move(*granules);
  if (asked->want_addresses && answer.in_memory) {
    answer.addresses.reserve(opened->places.stripes.size());
    for (const StripeMemory& stripe : opened->places.stripes) {
      answer.addresses.push_back(stripe.address());
    }
  }
  answer.regions = regions_.snapshot()->generation();
  pushes_.open(asked->read, std::move(opened->info), answer.in_memory);
  return encode_open_object_answer(answer);
}

Result<FrameBuffer> ObjectService::list(std::span<const std::byte> body) {
  const auto asked = decode_list_objects(body);
  if (!asked.ok()) return asked.error();
  const auto objects = objects_.store.list(asked->prefix, asked->after, asked->most);
  return encode_list_objects_answer(objects);
}

Task<Result<FrameBuffer>> ObjectService::erase(std::span<const std::byte> body) {
  auto asked = decode_delete_object(body);
  if (!asked.ok()) co_return std::move(asked).error();
  const auto deleted = co_await objects_.store.erase(std::move(asked->key), asked->if_generation);
  if (!deleted.ok()) co_return deleted.error();
  co_return encode_delete_object_answer(*deleted);
}

Result<Duration> ObjectService::renew(ReadId read, Duration ttl) {
  return objects_.gate.renew(session_, read, ttl);
}

Task<Result<void>> ObjectService::end_read(Method method, ReadId read, InboundCall& call) {
  if (method == Method::kConfirmLease) {
    co_return objects_.gate.confirm(session_, read);
  }
  if (method == Method::kConfirmAndRelease) {
    // The reader was quiescent by its own fences before it asked, so only who gives up waits: what
    // is under way over a rail that it has lost would keep a read that is complete.
    auto confirmed = objects_.gate.confirm(session_, read);
    pushes_.forget(read);
    objects_.gate.release(session_, read);
    co_return confirmed;
  }
  objects_.gate.quiesce(session_, read);
  auto quiet = co_await pushes_.quiesce(read, call);
  if (method != Method::kQuiesceRead) {
    pushes_.forget(read);
    objects_.gate.release(session_, read);
  }
  co_return quiet;
}

Task<void> ObjectService::end() {
  co_await pushes_.end();
  objects_.gate.drop_session(session_);
}

}  // namespace corail
