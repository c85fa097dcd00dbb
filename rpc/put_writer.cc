#include "rpc/put_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"
#include "engine/object/striping_info.h"
#include "rpc/fetch_context.h"

namespace corail {
namespace {

/// Whoever ends a put waits until it is ended: their own frames are the bound (I8).
constexpr std::size_t kMaxEnders = std::numeric_limits<std::size_t>::max();

/// Copying less takes home no longer than handing it to another thread.
constexpr std::size_t kCopiedAtHome = 64 * kKiB;

Task<void> copy_bytes(std::byte* to, std::span<const std::byte> from) {
  std::memcpy(to, from.data(), from.size());
  co_return;
}

Task<Result<std::shared_ptr<PutMemory>>> take_memory(PutSources* sources, std::uint64_t bytes) {
  co_return sources->take(bytes);
}

}  // namespace

/// One of the user's calls while it is under way.
class PutWriter::Working {
 public:
  explicit Working(PutWriter& put) : put_(put) { put_.working_ = true; }
  ~Working() {
    put_.working_ = false;
    put_.idle_.notify();
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  PutWriter& put_;
};

PutWriter::PutWriter(PutContext context, std::string key, PutOptions options)
    : context_(std::move(context)),
      key_(std::move(key)),
      options_(std::move(options)),
      deadline_(time_after(context_.clock.now(), options_.deadline)),
      self_(std::make_shared<PutWriter*>(this)),
      moved_(context_.home),
      idle_(context_.home),
      settling_turn_(context_.home, 1, kMaxEnders),
      ending_turn_(context_.home, 1, kMaxEnders),
      scope_(context_.home) {}

PutWriter::~PutWriter() { CORAIL_CHECK(ended_, "a put is ended before its last share goes"); }

Result<void> PutWriter::check_arguments() const {
  auto sound = check_object_key(key_);
  if (!sound) return sound;
  const std::uint64_t stripe = options_.stripe_size;
  if (stripe == 0 || stripe > kMaxStripeBytes || stripe % kGranuleBytes != 0) {
    return Error(Errc::kInvalidArgument, Stage::kSubmit,
                 fmt::format("a stripe of {} bytes is none: allowed are multiples of {} up to {}",
                             stripe, kGranuleBytes, kMaxStripeBytes));
  }
  if (stripes_of(options_.size, stripe) > kMaxObjectStripes) {
    return Error(Errc::kTooLarge, Stage::kSubmit,
                 fmt::format("{} bytes are more than {} stripes of {} bytes; use larger stripes",
                             options_.size, kMaxObjectStripes, stripe));
  }
  if (options_.deadline > Duration::zero()) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kSubmit, "the deadline of a put must be positive");
}

/// A small object needs no more than it has.
std::uint64_t PutWriter::stripe_bytes() const noexcept {
  return std::min(options_.stripe_size, options_.size);
}

std::uint64_t PutWriter::memory_bytes() const noexcept {
  const std::uint64_t stripes = stripes_of(options_.size, options_.stripe_size);
  return std::min<std::uint64_t>(stripes, kMaxStripesOfAPut) * stripe_bytes();
}

Task<Result<void>> PutWriter::begin(CancelToken cancel) {
  const Working working(*this);
  watch();
  const CancelToken::Subscription cancelled = fail_on(cancel);
  auto begun = co_await without_exceptions(prepare());
  if (begun) co_return ok_result();
  fail(begun.error());
  co_await end(true);
  co_return std::move(begun).error();
}

Task<Result<void>> PutWriter::prepare() {
  auto sound = check_arguments();
  if (!sound) co_return std::move(sound).error();
  const std::uint64_t bytes = memory_bytes();
  if (bytes > 0) {
    auto share = co_await context_.parts.budget->admit(bytes, options_.when_full, deadline_, stop_);
    if (!share) co_return failed_ ? *failed_ : share.error();
    share_ = std::move(*share);
    auto memory = co_await run_on(context_.hashing, take_memory(&context_.parts.sources, bytes));
    if (!memory) co_return std::move(memory).error();
    const std::uint64_t slots = bytes / stripe_bytes();
    slots_ =
        std::make_shared<PutSlots>(context_.home, std::move(*memory), stripe_bytes(),
                                   static_cast<std::uint32_t>(slots), [this] { moved_.notify(); });
  }
  if (failed_) co_return *failed_;
  auto begun = co_await ask_to_begin();
  co_return begun;
}

/// What ends the put from outside: the caller's token, pulled on any thread, and time.
void PutWriter::watch() {
  callers_cancel_.emplace(fail_on(options_.cancel));
  timer_ = context_.clock.make_timer(context_.home);
  timer_->wait_until(deadline_, [this](bool expired) {
    if (!expired) return;
    fail(Error(Errc::kDeadline, Stage::kSubmit,
               "the put was not committed in its time; allow it more (PutOptions::deadline)"));
  });
}

CancelToken::Subscription PutWriter::fail_on(const CancelToken& cancel) const {
  return cancel.subscribe([home = context_.home, self = self_] {
    asio::post(home, [self] {
      if (*self == nullptr) return;
      (*self)->fail(Error(Errc::kCancelled, Stage::kSubmit, "the caller gave the put up"));
    });
  });
}

void PutWriter::fail(Error why) {
  if (!failed_) failed_ = std::move(why);
  stop_.cancel();
  moved_.notify();
}

Result<void> PutWriter::may_work() const {
  if (ended_) {
    return Error(Errc::kClosed, Stage::kSubmit, "the put was committed, or aborted, already");
  }
  if (!working_) return ok_result();
  return Error(Errc::kBusy, Stage::kSubmit, "a put has one call at a time; await the one before");
}

Task<Result<void>> PutWriter::write(std::span<const std::byte> bytes) {
  const auto may = may_work();
  if (!may) co_return may.error();
  const Working working(*this);
  if (bytes.size() > options_.size - written_) {
    co_return Error(Errc::kInvalidArgument, Stage::kSubmit,
                    fmt::format("{} bytes are written behind the first {} of an object of {}",
                                bytes.size(), written_, options_.size));
  }
  auto filled = co_await fill(bytes);
  co_return filled;
}

Task<Result<void>> PutWriter::fill(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (failed_) co_return *failed_;
    if (!slot_) slot_ = slots_->take();
    if (!slot_) {
      co_await moved_.wait();
      continue;
    }
    const std::uint64_t begin = written_ - sent_ * options_.stripe_size;
    const std::uint64_t length = stripe_length(options_.size, options_.stripe_size, sent_);
    const std::size_t some = std::min<std::uint64_t>(bytes.size(), length - begin);
    std::byte* const to = slot_.bytes().data() + begin;
    if (some <= kCopiedAtHome) {
      std::memcpy(to, bytes.data(), some);
    } else {
      co_await run_on(context_.hashing, copy_bytes(to, bytes.first(some)));
      if (failed_) co_return *failed_;
    }
    written_ += some;
    bytes = bytes.subspan(some);
    if (begin + some < length) continue;
    ++under_way_;
    scope_.spawn(send(std::exchange(slot_, PutSlot()), sent_++, length));
  }
  co_return ok_result();
}

