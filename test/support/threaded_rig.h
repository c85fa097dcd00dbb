#pragma once

#include <array>
#include <asio/any_io_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/mock/mock_holder.h"
#include "engine/rail/rail.h"
#include "test/support/held_blocks.h"
#include "test/support/read_rig.h"
#include "test/support/resource_census.h"
#include "test/support/scripted_owner.h"

namespace corail::test {

/// A thread that runs an io_context as long as it lives.
class Worker {
 public:
  Worker() : work_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  ~Worker() {
    work_.reset();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  asio::any_io_executor executor() { return context_.get_executor(); }

  /// Runs the task there and returns its result here.
  template <typename T>
  T run(Task<T> task) {
    // Shared: the waiting thread may go on before the other has left set_value().
    const auto promise = std::make_shared<std::promise<T>>();
    asio::co_spawn(context_, std::move(task), [promise](std::exception_ptr failed, T value) {
      if (failed) {
        promise->set_exception(failed);
      } else {
        promise->set_value(std::move(value));
      }
    });
    return promise->get_future().get();
  }

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

/// As ReadRig, in real time: a thread for each of three rails, and one for home. When it goes, all
/// reads before it, everything must have been given back as well.
class ThreadedRig {
 public:
  /// `bad` is what the second rail does wrong.
  ThreadedRig(const HeldShape& shape, FaultScript bad);
  ~ThreadedRig();
  ThreadedRig(const ThreadedRig&) = delete;
  ThreadedRig& operator=(const ThreadedRig&) = delete;

  /// Of everything that is held.
  std::unique_ptr<RigRead> make(CancelToken token, bool retry);
  /// Runs to the end of the read, on the home thread.
  Result<void> run(RigRead& read);

 private:
  static constexpr std::size_t kRails = 3;

  ResourceCensus census_;

 public:
  SteadyClock clock;
  HeldBlocks held;

 private:
  SlabPool pool_;
  CensusAtEnd census_at_end_{census_};  // after the threads have been joined

 public:
  Worker home;
  ScriptedOwner owner;  // on home only

 private:
  MockNet net_;
  MockHolder holder_;
  std::uint64_t next_read_ = 1;
  std::array<SeededRandom, kRails> randoms_ = {SeededRandom(1), SeededRandom(2), SeededRandom(3)};
  std::array<Worker, kRails> ports_;
  std::vector<std::unique_ptr<Rail>> rails_;
};

}  // namespace corail::test
