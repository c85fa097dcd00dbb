#pragma once

#include <liburing.h>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <system_error>

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
/// One executor. Nothing may be in flight when it is destroyed.
class UringIo final : public DiskIo {
 public:
  /// `depth` requests in flight at a time, more wait in line. kRefused: the kernel has no io_uring,
  /// or not for this process; the sentence says so.
  static Result<std::unique_ptr<UringIo>> create(asio::any_io_executor executor, unsigned depth);
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

  UringIo(asio::any_io_executor executor, unsigned depth);
  /// `prepare` fills a submission entry; called again where the kernel was interrupted.
  template <typename Prepare>
  Task<std::int64_t> complete(Prepare prepare);
  int submit(io_uring_sqe& entry);
  void wait_for_completions();
  void take_completions();

  const asio::any_io_executor executor_;
  io_uring ring_{};
  asio::posix::stream_descriptor wakeup_;
  Credits room_;
  std::size_t in_flight_ = 0;
  bool waiting_ = false;
};

}  // namespace corail
