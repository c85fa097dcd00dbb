// The readers of a seed of objects.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/object/object_descriptor.h"
#include "test/sim/objects/driver.h"
#include "test/sim/scenario.h"

namespace corail::sim {
namespace {

/// Of a hundred reads, how many are of ranges, of snapshots, wait between lookup and read, have
/// memory for a copy, and how many calls only list what there is.
constexpr std::uint32_t kByRanges = 40;
constexpr std::uint32_t kSnapshots = 30;
constexpr std::uint32_t kLater = 30;
constexpr std::uint32_t kCopies = 20;
constexpr std::uint32_t kLists = 10;
constexpr std::uint64_t kRanges = 3;
/// How many calls for each read of an object that is there.
constexpr std::uint32_t kTries = 5;
constexpr std::uint64_t kCopySeed = 0xBEEF;

std::vector<ObjectRange> draw_ranges(Random& random, std::uint64_t size) {
  std::vector<ObjectRange> ranges;
  std::uint64_t at = 0;
  const std::uint64_t count = draw_between(random, 1, kRanges);
  for (std::uint64_t i = 0; i < count && at < size; ++i) {
    ObjectRange range;
    range.offset = at + random.below(size - at);
    range.length = draw_between(random, 1, size - range.offset);
    // Short ones leave room for the next.
    if (draw_chance(random, 60)) range.length = std::min<std::uint64_t>(range.length, 5000);
    at = range.offset + range.length;
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

Task<void> ObjectDriver::reader() {
  std::uint32_t left = setup_.scenario.reads;
  for (std::uint32_t i = 0; left > 0 && i < setup_.scenario.reads * kTries; ++i) {
    co_await pause();
    ObjectLink* const link = co_await any_link();
    if (link == nullptr) continue;
    const bool lists = draw_chance(random_, kLists);
    if (lists) {
      co_await list_once(link);
    } else {
      const bool was_there = co_await read_once(link);
      if (was_there) --left;
    }
  }
}

Task<void> ObjectDriver::list_once(ObjectLink* link) {
  const TimePoint asked = setup_.world.now();
  const auto peer = link->peer;
  const ListObjectsRequest page;
  auto listed = co_await peer->list_objects(page);
  observe();
  if (!listed) {
    count_failure(listed.error(), *link);
    co_return;
  }
  for (std::size_t key = 0; key < kObjectKeys; ++key) {
    std::optional<ObjectGeneration> generation;
    for (const ObjectSummary& summary : *listed) {
      if (summary.key == object_key(key)) generation = summary.generation;
    }
    setup_.model.on_lookup(key, generation, asked);
  }
}

Task<std::optional<ObjectDescriptor>> ObjectDriver::look_up(std::size_t key, ObjectLink* link) {
  const TimePoint asked = setup_.world.now();
  const auto peer = link->peer;
  auto found = co_await peer->lookup_object(object_key(key));
  observe();
  if (found) {
    setup_.model.on_lookup(key, found->generation, asked);
    co_return std::move(*found);
  }
  if (found.error().code() == Errc::kNotFound) setup_.model.on_lookup(key, std::nullopt, asked);
  count_failure(found.error(), *link);
  co_return std::nullopt;
}

ReadObjectOptions ObjectDriver::draw_read(ObjectReadOrder& order, const ObjectLink& link) {
  if (order.size > 0 && draw_chance(random_, kByRanges)) {
    order.ranges = draw_ranges(random_, order.size);
  }
  order.strict = !draw_chance(random_, kSnapshots);
  // Half of the reads go without checksums, so that those do not hide what else is wrong.
  order.verified = draw_chance(random_, 50) || link.must_verify;
  order.deadline = draw_deadline();
  ReadObjectOptions options;
  options.ranges = order.ranges;
  options.mode = draw_chance(random_, 50) ? ObjectMode::kPush : ObjectMode::kAuto;
  const bool strict = order.strict && setup_.plant != Plant::kStaleStrict;
  options.consistency = strict ? ObjectConsistency::kStrict : ObjectConsistency::kSnapshot;
  options.integrity = order.verified ? Integrity::kXxh3 : Integrity::kNone;
  options.deadline = order.deadline - setup_.world.now();
  options.retry_on_survivors = draw_chance(random_, 30);
  constexpr std::string_view kSchedulers[] = {kLeastLoaded, "round_robin", "locality"};
  options.scheduler = kSchedulers[random_.below(3)];
  return options;
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
/// False where there is no such object.
Task<bool> ObjectDriver::read_once(ObjectLink* link) {
  const std::size_t key = random_.below(kObjectKeys);
  auto object = co_await look_up(key, link);
  if (!object) co_return false;
  if (draw_chance(random_, kLater)) co_await pause();
  const auto peer = link->peer;
  if (link->retired || !peer) co_return true;
  ObjectReadOrder order;
  order.key = key;
  order.generation = object->generation;
  order.size = object->size;
  ReadObjectOptions options = draw_read(order, *link);
  std::unique_ptr<LeftAlone> copy;
  if (order.size > 0 && draw_chance(random_, kCopies)) {
    copy = std::make_unique<LeftAlone>();
    copy->memory.resize(order.size);
    copy->canary = std::make_unique<test::Canary>(copy->memory, kCopySeed);
    options.copy_on_commit = std::span<std::byte>(copy->memory);
  }
  ObjectReadRecord& read =
      setup_.model.begin_read(link->number, ReadId(link->next_read++), std::move(order));
  setup_.model.journal().event("read {} over link {}: generation {} of {}{}{}", read.number,
                               link->number, object->generation.value(), object_key(key),
                               read.order.strict ? ", strict" : "",
                               read.order.verified ? ", verified" : "");
  ++counts_.fetches;
  std::unique_ptr<Timer> canceller;
  options.cancel = cancel_some_time(canceller, read.cancelled, fmt::format("read {}", read.number));
  auto view = co_await peer->read_by_descriptor(std::move(*object), options);
  canceller->cancel();
  counts_.pushes += read.posted.pushed;
  observe();
  if (!view) {
    setup_.model.on_failure(read, view.error());
    if (copy) keep_alone(std::move(copy), read);
    count_failure(view.error(), *link);
    co_return true;
  }
  ++counts_.successes;
  counts_.bytes += view->size();
  if (copy) check_copy(*copy, read, *view);
  co_await hold(&read, std::move(*view));
  co_return true;
}
#pragma GCC diagnostic pop

void ObjectDriver::check_copy(const LeftAlone& copy, const ObjectReadRecord& read,
                              const ObjectView& view) {
  std::size_t at = 0;
  for (const ObjectView::Piece& piece : view.pieces()) {
    const std::span<const std::byte> copied =
        std::span<const std::byte>(copy.memory).subspan(at, piece.bytes.size());
    at += piece.bytes.size();
    if (std::equal(copied.begin(), copied.end(), piece.bytes.begin())) continue;
    return setup_.model.journal().violate(
        3, fmt::format("the copy of read {} is not what its view is", read.number));
  }
}

/// From now on nobody but its owner writes there.
void ObjectDriver::keep_alone(std::unique_ptr<LeftAlone> copy, const ObjectReadRecord& read) {
  copy->read = read.number;
  if (setup_.plant == Plant::kLateCopy) copy->memory.back() ^= std::byte{1};
  left_alone_.push_back(std::move(copy));
}

Task<void> ObjectDriver::hold(ObjectReadRecord* read, ObjectView view) {
  setup_.model.on_success(*read, view);
  HeldView held;
  held.read = read;
  held.view = &view;
  held_[&view] = held;
  co_await pause();
  setup_.model.check_view(*read, view);
  held_.erase(&view);
  view = ObjectView();
  setup_.model.on_let_go(*read);
}

}  // namespace corail::sim
