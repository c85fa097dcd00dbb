#include "engine/disk/uring_io.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/shielded.h"

namespace corail {
namespace {

/// An entry has 32 bits for a length; whole blocks of it.
constexpr std::size_t kMostBytes = std::numeric_limits<std::int32_t>::max() & ~4095;

/// How often a request is begun that the kernel does not get done (I8).
constexpr int kMostAttempts = 100;

/// How often entries are offered to a kernel that takes none and has nothing to do, each time a
/// millisecond later than before: 820 ms in all (I8).
constexpr int kMostOffers = 40;

unsigned length_of(std::size_t bytes) { return static_cast<unsigned>(std::min(bytes, kMostBytes)); }

}  // namespace

Result<std::unique_ptr<UringIo>> UringIo::create(asio::any_io_executor executor, unsigned depth,
                                                 Submit submit) {
  std::unique_ptr<UringIo> io(new UringIo(std::move(executor), depth, std::move(submit)));
  const int made = io_uring_queue_init(depth, &io->ring_, IORING_SETUP_CLAMP);
  if (made < 0) {
    io->ring_.ring_fd = -1;
    return Error(Errc::kRefused, fmt::format("the kernel refuses io_uring: {}",
                                             std::generic_category().message(-made)));
  }
  const int wakeup = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wakeup < 0) return Error(Errc::kRefused, "the kernel has no event descriptor left");
  io->wakeup_.assign(wakeup);
  if (io_uring_register_eventfd(&io->ring_, wakeup) != 0) {
    return Error(Errc::kRefused, "the kernel's io_uring knows no event descriptors");
  }
  return io;
}

UringIo::UringIo(asio::any_io_executor executor, unsigned depth, Submit submit)
    : executor_(std::move(executor)),
      wakeup_(executor_),
      submit_(std::move(submit)),
      room_(executor_, depth, kMaxWaiters),
      timer_(clock_.make_timer(executor_)) {}

UringIo::~UringIo() {
  CORAIL_CHECK(in_flight_ == 0 && queued_.empty(),
               "a ring was destroyed while the kernel used its memory");
  if (ring_.ring_fd >= 0) io_uring_queue_exit(&ring_);
}

Task<std::int64_t> UringIo::read(int fd, std::uint64_t offset, std::span<std::byte> into) {
  return shielded(complete([fd, offset, into](io_uring_sqe& entry) {
    io_uring_prep_read(&entry, fd, into.data(), length_of(into.size()), offset);
  }));
}

Task<std::int64_t> UringIo::write(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  return shielded(complete([fd, offset, bytes](io_uring_sqe& entry) {
    io_uring_prep_write(&entry, fd, bytes.data(), length_of(bytes.size()), offset);
  }));
}

Task<std::int64_t> UringIo::sync(int fd) {
  return shielded(complete(
      [fd](io_uring_sqe& entry) { io_uring_prep_fsync(&entry, fd, IORING_FSYNC_DATASYNC); }));
}

template <typename Prepare>
Task<std::int64_t> UringIo::complete(Prepare prepare) {
  const auto mine = co_await room_.acquire(1);
  if (!mine) co_return -EBUSY;
  Request request(executor_);
  request.result = -EINTR;
  for (int attempt = 0; attempt < kMostAttempts && request.result == -EINTR; ++attempt) {
    if (broken_) {
      request.result = -EIO;
      break;
    }
    // There is a free one: whoever has an entry in the ring has room, and no entry stays without.
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    CORAIL_CHECK(entry != nullptr, "more requests than the ring has entries");
    prepare(*entry);
    io_uring_sqe_set_data(entry, &request);
    queued_.push_back(&request);
    submit();
    co_await request.place.suspend();
    // Said by some file systems where they would have to wait for memory.
    if (request.result == -EAGAIN) request.result = -EINTR;
  }
  room_.release(1);
  co_return request.result;
}

void UringIo::submit() {
  if (broken_) return;
  // The ring itself says what was taken, whatever the call returns: a part of the entries may have
  // been, also by a call that failed. The others are offered again.
  static_cast<void>(submit_(&ring_));
  const std::size_t left = io_uring_sq_ready(&ring_);
  for (; queued_.size() > left; queued_.pop_front()) {
    ++in_flight_;
    offers_ = 0;
  }
  if (in_flight_ > 0) {
    wait_for_completions();  // and offer the rest then
  } else if (left > 0 && !offering_) {
    submit_later();
  }
}

void UringIo::submit_later() {
  if (++offers_ > kMostOffers) return give_up();
  const TimePoint next = clock_.now() + std::chrono::milliseconds(offers_);
  offering_ = true;
  timer_->wait_until(next, [this](bool expired) {
    offering_ = false;
    if (expired && in_flight_ == 0 && !queued_.empty()) submit();
  });
}

void UringIo::give_up() {
  // The entries stay in the ring for ever. Nobody calls the kernel for this ring again, so it never
  // looks at them, nor at the memory that they name.
  broken_ = true;
  for (Request* const request : std::exchange(queued_, {})) {
    request->result = -EIO;
    request->place.resume();
  }
  log(LogLevel::kError, "the kernel takes no more requests of io_uring: disks of this node fail");
}

void UringIo::wait_for_completions() {
  if (std::exchange(waiting_, true)) return;
  wakeup_.async_wait(asio::posix::stream_descriptor::wait_read, [this](std::error_code error) {
    // The descriptor is closed by the destructor only, when nobody waits.
    CORAIL_CHECK(!error, "waiting for io_uring failed");
    waiting_ = false;
    take_completions();
    if (!queued_.empty()) submit();
    if (in_flight_ > 0) wait_for_completions();
  });
}

void UringIo::take_completions() {
  eventfd_t count = 0;
  // Before the ring is looked at: what completes later wakes us again.
  static_cast<void>(::eventfd_read(wakeup_.native_handle(), &count));
  io_uring_cqe* completion = nullptr;
  while (io_uring_peek_cqe(&ring_, &completion) == 0) {
    auto* const request = static_cast<Request*>(io_uring_cqe_get_data(completion));
    const std::int64_t result = completion->res;
    io_uring_cqe_seen(&ring_, completion);
    request->result = result;
    --in_flight_;
    request->place.resume();
  }
}

}  // namespace corail
