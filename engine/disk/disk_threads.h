#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/thread_pool.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  /// `threads` calls block at a time, the others wait in line. `most` of all together (I8): reads,
  /// writes and syncs beyond are EBUSY, whoever calls something else asks full() first.
  explicit DiskThreads(std::size_t threads, std::size_t most = kMostCalls)
      : threads_(threads), most_(most), pool_(threads) {}
  ~DiskThreads() override { pool_.join(); }

  /// Whether as many calls run or wait as may.
  bool full() const noexcept { return calls_.load() >= most_; }

  /// Runs `blocking`, a function object without parameters, and resumes the caller with what it
  /// returns.
  template <typename F>
  Task<std::invoke_result_t<F>> call(F blocking) {
    const asio::any_io_executor pool = pool_.get_executor();
    return counted(calls_, run_on(pool, call_now(std::move(blocking))));
  }

  Task<std::int64_t> read(int fd, std::uint64_t offset, std::span<std::byte> into) override;
  Task<std::int64_t> write(int fd, std::uint64_t offset, std::span<const std::byte> bytes) override;
  Task<std::int64_t> sync(int fd) override;
  std::string describe() const override;

 private:
  static constexpr std::size_t kMostCalls = 65'536;

  class Counted {
   public:
    explicit Counted(std::atomic<std::size_t>& calls) : calls_(calls) { calls_.fetch_add(1); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { calls_.fetch_sub(1); }

   private:
    std::atomic<std::size_t>& calls_;
  };

  /// Counts the task from when it begins until it has ended.
  template <typename T>
  static Task<T> counted(std::atomic<std::size_t>& calls, Task<T> task) {
    const Counted counted(calls);
    auto result = co_await std::move(task);
    co_return result;
  }
  Task<std::int64_t> call_io(std::function<std::int64_t()> blocking);

  template <typename F>
  static Task<std::invoke_result_t<F>> call_now(F blocking) {
    co_return blocking();
  }

  const std::size_t threads_;
  const std::size_t most_;
  std::atomic<std::size_t> calls_ = 0;
  asio::thread_pool pool_;
};

}  // namespace corail
