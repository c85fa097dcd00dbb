#include "engine/store/lease_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "engine/base/check.h"

namespace corail::detail {
namespace {

Error no_lease(ReadId read) {
  return {Errc::kNotFound, Stage::kConfirm,
          fmt::format("read {} has no lease here: it was never given one, or ended before",
                      read.value())};
}

Error lapsed_lease(ReadId read, Stage stage) {
  return {Errc::kLeaseExpired, stage,
          fmt::format("the lease of read {} lapsed, so its bytes may have been reused; ask for a "
                      "longer time to live, or for fewer blocks",
                      read.value())};
}

}  // namespace

LeaseTable::Session& LeaseTable::session_of(SessionId id) {
  if (sessions_.size() >= sweep_at_) {
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      prune(it->second);
      const bool idle = it->second.leases.empty() && it->second.ended.empty();
      it = idle ? sessions_.erase(it) : std::next(it);
    }
    sweep_at_ = std::max<std::size_t>(64, 2 * sessions_.size());
  }
  Session& session = sessions_[id];
  prune(session);
  return session;
}

void LeaseTable::prune(Session& session) {
  const TimePoint now = clock_.now();
  while (!session.ended_order.empty()) {
    const auto oldest = session.ended.find(session.ended_order.front());
    if (oldest->second.forget > now &&
        session.ended_order.size() <= options_.max_ended_reads_per_requester) {
      return;
    }
    session.ended.erase(oldest);
    session.ended_order.pop_front();
  }
}

void LeaseTable::remember(Session& session, ReadId read, End how) {
  const EndedRead ended{how, clock_.now() + options_.ended_read_ttl};
  // The first end counts: a release of a lapsed read does not make it unlapsed.
  if (!session.ended.emplace(read, ended).second) return;
  session.ended_order.push_back(read);
  prune(session);
}

LeaseTable::Lease LeaseTable::take(Session& session, ReadId read, End how) {
  const auto found = session.leases.find(read);
  Lease lease = std::move(found->second);
  session.leases.erase(found);
  session.held_bytes -= lease.held_bytes;
  if (how == End::kLapsed) ++lapsed_;
  remember(session, read, how);
  return lease;
}

Result<void> LeaseTable::may_grant(SessionId session_id, ReadId read) {
  const std::lock_guard lock(mutex_);
  const Session& session = session_of(session_id);
  if (session.leases.contains(read)) {
    return Error(
        Errc::kInvalidArgument, Stage::kQuery,
        fmt::format("read {} has a lease already; a read is queried for once", read.value()));
  }
  if (session.ended.contains(read)) {
    return Error(Errc::kCancelled, Stage::kQuery,
                 fmt::format("read {} had ended before its query was answered", read.value()));
  }
  if (session.leases.size() >= options_.max_leases_per_requester) {
    return Error(Errc::kQuotaExceeded, Stage::kQuery,
                 fmt::format("the requester holds {} leases, which is the most; release some, or "
                             "run fewer reads at a time",
                             session.leases.size()));
  }
  return ok_result();
}

Result<void> LeaseTable::may_hold(SessionId session_id, std::uint64_t held_bytes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t held = session_of(session_id).held_bytes;
  const std::uint64_t most = options_.max_leased_bytes_per_requester;
  if (held <= most && held_bytes <= most - held) return ok_result();
  return Error(Errc::kQuotaExceeded, Stage::kQuery,
               fmt::format("the requester holds leases on {} bytes and asks for {} more, the most "
                           "is {}; release some, or ask for fewer blocks",
                           held, held_bytes, most));
}

LeaseTable::Granted LeaseTable::grant(SessionId session_id, ReadId read,
                                      std::shared_ptr<const LeasedRanges> bytes,
                                      std::uint64_t held_bytes, Duration ttl,
                                      std::shared_ptr<const void> held) {
  Lease lease;
  lease.expires = clock_.now() + ttl;
  lease.held_bytes = held_bytes;
  lease.bytes = std::move(bytes);
  lease.held = std::move(held);
  lease.timer = start_timer(session_id, read, lease.expires);
  const std::lock_guard lock(mutex_);
  Session& session = session_of(session_id);
  session.leases.emplace(read, std::move(lease));
  session.held_bytes += held_bytes;
  return {LeaseId{boot_, next_counter_++}, ttl};
}

std::unique_ptr<Timer> LeaseTable::start_timer(SessionId session_id, ReadId read,
                                               TimePoint expires) {
  // The timer goes with its lease, and drops the callback then; it calls back in a later turn.
  auto timer = clock_.make_timer(executor_);
  timer->wait_until(expires, [this, session_id, read](bool) { on_timer(session_id, read); });
  return timer;
}

Result<Duration> LeaseTable::renew(SessionId session_id, ReadId read, Duration ttl) {
  Lease ended;
  const std::lock_guard lock(mutex_);
  auto found = find_live(session_of(session_id), read, ended);
  if (!found) return std::move(found).error();
  Lease& lease = **found;
  const TimePoint now = clock_.now();
  const TimePoint expires = now + ttl;
  if (expires > lease.expires) {
    lease.expires = expires;
    lease.timer = start_timer(session_id, read, expires);
  }
  return lease.expires - now;
}

void LeaseTable::on_timer(SessionId session_id, ReadId read) {
  Lease lapsed;
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(session_id);
  CORAIL_CHECK(session != sessions_.end() && session->second.leases.contains(read),
               "a lease's timer does not outlive it");
  lapsed = take(session->second, read, End::kLapsed);
}

