#include "test/sim/model.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace corail::sim {
namespace {

/// What the control traffic of a read may cost besides its answer, in bytes (I10): the query but
/// for its hashes, confirm, quiesce, release, cancel, errors.
constexpr std::uint64_t kControlOfRead = 2048;
constexpr std::uint64_t kControlOfHash = 32;

}  // namespace

Model::Model(Journal& journal, const Clock& clock, std::shared_ptr<const Layout> layout,
             std::size_t nodes)
    : journal_(journal), clock_(clock), layout_(std::move(layout)), regions_(nodes) {
  for (std::size_t node = 0; node < nodes; ++node) {
    content_.push_back(std::make_unique<HeldContent>(node));
    destinations_.push_back(std::make_unique<DestinationMap>(journal_));
  }
}

void Model::publish(std::size_t node, std::span<const Region> regions) {
  for (const Region& region : regions) regions_[node].emplace(region.id.value(), region);
}

std::uint64_t Model::region_bytes(std::size_t node, RegionId region) const {
  const auto found = regions_[node].find(region.value());
  return found == regions_[node].end() ? 0 : found->second.length;
}

FetchRecord& Model::begin(std::size_t link, ReadId read, EpochNumber epoch, FetchOrder order) {
  FetchRecord& fetch = fetches_.emplace_back();
  fetch.number = fetches_.size();
  fetch.node = links_[link].node;
  fetch.holder = links_[link].holder;
  fetch.link = link;
  fetch.read = read;
  fetch.epoch = epoch;
  wire_of(link).allowance += kControlOfRead + kControlOfHash * order.blocks.size();
  fetch.order = std::move(order);
  fetch.begin = clock_.now();
  by_read_[{link, read.value(), epoch.value()}] = &fetch;
  return fetch;
}

FetchRecord& Model::begin_fetch(std::size_t link, ReadId read, FetchOrder order) {
  return begin(link, read, kWholeRead, std::move(order));
}

FetchRecord& Model::begin_lease(std::size_t link, ReadId read, FetchOrder order) {
  return begin(link, read, kLeaseItself, std::move(order));
}

FetchRecord& Model::begin_range(const FetchRecord& lease, EpochNumber epoch, FetchOrder order) {
  FetchRecord& fetch = begin(lease.link, lease.read, epoch, std::move(order));
  fetch.shares_lease = true;
  fetch.begin = lease.begin;  // its blocks are those that the query found
  fetch.leased = lease.leased;
  fetch.leased_by = lease.leased_by;
  fetch.lease_ends = lease.lease_ends;
  return fetch;
}

FetchRecord* Model::find(std::size_t link, ReadContext context) {
  const auto found = by_read_.find({link, context.read.value(), context.epoch.value()});
  return found == by_read_.end() ? nullptr : found->second;
}

std::vector<FetchRecord*> Model::all_of(std::size_t link, ReadId read) {
  std::vector<FetchRecord*> all;
  auto next = by_read_.lower_bound({link, read.value(), 0});
  for (; next != by_read_.end() && is_of(next->first, link, read); ++next) {
    all.push_back(next->second);
  }
  return all;
}

LaneRange Model::lanes_of(const FetchRecord& fetch) const noexcept {
  return {fetch.order.lanes.begin, std::min(fetch.order.lanes.end, layout_->lanes())};
}

std::uint64_t Model::needed_bytes(const FetchRecord& fetch, std::uint64_t blocks) const noexcept {
  const LaneRange lanes = lanes_of(fetch);
  std::uint64_t bytes = 0;
  for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
    bytes += layout_->lane_bytes()[lane];
  }
  return bytes * blocks;
}

void Model::on_confirm_sent(std::size_t link, ReadId read, bool whole) {
  for (FetchRecord* const fetch : all_of(link, read)) {
    if (fetch->ended || fetch->epoch == kLeaseItself || fetch->shares_lease == whole) continue;
    if (fetch->shares_lease && (fetch->confirm_sent || fetch->in_flight > 0)) continue;
    const std::uint64_t a_block = needed_bytes(*fetch, 1);
    if (fetch->shares_lease && (fetch->landed == 0 || fetch->landed % a_block != 0)) continue;
    journal_.event("confirm of fetch {} sent", fetch->number);
    fetch->confirm_sent = clock_.now();
  }
}

