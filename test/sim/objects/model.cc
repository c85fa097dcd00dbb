#include "test/sim/objects/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "rpc/put_messages.h"

namespace corail::sim {
namespace {

/// The region that pushed slices are told apart by: their offsets count in the object itself.
constexpr std::uint64_t kObjectItself = ~std::uint64_t{0};
/// Memory of pulls is numbered from here on, that of reads below.
constexpr std::uint64_t kFirstPull = 1'000'000;

PostedSlices::Place place_of(const Slice& slice) {
  return {slice.pushed ? kObjectItself : slice.region.value(), slice.remote_offset};
}

bool overlaps(const PostedSlices& posted, PostedSlices::Place place, std::uint64_t bytes) {
  const auto next = posted.slices.lower_bound(place);
  if (next != posted.slices.end() && next->first.first == place.first &&
      next->first.second < place.second + bytes) {
    return true;
  }
  if (next == posted.slices.begin()) return false;
  const auto before = std::prev(next);
  return before->first.first == place.first && before->first.second + before->second > place.second;
}

}  // namespace

/// Bytes that a door is sending: what they were, and the right to them.
class ObjectModel::Served {
 public:
  Served(ObjectModel& model, const PinnedBytes& served)
      : model_(model), bytes_(served), was_(served.bytes.begin(), served.bytes.end()) {
    ++model_.serving_;
  }
  ~Served() {
    --model_.serving_;
    if (std::memcmp(was_.data(), bytes_.bytes.data(), was_.size()) == 0) return;
    model_.journal_.violate(
        6, fmt::format("{} bytes changed while they were being sent", was_.size()));
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

 private:
  ObjectModel& model_;
  const PinnedBytes bytes_;
  const std::vector<std::byte> was_;
};

ObjectModel::ObjectModel(Journal& journal, const Clock& clock, Duration read_grace,
                         Duration put_grace)
    : journal_(journal),
      clock_(clock),
      read_grace_(read_grace),
      put_grace_(put_grace),
      store_(journal, clock) {
  for (auto& destinations : destinations_) destinations = std::make_unique<DestinationMap>(journal);
}

ObjectModel::~ObjectModel() = default;

ObjectReadRecord* ObjectModel::find(std::size_t link, ReadId read) {
  const auto found = by_read_.find({link, read.value()});
  return found == by_read_.end() ? nullptr : found->second;
}

std::size_t ObjectModel::node_of(ReadContext context) const noexcept {
  return is_put_read(context.read) ? kHolder : kUser;
}

PostedSlices* ObjectModel::posted_of(const RailRecord& rail, ReadContext context) {
  if (is_put_read(context.read)) {
    const auto [entry, added] = pulls_.try_emplace(context.read.value());
    if (added) entry->second.number = kFirstPull + pulls_.size();
    return &entry->second;
  }
  ObjectReadRecord* const read = find(rail.link, context.read);
  return read == nullptr ? nullptr : &read->posted;
}

void ObjectModel::on_post(RailRecord& rail, ReadContext context, const Slice& slice) {
  journal_.event("post link {} read {:x}{} offset {} bytes {}", rail.link, context.read.value(),
                 slice.pushed ? " pushed" : "", slice.remote_offset, slice.length);
  rail.in_flight += slice.length;
  if (rail.in_flight > rail.window && rail.in_flight > slice.length) {
    journal_.violate(8, fmt::format("a rail of link {} has {} bytes in flight, its window is {}",
                                    rail.link, rail.in_flight, rail.window));
  }
  PostedSlices* const posted = posted_of(rail, context);
  const ObjectReadRecord* const read =
      is_put_read(context.read) ? nullptr : find(rail.link, context.read);
  if (posted == nullptr || (read != nullptr && read->ended)) {
    return journal_.violate(5, fmt::format("read {:x} of link {} posts a slice, but does not run",
                                           context.read.value(), rail.link));
  }
  if (overlaps(*posted, place_of(slice), slice.length)) {
    journal_.violate(3, fmt::format("read {:x} of link {} posts bytes at {} a second time",
                                    context.read.value(), rail.link, slice.remote_offset));
  }
  posted->slices[place_of(slice)] = slice.length;
  ++posted->in_flight;
  if (slice.pushed) ++posted->pushed;
  destinations(node_of(context)).posted(slice.destination, slice.length, posted->number);
}

void ObjectModel::on_landed(const RailRecord& rail, ReadContext context, const Slice& /*slice*/,
                            std::uint64_t /*from*/, std::uint64_t /*to*/) {
  const ObjectReadRecord* const read =
      is_put_read(context.read) ? nullptr : find(rail.link, context.read);
  if (read == nullptr || !read->ended) return;
  journal_.violate(1, fmt::format("bytes of read {} landed after it had returned", read->number));
}

void ObjectModel::on_outcome(RailRecord& rail, ReadContext context, const Slice& slice,
                             const Result<void>& outcome) {
  journal_.event("outcome link {} read {:x} offset {}: {}", rail.link, context.read.value(),
                 slice.remote_offset,
                 outcome.ok() ? std::string_view("landed") : to_string(outcome.error().code()));
  rail.in_flight -= slice.length;
  PostedSlices* const posted = posted_of(rail, context);
  if (posted == nullptr) return;
  --posted->in_flight;
  destinations(node_of(context)).ended(slice.destination, slice.length, posted->number);
  if (outcome.ok()) {
    posted->landed += slice.length;
  } else {
    posted->slices.erase(place_of(slice));
  }
}

Pin ObjectModel::on_serve(std::size_t node, const PinnedBytes& served) {
  check_source(node, served.bytes);
  return Pin(std::make_shared<const Served>(*this, served));
}

void ObjectModel::check_source(std::size_t node, std::span<const std::byte> bytes) {
  if (bytes.size() < kTellingBytes) return;
  const auto origin = origin_of(bytes, store_.puts());
  if (!origin || first_wrong(bytes, origin->put, origin->offset)) {
    return journal_.violate(
        5, fmt::format("node {} serves {} bytes that nobody put", node, bytes.size()));
  }
  const PutRecord& put = store_.put(origin->put);
  if (node == kUser && put.ended) {
    journal_.violate(1, fmt::format("memory of put {} was read after it had returned", put.number));
  }
  if (node == kHolder && !put.seen) {
    journal_.violate(
        2, fmt::format("bytes of put {} are served, which was never committed", put.number));
  }
}

void ObjectModel::on_opened(std::size_t link, ReadId read, Duration ttl) {
  ObjectReadRecord* const record = find(link, read);
  if (record == nullptr || record->leased) return;
  record->leased = now();
  record->lease_ends = now() + ttl;
}

void ObjectModel::on_renewed(std::size_t link, ReadId read, Duration ttl) {
  ObjectReadRecord* const record = find(link, read);
  // What has lapsed stays so.
  if (record == nullptr || !record->leased || now() >= record->lease_ends) return;
  record->lease_ends = std::max(record->lease_ends, now() + ttl);
}

void ObjectModel::on_confirm_sent(std::size_t link, ReadId read) {
  ObjectReadRecord* const record = find(link, read);
  if (record != nullptr && !record->confirm_sent) record->confirm_sent = now();
}

void ObjectModel::on_confirm_heard(std::size_t link, ReadId read) {
  ObjectReadRecord* const record = find(link, read);
  if (record != nullptr && !record->confirm_heard) record->confirm_heard = now();
}

}  // namespace corail::sim
