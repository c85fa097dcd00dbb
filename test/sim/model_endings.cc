// How fetches may end: the part of the model that holds results against what was seen.

#include <algorithm>
#include <iterator>
#include <map>

#include "test/sim/model.h"

namespace corail::sim {

void Model::check_ended(FetchRecord& fetch) {
  fetch.ended = true;
  if (clock_.now() > fetch.order.deadline + grace_) {
    journal_.violate(8, fmt::format("fetch {} ended {} ns after its deadline", fetch.number,
                                    (clock_.now() - fetch.order.deadline).count()));
  }
  if (!fetch.shares_lease) check_lease_left(fetch);
}

void Model::on_leased(FetchRecord& lease) {
  journal_.event("fetch {} has its lease", lease.number);
  lease.ended = true;
}

void Model::on_lease_closed(const FetchRecord& lease) {
  journal_.event("fetch {} has closed its lease", lease.number);
  check_lease_left(lease);
}

void Model::check_lease_left(const FetchRecord& fetch) {
  if (!wire_of(fetch.link).faithful) return;
  const auto lease = leases_.find({fetch.link, fetch.read.value()});
  if (lease == leases_.end() || lease->second.over) return;
  journal_.violate(8, fmt::format("fetch {} returned and left its lease behind", fetch.number));
}

void Model::on_failure(FetchRecord& fetch, const Error& error) {
  journal_.event("fetch {} failed: {}", fetch.number, error.to_string());
  check_ended(fetch);
  const bool out_of_time = error.code() == Errc::kDeadline || error.code() == Errc::kLeaseExpired;
  if (wire_of(fetch.link).faithful && fetch.order.renewable && out_of_time &&
      clock_.now() < fetch.order.deadline) {
    journal_.violate(9, fmt::format("fetch {} was given up {} ns before its deadline, although its "
                                    "lease could be renewed",
                                    fetch.number, (fetch.order.deadline - clock_.now()).count()));
  }
  DestinationMap& destination = destinations(fetch.node);
  if (error.code() == Errc::kStuck) return destination.quarantine(fetch.number);
  if (error.code() == Errc::kUnset) {
    journal_.violate(2, fmt::format("fetch {} ended with a result that nobody set: {}",
                                    fetch.number, error.to_string()));
  }
  if (fetch.in_flight > 0) {
    journal_.violate(6, fmt::format("fetch {} returned with {} slices in flight", fetch.number,
                                    fetch.in_flight));
  }
  destination.give_back(fetch.number);
}

void Model::on_success(FetchRecord& fetch, const BlockView& view) {
  journal_.event("fetch {} succeeded: {} of {} blocks, {} bytes", fetch.number, view.blocks(),
                 fetch.order.blocks.size(), view.bytes());
  check_ended(fetch);
  // A cancel at the very instant of the return may have come after it.
  if (fetch.cancelled && *fetch.cancelled < clock_.now()) {
    journal_.violate(2,
                     fmt::format("fetch {} succeeded although it had been cancelled {} ns before",
                                 fetch.number, (clock_.now() - *fetch.cancelled).count()));
  }
  destinations(fetch.node).hold(fetch.number);
  check_counts(fetch, view);
  check_lease(fetch);
  if (view.blocks() > fetch.order.blocks.size() || view.blocks() == 0) {
    return journal_.violate(3, fmt::format("fetch {} asked for {} blocks and got {}", fetch.number,
                                           fetch.order.blocks.size(), view.blocks()));
  }
  check_chunks(fetch, view);
  check_view(fetch, view);
}

void Model::check_lease(const FetchRecord& fetch) {
  if (wire_of(fetch.link).corrupt) return;
  if (!fetch.leased || !fetch.confirm_sent) {
    return journal_.violate(9, fmt::format("fetch {} was never {}", fetch.number,
                                           fetch.leased ? "confirmed" : "leased"));
  }
  if (*fetch.confirm_sent < fetch.lease_ends) return;
  journal_.violate(9, fmt::format("fetch {} succeeded although its lease had lapsed {} ns before "
                                  "its confirmation was sent",
                                  fetch.number, (*fetch.confirm_sent - fetch.lease_ends).count()));
}

void Model::check_counts(const FetchRecord& fetch, const BlockView& view) {
  const std::uint64_t needed = needed_bytes(fetch, view.blocks());
  std::uint64_t posted = 0;
  for (const auto& [place, slice] : fetch.posted) posted += slice.bytes;
  if (fetch.in_flight > 0) {
    journal_.violate(6, fmt::format("fetch {} succeeded with {} slices in flight", fetch.number,
                                    fetch.in_flight));
  }
  if (posted == needed && fetch.landed == needed && fetch.admitted_bytes == needed) return;
  journal_.violate(3,
                   fmt::format("fetch {} needed {} bytes; {} were posted, {} admitted and {} "
                               "landed",
                               fetch.number, needed, posted, fetch.admitted_bytes, fetch.landed));
}

void Model::check_chunks(const FetchRecord& fetch, const BlockView& view) {
  // The segments of a chunk leave no gaps, so chunks are what their segments add up to.
  const LaneRange lanes = lanes_of(fetch);
  std::map<const std::byte*, const std::byte*> ends;
  for (std::uint32_t block = 0; block < view.blocks(); ++block) {
    for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
      const auto segment = view.segment(block, lane);
      ends.emplace(segment.data(), segment.data() + segment.size());
    }
  }
  std::map<const std::byte*, const std::byte*> chunks;
  for (const auto& [begin, end] : ends) {
    if (!chunks.empty() && chunks.rbegin()->second == begin) {
      chunks.rbegin()->second = end;
    } else {
      chunks.emplace(begin, end);
    }
  }
  for (const auto& [place, slice] : fetch.posted) {
    const auto after = chunks.upper_bound(slice.destination);
    const bool inside =
        after != chunks.begin() && slice.destination + slice.bytes <= std::prev(after)->second;
    if (inside) continue;
    return journal_.violate(
        4, fmt::format("a slice of fetch {} lies in no chunk of its view", fetch.number));
  }
}

void Model::check_view(const FetchRecord& fetch, const BlockView& view) {
  const LaneRange lanes = lanes_of(fetch);
  const HeldContent& held = content(fetch.holder);
  const TimePoint leased_until = fetch.leased ? fetch.leased_by : clock_.now();
  const TimePoint leased_from = fetch.leased.value_or(fetch.begin);
  for (std::uint32_t position = 0; position < view.blocks(); ++position) {
    const BlockNumber block = fetch.order.blocks[position];
    const bool corrupt = wire_of(fetch.link).corrupt;
    const auto versions = held.current_between(block, corrupt ? fetch.begin : leased_from,
                                               corrupt ? clock_.now() : leased_until);
    const auto is_all = [&](std::uint32_t version) {
      for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
        if (!held.matches(view.segment(position, lane), block, version, lane)) return false;
      }
      return true;
    };
    if (std::any_of(versions.begin(), versions.end(), is_all)) continue;
    return journal_.violate(1, fmt::format("block {} in the view of fetch {} is none of the {} "
                                           "versions that it may be",
                                           block, fetch.number, versions.size()));
  }
}

}  // namespace corail::sim
