#pragma once

#include <liburing.h>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/disk/disk_io.h"
#include "engine/exec/credits.h"
#include "engine/exec/suspension.h"
#include "engine/exec/task.h"

namespace corail {

/// Reads and writes that the kernel does by itself: a ring of io_uring whose completions wake the
/// executor through an event descriptor. Asio has files over io_uring too, but no sync for them,
/// and its definitions would have to be the same in every file of an embedder's program.
///
/// What the kernel does not take at once stays in the ring until it does; a ring that it takes
/// nothing of for about a second is broken: what it had not taken fails with EIO, and so does all
/// that comes later. A caller's cancellation interrupts nothing.
///
/// One executor. Nothing may be in flight when it is destroyed.
class UringIo final : public DiskIo {
 public:
  /// Hands the ring's entries to the kernel; as io_uring_submit(), which tests replace.
  using Submit = std::function<int(io_uring* ring)>;

  /// `depth` requests in flight at a time, more wait in line. kRefused: the kernel has no io_uring,
  /// or not for this process; the sentence says so.
  static Result<std::unique_ptr<UringIo>> create(asio::any_io_executor executor, unsigned depth,
                                                 Submit submit = io_uring_submit);
  UringIo(const UringIo&) = delete;
  UringIo& operator=(const UringIo&) = delete;
  ~UringIo() override;

  Task<std::int64_t> read(int fd, std::uint64_t offset, std::span<std::byte> into) override;
  Task<std::int64_t> write(int fd, std::uint64_t offset, std::span<const std::byte> bytes) override;
  Task<std::int64_t> sync(int fd) override;
  std::string describe() const override { return "io_uring"; }

 private:
  static constexpr std::size_t kMaxWaiters = 65'536;

  /// Lives in the frame that awaits it until the kernel has completed it, exactly once.
  struct Request {
    explicit Request(const asio::any_io_executor& executor) : place(executor) {}
    Suspension place;
    std::int64_t result = 0;
  };

  UringIo(asio::any_io_executor executor, unsigned depth, Submit submit);
  /// `prepare` fills a submission entry; called again where the kernel was interrupted.
  template <typename Prepare>
  Task<std::int64_t> complete(Prepare prepare);
  void submit();
  void submit_later();
  void give_up();
  void wait_for_completions();
  void take_completions();

  const asio::any_io_executor executor_;
  io_uring ring_{};
  asio::posix::stream_descriptor wakeup_;
  const Submit submit_;
  Credits room_;
  std::deque<Request*> queued_;  // entries of the ring that the kernel has not taken, in order
  std::size_t in_flight_ = 0;    // those that it has taken and not completed
  bool waiting_ = false;
  SteadyClock clock_;  // the kernel's time is the real one
  std::unique_ptr<Timer> timer_;
  bool offering_ = false;
  int offers_ = 0;  // since the kernel took anything, with nothing in flight
  bool broken_ = false;
};

}  // namespace corail