void Model::check_place(const FetchRecord& fetch, const Slice& slice) {
  const auto& known = regions_[fetch.holder];
  const auto region = known.find(slice.region.value());
  const bool inside = region != known.end() && slice.remote_offset < region->second.length &&
                      slice.length <= region->second.length - slice.remote_offset;
  if (inside || wire_of(fetch.link).corrupt) return;
  journal_.violate(
      4, fmt::format("fetch {} posted {} bytes at {} of region {}, across its border", fetch.number,
                     slice.length, slice.remote_offset, slice.region.value()));
}

void Model::on_post(RailRecord& rail, ReadContext context, const Slice& slice) {
  journal_.event("post link {} read {} region {} offset {} bytes {}", rail.link,
                 context.read.value(), slice.region.value(), slice.remote_offset, slice.length);
  rail.in_flight += slice.length;
  if (rail.in_flight > rail.window) {
    journal_.violate(8, fmt::format("a rail of link {} has {} bytes in flight, its window is {}",
                                    rail.link, rail.in_flight, rail.window));
  }
  FetchRecord* fetch = find(rail.link, context);
  if (fetch == nullptr || fetch->ended) {
    return journal_.violate(5, fmt::format("read {} of link {} posts a slice, but does not run",
                                           context.read.value(), rail.link));
  }
  check_place(*fetch, slice);
  const FetchRecord::Place place(slice.region.value(), slice.remote_offset);
  const auto next = fetch->posted.upper_bound(place);
  const auto same_region = [&](auto entry) { return entry->first.first == place.first; };
  bool twice = next != fetch->posted.end() && same_region(next) &&
               next->first.second < place.second + slice.length;
  if (next != fetch->posted.begin()) {
    const auto before = std::prev(next);
    twice = twice ||
            (same_region(before) && before->first.second + before->second.bytes > place.second);
  }
  if (twice) {
    journal_.violate(3, fmt::format("fetch {} posts bytes at {} of region {} a second time",
                                    fetch->number, place.second, place.first));
  }
  FetchRecord::Posted& posted = fetch->posted[place];
  posted.bytes = slice.length;
  posted.destination = slice.destination;
  ++fetch->in_flight;
  destinations(fetch->node).posted(slice.destination, slice.length, fetch->number);
}

void Model::check_served(const FetchRecord& fetch, const FetchRecord::Admitted& admitted,
                         const Slice& slice, std::uint64_t from, std::uint64_t to, bool lies) {
  const std::byte* const was = admitted.copy.data() + from;
  if (std::memcmp(was, admitted.bytes.data() + from, to - from) != 0) {
    journal_.violate(
        6, fmt::format("bytes served to fetch {} changed before they had landed", fetch.number));
  } else if (!lies && std::memcmp(was, slice.destination + from, to - from) != 0) {
    journal_.violate(3, fmt::format("a slice of fetch {} landed without its bytes", fetch.number));
  }
}

void Model::on_landed(const RailRecord& rail, ReadContext context, const Slice& slice,
                      std::uint64_t from, std::uint64_t to) {
  const FetchRecord* fetch = find(rail.link, context);
  if (fetch == nullptr) return;
  const auto admitted = fetch->admitted.find({slice.region.value(), slice.remote_offset});
  if (admitted == fetch->admitted.end()) {
    return journal_.violate(
        5, fmt::format("fetch {} was served without the holder's gate", fetch->number));
  }
  check_served(*fetch, admitted->second, slice, from, to, rail.lies);
}

