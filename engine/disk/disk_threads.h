#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/disk/disk_io.h"
#include "engine/exec/run_on.h"
#include "engine/exec/task.h"

namespace corail {

/// Threads that may block on a disk, so that no executor does (R8). For whatever the kernel offers
/// as blocking calls only, and for reads and writes where it refuses to do them asynchronously.
/// Any executor may use them; destroying them joins, so nothing may be awaited of them then.
class DiskThreads final : public DiskIo {
 public:
  /// `threads` calls block at a time, the others wait in line.
  explicit DiskThreads(std::size_t threads) : threads_(threads), pool_(threads) {}
  ~DiskThreads() override { pool_.join(); }

  /// Runs `blocking`, a function object without parameters, and resumes the caller with what it
  /// returns.
  template <typename F>
  Task<std::invoke_result_t<F>> call(F blocking) {
    const asio::any_io_executor pool = pool_.get_executor();
    return run_on(pool, call_now(std::move(blocking)));
  }

  Task<std::int64_t> read(int fd, std::uint64_t offset, std::span<std::byte> into) override;
  Task<std::int64_t> write(int fd, std::uint64_t offset, std::span<const std::byte> bytes) override;
  Task<std::int64_t> sync(int fd) override;
  std::string describe() const override;

 private:
  template <typename F>
  static Task<std::invoke_result_t<F>> call_now(F blocking) {
    co_return blocking();
  }

  const std::size_t threads_;
  asio::thread_pool pool_;
};

}  // namespace corail