Result<LeaseTable::Lease*> LeaseTable::find_live(Session& session, ReadId read, Lease& lapsed) {
  const auto lease = session.leases.find(read);
  if (lease == session.leases.end()) {
    const auto known = session.ended.find(read);
    if (known != session.ended.end() && known->second.how == End::kLapsed) {
      return lapsed_lease(read, Stage::kConfirm);
    }
    return no_lease(read);
  }
  // The clock decides, not the timer, which may be late (I9).
  if (clock_.now() < lease->second.expires) return &lease->second;
  lapsed = take(session, read, End::kLapsed);
  return lapsed_lease(read, Stage::kConfirm);
}

Result<void> LeaseTable::confirm(SessionId session_id, ReadId read) {
  Lease lapsed;
  const std::lock_guard lock(mutex_);
  auto found = find_live(session_of(session_id), read, lapsed);
  if (!found) return std::move(found).error();
  return ok_result();
}

Result<void> LeaseTable::confirm_and_release(SessionId session_id, ReadId read) {
  Lease ended;
  const std::lock_guard lock(mutex_);
  Session& session = session_of(session_id);
  auto found = find_live(session, read, ended);
  if (!found) return std::move(found).error();
  ended = take(session, read, End::kReleased);
  return ok_result();
}

void LeaseTable::release(SessionId session_id, ReadId read) {
  Lease ended;
  const std::lock_guard lock(mutex_);
  Session& session = session_of(session_id);
  const auto lease = session.leases.find(read);
  if (lease == session.leases.end()) {
    remember(session, read, End::kReleased);
    return;
  }
  const bool lapsed = clock_.now() >= lease->second.expires;
  ended = take(session, read, lapsed ? End::kLapsed : End::kReleased);
}

void LeaseTable::quiesce(SessionId session_id, ReadId read) {
  const std::lock_guard lock(mutex_);
  Session& session = session_of(session_id);
  const auto lease = session.leases.find(read);
  if (lease == session.leases.end()) {
    remember(session, read, End::kReleased);
  } else {
    lease->second.quiesced = true;
  }
}

void LeaseTable::drop_session(SessionId session_id) {
  Session dropped;
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(session_id);
  if (session == sessions_.end()) return;
  dropped = std::move(session->second);
  sessions_.erase(session);
}

Result<std::shared_ptr<const LeasedRanges>> LeaseTable::live_bytes(SessionId session_id,
                                                                   ReadId read) const {
  std::shared_ptr<const LeasedRanges> bytes;
  {
    const std::lock_guard lock(mutex_);
    const auto session = sessions_.find(session_id);
    if (session != sessions_.end()) {
      const auto lease = session->second.leases.find(read);
      const auto ended = session->second.ended.find(read);
      const bool live = lease != session->second.leases.end();
      if (live ? clock_.now() >= lease->second.expires
               : ended != session->second.ended.end() && ended->second.how == End::kLapsed) {
        return lapsed_lease(read, Stage::kServe);
      }
      if (live && !lease->second.quiesced) bytes = lease->second.bytes;
    }
  }
  if (bytes == nullptr) {
    return Error(Errc::kRefused, Stage::kServe,
                 fmt::format("read {} has no live lease in this session, so nothing is served",
                             read.value()));
  }
  return bytes;
}

Result<PinnedBytes> LeaseTable::admit(SessionId session, ReadId read, RegionId region,
                                      std::uint64_t offset, std::uint64_t length) const {
  auto live = live_bytes(session, read);
  if (!live) return std::move(live).error();
  std::shared_ptr<const LeasedRanges> bytes = std::move(*live);
  const auto found = bytes->find(region, offset, length);
  if (!found) {
    return Error(Errc::kRefused, Stage::kServe,
                 fmt::format("{} bytes at {} of region {} are not inside the lease of read {}",
                             length, offset, region.value(), read.value()));
  }
  return PinnedBytes(*found, Pin(std::move(bytes)));
}

bool LeaseTable::knows(SessionId session_id, ReadId read) const {
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(session_id);
  if (session == sessions_.end()) return false;
  return session->second.leases.contains(read) || session->second.ended.contains(read);
}

Result<std::vector<std::uint64_t>> LeaseTable::lane_sums(SessionId session, ReadId read,
                                                         LaneRange lanes) const {
  auto bytes = live_bytes(session, read);
  if (!bytes) return std::move(bytes).error();
  const std::uint32_t all = (*bytes)->lanes();
  if (lanes == LaneRange{}) lanes.end = all;
  if (lanes.begin < lanes.end && lanes.end <= all) return (*bytes)->lane_sums(lanes);
  return Error(Errc::kInvalidArgument, Stage::kServe,
               fmt::format("sums of lanes [{}, {}) were asked for, the blocks have {} lanes",
                           lanes.begin, lanes.end, all));
}

std::uint64_t LeaseTable::leases() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  for (const auto& entry : sessions_) count += entry.second.leases.size();
  return count;
}

std::uint64_t LeaseTable::ended_reads() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  for (const auto& entry : sessions_) count += entry.second.ended.size();
  return count;
}

std::uint64_t LeaseTable::lapsed() const {
  const std::lock_guard lock(mutex_);
  return lapsed_;
}

}  // namespace corail::detail