void Model::on_outcome(RailRecord& rail, ReadContext context, const Slice& slice,
                       const Result<void>& outcome) {
  journal_.event("outcome link {} read {} region {} offset {}: {}", rail.link, context.read.value(),
                 slice.region.value(), slice.remote_offset,
                 outcome.ok() ? std::string_view("landed") : to_string(outcome.error().code()));
  rail.in_flight -= slice.length;
  FetchRecord* fetch = find(rail.link, context);
  if (fetch == nullptr) return;
  const FetchRecord::Place place(slice.region.value(), slice.remote_offset);
  --fetch->in_flight;
  destinations(fetch->node).ended(slice.destination, slice.length, fetch->number);
  const auto admitted = fetch->admitted.find(place);
  if (outcome.ok()) {
    fetch->landed += slice.length;
    if (admitted == fetch->admitted.end()) {
      journal_.violate(5,
                       fmt::format("fetch {} was served without the holder's gate", fetch->number));
    } else {
      check_served(*fetch, admitted->second, slice, 0, slice.length, rail.lies);
    }
  } else {
    fetch->posted.erase(place);
    if (admitted != fetch->admitted.end()) fetch->admitted_bytes -= slice.length;
  }
  if (admitted != fetch->admitted.end()) fetch->admitted.erase(admitted);
}

void Model::on_admit(std::size_t holder, SessionId session, ReadContext context, RegionId region,
                     std::uint64_t offset, std::span<const std::byte> bytes) {
  const auto link = std::find_if(links_.begin(), links_.end(), [&](const LinkRecord& record) {
    return record.holder == holder && record.session == session;
  });
  FetchRecord* fetch = nullptr;
  if (link != links_.end()) {
    fetch = find(static_cast<std::size_t>(link - links_.begin()), context);
  }
  if (fetch == nullptr) {
    return journal_.violate(5, fmt::format("read {} of session {} was admitted, but never began",
                                           context.read.value(), session.value()));
  }
  const auto lease = leases_.find({fetch->link, context.read.value()});
  const bool live = lease != leases_.end() && clock_.now() < lease->second.ends &&
                    (!lease->second.over || clock_.now() <= *lease->second.over);
  if (!live) {
    return journal_.violate(
        5, fmt::format("fetch {} was admitted without a live lease", fetch->number));
  }
  const auto wrong = content(holder).complaint(bytes, lease->second.asked);
  if (wrong) {
    journal_.violate(5, fmt::format("fetch {} was admitted to what it must not have: {}",
                                    fetch->number, *wrong));
  }
  FetchRecord::Admitted admitted;
  admitted.bytes = bytes;
  admitted.copy.assign(bytes.begin(), bytes.end());
  fetch->admitted[{region.value(), offset}] = std::move(admitted);
  fetch->admitted_bytes += bytes.size();
}

void Model::on_query(std::size_t link, ReadId read, const HolderLease& lease) {
  FetchRecord* fetch = find(link, read);
  const auto [entry, added] = leases_.emplace(ReadKey(link, read.value()), lease);
  if (added) {
    if (fetch == nullptr) return;
    fetch->leased = lease.granted;
    fetch->leased_by = lease.granted_by;
    fetch->lease_ends = lease.ends;
    return;
  }
  // A flipped bit made the number of one read that of another: whichever of the two queries found
  // something has the lease.
  entry->second.asked.insert(lease.asked.begin(), lease.asked.end());
  entry->second.granted = lease.granted;
  entry->second.granted_by = lease.granted_by;
  entry->second.ends = lease.ends;
}

void Model::on_renewal(std::size_t link, ReadId read, Duration ttl) {
  const auto lease = leases_.find({link, read.value()});
  // What has lapsed or was given back stays so.
  if (lease == leases_.end() || lease->second.over || clock_.now() >= lease->second.ends) return;
  lease->second.ends = std::max(lease->second.ends, clock_.now() + ttl);
  for (FetchRecord* const fetch : all_of(link, read)) fetch->lease_ends = lease->second.ends;
}

void Model::on_lease_over(std::size_t link, ReadId read, bool remembered) {
  const ReadKey key(link, read.value());
  if (!remembered && !leases_.contains(key)) return;
  HolderLease& lease = leases_[key];
  if (!lease.over) lease.over = clock_.now();
}

void Model::check_deadlines() {
  for (const FetchRecord& fetch : fetches_) {
    if (fetch.ended || clock_.now() <= fetch.order.deadline + grace_) continue;
    journal_.violate(8, fmt::format("fetch {} still runs, {} ns after its deadline", fetch.number,
                                    (clock_.now() - fetch.order.deadline).count()));
  }
}

}  // namespace corail::sim