Task<Result<ObjectDescriptor>> PutWriter::commit() {
  const auto may = may_work();
  if (!may) co_return may.error();
  const Working working(*this);
  if (written_ < options_.size && !failed_) {
    co_return Error(Errc::kByteCountMismatch, Stage::kConfirm,
                    fmt::format("{} of {} bytes were written", written_, options_.size));
  }
  while (under_way_ > 0) {
    co_await moved_.wait();
  }
  if (failed_) {
    Error why = *failed_;
    co_await end(true);
    co_return why;
  }
  auto committed = co_await ask_to_commit();
  co_await end(!committed);
  co_return committed;
}

Task<void> PutWriter::abort() {
  fail(Error(Errc::kCancelled, Stage::kClose, "the put was aborted"));
  co_await settle();
  co_await end(true);
}

Task<void> PutWriter::close(Error why) {
  fail(std::move(why));
  co_await settle();
  co_await end(true);
}

/// A call that still runs may be writing into memory that ends with the put.
Task<void> PutWriter::settle() {
  const auto turn = co_await settling_turn_.acquire(1);
  CORAIL_CHECK(turn, "the turn to wait for a call is never refused");
  while (working_) {
    co_await idle_.wait();
  }
  settling_turn_.release(1);
}

Task<void> PutWriter::end(bool tell) {
  const auto turn = co_await ending_turn_.acquire(1);
  CORAIL_CHECK(turn, "the turn to end a put is never refused");
  if (!ended_) {
    timer_->cancel();
    co_await scope_.join();
    if (tell && put_.value() != 0) co_await tell_home();
    slot_.reset();
    if (slots_) slots_->close();
    slots_.reset();
    share_.reset();
    *self_ = nullptr;
    // Its timer goes on home, whoever lets go of the put itself.
    timer_.reset();
    ended_ = true;
  }
  ending_turn_.release(1);
}

}  // namespace corail
