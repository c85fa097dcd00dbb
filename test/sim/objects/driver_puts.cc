// The writers of a seed of objects, who delete as well.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/object/object_descriptor.h"
#include "test/sim/objects/driver.h"
#include "test/sim/scenario.h"

namespace corail::sim {
namespace {

/// Of a hundred puts, how many come as bytes that are there, and how many have a condition.
constexpr std::uint32_t kFromBytes = 40;
constexpr std::uint32_t kConditions = 30;
/// Pieces that a stream is written in, at most.
constexpr std::uint64_t kPieces = 6;
constexpr std::uint64_t kMostGranules = 5;

/// Empty, tiny, and around the borders of granules.
std::uint64_t draw_size(Random& random) {
  const std::uint64_t granules = random.below(kMostGranules + 1) * kGranuleBytes;
  const std::uint64_t kind = random.below(5);
  if (kind == 0) return random.below(3);
  if (kind == 1) return granules;
  if (kind == 2) return granules + 1 + random.below(9);
  if (kind == 3 && granules > 0) return granules - 1 - random.below(9);
  return draw_between(random, kTellingBytes, kMostGranules * kGranuleBytes);
}

}  // namespace

PutOrder ObjectDriver::draw_put() {
  PutOrder order;
  order.key = random_.below(kObjectKeys);
  order.size = draw_size(random_);
  order.stripe_size = kGranuleBytes * draw_between(random_, 1, 3);
  order.deadline = draw_deadline();
  if (!draw_chance(random_, kConditions)) return order;
  const auto present = setup_.model.store().present(order.key).generation;
  order.if_generation = present.value_or(ObjectGeneration(0));
  // One that does not hold.
  if (draw_chance(random_, 10)) order.if_generation = ObjectGeneration(1 + random_.below(3));
  return order;
}

Task<void> ObjectDriver::writer() {
  for (std::uint32_t i = 0; i < setup_.scenario.puts; ++i) {
    co_await pause();
    ObjectLink* const link = co_await any_link();
    if (link == nullptr) continue;
    const bool deletes = draw_chance(random_, setup_.scenario.deletes);
    if (deletes) {
      co_await delete_once(link);
    } else {
      co_await put_once(link);
    }
  }
}

Task<void> ObjectDriver::put_once(ObjectLink* link) {
  const PutOrder order = draw_put();
  const GuardedBytes& memory =
      *put_memory_.emplace_back(std::make_unique<GuardedBytes>(order.size));
  StoreModel& store = setup_.model.store();
  fill_content(memory.bytes(), store.puts() + 1, 0);
  PutRecord& put = store.begin_put(order, memory.bytes());
  setup_.model.journal().event("put {} of {} over link {}: {} bytes in stripes of {}", put.number,
                               object_key(order.key), link->number, order.size, order.stripe_size);
  PutOptions options;
  options.size = order.size;
  options.stripe_size = order.stripe_size;
  if (setup_.plant != Plant::kIgnoredCondition) options.if_generation = order.if_generation;
  options.deadline = order.deadline - setup_.world.now();
  std::unique_ptr<Timer> canceller;
  options.cancel = cancel_some_time(canceller, put.cancelled, fmt::format("put {}", put.number));
  // Few bytes do not tell whose they are, so such a put needs a name before it is committed.
  if (order.size >= kTellingBytes && draw_chance(random_, kFromBytes)) {
    co_await put_bytes(&put, &memory, link, options);
  } else {
    co_await put_stream(&put, &memory, link, options);
  }
  canceller->cancel();
}

void ObjectDriver::ended(PutRecord& put, const Result<ObjectDescriptor>& outcome,
                         ObjectLink& link) {
  observe();
  if (outcome) {
    ++counts_.saves;
    setup_.model.store().committed(put, *outcome);
  } else {
    setup_.model.store().failed(put, outcome.error());
    count_failure(outcome.error(), link);
  }
}

Task<void> ObjectDriver::put_bytes(PutRecord* put, const GuardedBytes* memory, ObjectLink* link,
                                   PutOptions options) {
  const auto peer = link->peer;
  setup_.model.store().committing(*put);
  const std::span<const std::byte> bytes = memory->bytes();
  auto outcome = co_await peer->put_object(object_key(put->order.key), bytes, options);
  memory->shut();
  ended(*put, outcome, *link);
}

Task<void> ObjectDriver::put_stream(PutRecord* put, const GuardedBytes* memory, ObjectLink* link,
                                    PutOptions options) {
  const auto peer = link->peer;
  auto stream = co_await peer->put_object(object_key(put->order.key), options);
  if (!stream) {
    memory->shut();
    ended(*put, stream.error(), *link);
    co_return;
  }
  setup_.model.store().named(*put, (*stream)->generation());
  const bool aborts = draw_chance(random_, setup_.scenario.aborts);
  std::span<const std::byte> bytes = memory->bytes();
  const bool all = !aborts || draw_chance(random_, 50);
  if (!all) bytes = bytes.first(random_.below(bytes.size() + 1));
  auto written = co_await write_pieces(stream->get(), bytes);
  // What was written is copied when the call returns.
  memory->shut();
  if (aborts || !written) {
    if (!written) count_failure(written.error(), *link);
    co_await abort(put, std::move(*stream));
    co_return;
  }
  setup_.model.store().committing(*put);
  auto outcome = co_await (*stream)->commit();
  ended(*put, outcome, *link);
}

Task<Result<void>> ObjectDriver::write_pieces(PutStream* stream, std::span<const std::byte> bytes) {
  std::uint64_t left = random_.below(kPieces);
  while (!bytes.empty()) {
    const std::size_t some = left == 0 ? bytes.size() : random_.below(bytes.size() + 1);
    if (left > 0) --left;
    auto written = co_await stream->write(bytes.first(some));
    if (!written) co_return written;
    bytes = bytes.subspan(some);
    if (draw_chance(random_, 20)) co_await pause();
  }
  co_return ok_result();
}

Task<void> ObjectDriver::abort(PutRecord* put, std::unique_ptr<PutStream> stream) {
  if (setup_.plant == Plant::kCommitsAborted && holder_up_) {
    [[maybe_unused]] const auto planted =
        co_await holders_.back()->store().commit_put(stream->generation());
  }
  // Whoever lets go of the stream aborts it as well, without waiting.
  const bool waits = draw_chance(random_, 70);
  if (waits) co_await stream->abort();
  setup_.model.store().aborted(*put);
  stream.reset();
  if (waits) co_return;
  // Nobody says when it has ended: by then it has.
  const Duration enough = setup_.scenario.user.options.call_deadline * 2;
  put->ended = false;
  put->order.deadline = std::max(put->order.deadline, setup_.world.now() + enough);
  co_await sleep(enough);
  put->ended = true;
}

Task<void> ObjectDriver::delete_once(ObjectLink* link) {
  const std::size_t key = random_.below(kObjectKeys);
  std::optional<ObjectGeneration> condition;
  if (draw_chance(random_, kConditions)) condition = setup_.model.store().present(key).generation;
  const auto peer = link->peer;
  DeleteRecord& erased = setup_.model.store().begin_delete(key, condition);
  setup_.model.journal().event("{} is to be deleted", object_key(key));
  auto outcome = co_await peer->delete_object(object_key(key), condition);
  observe();
  setup_.model.store().deleted(erased, outcome);
  if (!outcome) count_failure(outcome.error(), *link);
}

}  // namespace corail::sim
