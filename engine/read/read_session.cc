#include "engine/read/read_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/shielded.h"
#include "engine/exec/when_all.h"

namespace corail {
namespace {

std::vector<std::byte*> bases_of(const std::vector<SlabChunk>& chunks) {
  std::vector<std::byte*> bases;
  bases.reserve(chunks.size());
  for (const SlabChunk& chunk : chunks) bases.push_back(chunk.bytes().data());
  return bases;
}

Task<Result<void>> run_share(std::shared_ptr<RailShare> share) {
  auto result = co_await share->run();
  co_return result;
}

}  // namespace

ReadSession::ReadSession(asio::any_io_executor home, Clock& clock, Owner& owner,
                         ReadRequest request)
    : home_(std::move(home)),
      clock_(clock),
      owner_(owner),
      request_(std::move(request)),
      state_(request_.epoch),
      scope_(home_),
      self_(std::make_shared<ReadSession*>(this)) {}

ReadSession::~ReadSession() { *self_ = nullptr; }

void ReadSession::build_shares() {
  const std::vector<std::uint32_t> rails = rails_of_owners();
  shared_ = std::make_unique<SharedRead>(
      request_.plan, bases_of(request_.chunks), ReadContext{request_.read, state_.epoch()},
      request_.max_slice_bytes, rails, request_.retry_on_survivors);
  shared_->pushed = request_.pushed;
  for (const auto& part : shared_->parts) {
    part->wake = [this, part = part.get()] {
      for (const auto& share : shares_) {
        if (&share->part() != part) continue;
        asio::post(share->rail().executor(), [share] { share->look_again(); });
      }
    };
  }
  if (request_.scheduler) build_dealers();
  heed_callers_memory();
  shares_.reserve(request_.rails.size());
  request_.region_keys.resize(request_.rails.size());
  for (std::size_t i = 0; i < request_.rails.size(); ++i) {
    if (skipped_[i]) continue;
    if (on_trial_[i]) shared_->may_give_back = true;
    std::unique_ptr<LandingVerifier> verifier;
    if (integrity_) verifier = integrity_->make_verifier(shared_->chunk_bases);
    shares_.push_back(std::make_shared<RailShare>(
        *shared_, *shared_->parts[owner_of(i)], *request_.rails[i], on_trial_[i],
        std::move(request_.region_keys[i]), std::move(verifier), clock_, request_.fence_deadline));
    const auto& dealer = shared_->parts[owner_of(i)]->dealer;
    if (dealer) {
      shares_.back()->deal_as(
          dealer->add_rail(request_.rail_nodes.empty() ? -1 : request_.rail_nodes[i]));
    }
  }
}

void ReadSession::stop(Error reason) {
  // After the join there is nothing to stop: a cancel that is late on its way here has reached the
  // atomic by then, and nobody would join the notice to the owner.
  if (!posting_ || reason_ || !state_.try_cancel()) return;
  reason_ = std::move(reason);
  stopped_at_ = clock_.now();
  shared_->stopped.store(true, std::memory_order_release);
  for (const auto& share : shares_) {
    asio::post(share->rail().executor(), [share] { share->stop_requested(); });
  }
  // Beside the wait for what is in flight, so that a cancel takes one round trip and not two.
  scope_.spawn(give_back());
}

void ReadSession::extend(TimePoint deadline) {
  request_.deadline = std::max(request_.deadline, deadline);
  if (deadline_timer_) arm_deadline();
}

void ReadSession::arm_deadline() {
  deadline_timer_ = clock_.make_timer(home_);
  deadline_timer_->wait_until(request_.deadline, [this](bool expired) {
    if (!expired) return;
    stop(Error(Errc::kDeadline, Stage::kWait,
               "the read did not land in time; check the rails' load, or allow it more time"));
  });
}

Task<Result<void>> ReadSession::fan_out() {
  build_shares();
  std::vector<Branch<void>> branches;
  branches.reserve(shares_.size());
  for (const auto& share : shares_) {
    branches.emplace_back(share->rail().executor(), run_share(share));
  }
  arm_deadline();
  // The token may be pulled on any thread; the flag and the state are ours to change on home only.
  const auto subscription = request_.cancel.subscribe([home = home_, self = self_] {
    asio::post(home, [self] {
      if (*self == nullptr) return;
      (*self)->stop(Error(Errc::kCancelled, Stage::kWait, "the caller gave up"));
    });
  });
  std::function<void(const Error&)> on_first_failure = [this](const Error& error) { stop(error); };
  posting_ = true;
  auto results = co_await when_all(std::move(branches), std::move(on_first_failure));
  posting_ = false;
  deadline_timer_.reset();
  co_await scope_.join();
  // Memory that may still be written outweighs why the read ended.
  for (auto& result : results) {
    if (!result && result.error().code() == Errc::kStuck) co_return std::move(result).error();
  }
  if (reason_) co_return *reason_;
  for (auto& result : results) {
    if (!result) co_return std::move(result).error();
  }
  co_return ok_result();
}

Result<void> ReadSession::prepare(ReadReport& report) {
  std::uint64_t landed = 0;
  for (const auto& share : shares_) landed += share->landed_bytes();
  if (landed != request_.plan->total_bytes()) {
    return Error(
        Errc::kByteCountMismatch, Stage::kVerify,
        fmt::format("{} bytes landed, {} were planned (I3)", landed, request_.plan->total_bytes()));
  }
  if (!integrity_) return ok_result();
  std::vector<LandingVerifier*> verifiers;
  std::vector<std::string> names;
  for (const auto& share : shares_) {
    verifiers.push_back(share->verifier());
    names.push_back(share->rail().name());
  }
  return integrity_->join(verifiers, names, report.verified_bytes);
}

Task<Result<void>> ReadSession::confirm(ReadReport& report) {
  const TimePoint begin = clock_.now();
  Result<void> confirmed;
  if (request_.shares_lease) {
    confirmed = co_await owner_.confirm(request_.read, request_.deadline, request_.cancel);
  } else {
    confirmed =
        co_await owner_.confirm_and_release(request_.read, request_.deadline, request_.cancel);
  }
  report.stages.commit = clock_.now() - begin;
  if (!confirmed) co_return std::move(confirmed).error().at(Stage::kConfirm);
  co_return ok_result();
}

void ReadSession::prepare_copy(std::optional<CommitCopy>& copy) const {
  if (!request_.copy_on_commit) return;
  std::vector<asio::any_io_executor> where;
  for (const auto& share : shares_) {
    const asio::any_io_executor executor = share->rail().executor();
    if (std::find(where.begin(), where.end(), executor) == where.end()) where.push_back(executor);
  }
  copy.emplace(request_.plan, shared_->chunk_bases, *request_.copy_on_commit, std::move(where));
}

Task<void> ReadSession::give_back() {
  if (request_.shares_lease || std::exchange(gave_back_, true)) co_return;
  // Best effort: an owner that does not hear it frees the lease when it expires.
  const TimePoint deadline = clock_.now() + request_.fence_deadline;
  [[maybe_unused]] const auto released = co_await owner_.release(request_.read, deadline);
}

/// The first share that runs on the same executor names its thread.
std::uint32_t ReadSession::thread_of(const RailShare& share) const {
  std::uint32_t thread = 0;
  for (const auto& other : shares_) {
    if (other->rail().executor() == share.rail().executor()) break;
    ++thread;
  }
  return thread;
}

void ReadSession::count(ReadReport& report) const {
  report.reads_planned = request_.plan->reads_planned();
  report.needed_bytes = request_.plan->total_bytes();
  report.rails.clear();
  if (shared_) report.attempts = shared_->attempts.load(std::memory_order_relaxed);
  auto next = shares_.begin();
  for (std::size_t i = 0; i < skipped_.size(); ++i) {
    RailReport rail;
    rail.name = request_.rails[i]->name();
    if (skipped_[i]) {
      rail.down = *skipped_[i];
    } else if (next != shares_.end()) {
      const RailShare& share = **next++;
      report.reads_posted += share.reads_posted();
      report.read_bytes += share.landed_bytes();
      report.verify_cpu += share.times().verify;
      report.stages.submit += share.times().post;
      report.retried_slices += share.retried_slices();
      report.retried_bytes += share.retried_bytes();
      rail.bytes = share.landed_bytes();
      rail.reads = share.reads_posted();
      rail.errors = share.errors();
      rail.retries = share.retried_slices();
      rail.owner = owner_of(i);
      rail.thread = thread_of(share);
      rail.times = share.times();
      if (share.lost()) rail.down = share.lost()->detail();
    }
    report.rails.push_back(std::move(rail));
  }
}

Task<Result<void>> ReadSession::run(ReadReport& report) {
  // Asio's own cancellation must not throw through a read that has posted.
  auto result = co_await shielded(attempt(report));
  co_return result;
}

Task<Result<void>> ReadSession::attempt(ReadReport& report) {
  const EpochNumber epoch = state_.epoch();
  const TimePoint begin = clock_.now();
  auto result = may_start();
  if (result) result = choose_rails();
  if (result) result = co_await fan_out();
  const TimePoint landed = clock_.now();
  report.stages.wait = landed - begin;
  count(report);
  if (stopped_at_) report.cancel = landed - *stopped_at_;
  if (result) {
    result = prepare(report);
    report.stages.verify = clock_.now() - landed;
  }
  // A cancel from here on still wins, until the last exchange (contract 2).
  if (result && !state_.begin_commit(epoch)) {
    result = Error(Errc::kCancelled, Stage::kConfirm, "the caller gave up");
  }
  if (!result) {
    state_.try_cancel();
    if (result.error().code() == Errc::kStuck) {
      for (const SlabChunk& chunk : request_.chunks) chunk.quarantine();
    }
    co_await give_back();
    co_return result;
  }
  // A cancel during the confirmation reaches the atomic directly, and gives the question up;
  // nothing is in flight to be stopped. The atomic comes first: whoever subscribed first is called
  // first.
  const auto subscription = request_.cancel.subscribe([this] { state_.try_cancel(); });
  // Made before, so that nothing can fail once the read is committed.
  std::optional<CommitCopy> copy;
  prepare_copy(copy);
  result = co_await confirm(report);
  if (!result) {
    // An answer that was lost may have left the lease behind.
    state_.try_cancel();
    co_await give_back();
  } else if (!state_.commit(epoch)) {
    result = Error(Errc::kCancelled, Stage::kConfirm, "the caller gave up");
  } else if (copy) {
    // Only now: the exchange above is what decides that the caller's memory may change, and nothing
    // takes that back (contract 2).
    const TimePoint committed = clock_.now();
    try {
      co_await copy->spread();
    } catch (...) {
      // Short of memory: the bytes are handed over all the same.
      log(LogLevel::kWarning, "read {} is copied by one thread: memory is short",
          request_.read.value());
    }
    copy->finish();
    report.stages.copy = clock_.now() - committed;
  }
  co_return result;
}

}  // namespace corail
