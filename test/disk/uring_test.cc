#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/disk/local_file.h"
#include "engine/disk/uring_io.h"
#include "test/disk/kernel_rings.h"
#include "test/disk/temporary_directory.h"

namespace corail::test {
namespace {

/// A ring over a kernel that takes entries as `submit` says, and a file.
struct Ring {
  explicit Ring(unsigned depth) {
    if (!kernel_has_rings()) {
      BOOST_TEST_MESSAGE("left out: this kernel has no io_uring for us");
      return;
    }
    auto made = UringIo::create(context.get_executor(), depth, [this](io_uring* ring) {
      ++calls;
      return submit ? submit(ring) : io_uring_submit(ring);
    });
    BOOST_REQUIRE_MESSAGE(made.ok(), (made ? "" : made.error().to_string()));
    io = std::move(*made);
    file = Descriptor(::open((folder.path() + "/f").c_str(), O_RDWR | O_CREAT, 0600));
    BOOST_REQUIRE(static_cast<bool>(file));
  }

  /// Begins to write block `number`, all of it that number.
  void write(std::uint64_t number) {
    blocks.push_back(std::vector<std::byte>(kBlock, static_cast<std::byte>(number)));
    const std::size_t at = results.size();
    results.push_back(kRunning);
    asio::co_spawn(context, io->write(file.fd(), number * kBlock, blocks.back()),
                   [this, at](std::exception_ptr failed, std::int64_t result) {
                     results[at] = failed ? kThrown : result;
                   });
  }
  std::size_t ended_with(std::int64_t result) const {
    return static_cast<std::size_t>(std::ranges::count(results, result));
  }
  bool holds(std::uint64_t number) const {
    std::vector<std::byte> found(kBlock);
    const auto got = ::pread(file.fd(), found.data(), kBlock, static_cast<off_t>(number * kBlock));
    return got == static_cast<ssize_t>(kBlock) &&
           found == std::vector<std::byte>(kBlock, static_cast<std::byte>(number));
  }

  static constexpr std::size_t kBlock = 4096;
  static constexpr std::int64_t kRunning = -1'000'000;
  static constexpr std::int64_t kThrown = -1'000'001;

  TemporaryDirectory folder;
  asio::io_context context{1};
  std::function<int(io_uring*)> submit;
  std::size_t calls = 0;
  std::unique_ptr<UringIo> io;
  Descriptor file;
  std::vector<std::vector<std::byte>> blocks;
  std::vector<std::int64_t> results;
};

BOOST_AUTO_TEST_SUITE(uring)

BOOST_AUTO_TEST_CASE(entries_that_the_kernel_does_not_take_are_offered_again) {
  for (const int answer : {-EAGAIN, -EBUSY, -EINTR, 0}) {
    Ring ring(4);
    if (!ring.io) return;
    ring.blocks.reserve(12);
    ring.submit = [&ring, answer](io_uring* entries) {
      return ring.calls % 3 != 0 ? answer : io_uring_submit(entries);
    };
    for (std::uint64_t i = 0; i < 12; ++i) ring.write(i + 1);
    ring.context.run();
    BOOST_TEST_CONTEXT("answer " << answer) {
      BOOST_TEST(ring.ended_with(Ring::kBlock) == 12U);
      for (std::uint64_t i = 0; i < 12; ++i) BOOST_TEST(ring.holds(i + 1));
      BOOST_TEST(ring.calls > 12U);
    }
  }
}

// A call may have handed over its entries and fail all the same.
BOOST_AUTO_TEST_CASE(what_was_taken_by_a_call_that_failed_is_waited_for) {
  Ring ring(4);
  if (!ring.io) return;
  ring.blocks.reserve(6);
  ring.submit = [](io_uring* entries) {
    static_cast<void>(io_uring_submit(entries));
    return -EAGAIN;
  };
  for (std::uint64_t i = 0; i < 6; ++i) ring.write(i + 1);
  ring.context.run();
  BOOST_TEST(ring.ended_with(Ring::kBlock) == 6U);
  for (std::uint64_t i = 0; i < 6; ++i) BOOST_TEST(ring.holds(i + 1));
}

BOOST_AUTO_TEST_CASE(a_ring_that_takes_nothing_fails_in_bounded_time_and_touches_nothing) {
  Ring ring(2);
  if (!ring.io) return;
  ring.blocks.reserve(7);
  bool takes = true;
  ring.submit = [&takes](io_uring* entries) { return takes ? io_uring_submit(entries) : -EBUSY; };
  ring.write(1);
  ring.context.run();
  takes = false;
  for (std::uint64_t i = 1; i < 6; ++i) ring.write(i + 1);
  ring.context.restart();
  ring.context.run();
  BOOST_TEST(ring.ended_with(Ring::kBlock) == 1U);
  BOOST_TEST(ring.ended_with(-EIO) == 5U);
  // Nothing of it is handed over later, when the memory is somebody else's.
  takes = true;
  const std::size_t calls = ring.calls;
  ring.write(9);
  ring.context.restart();
  ring.context.run();
  BOOST_TEST(ring.ended_with(-EIO) == 6U);
  BOOST_TEST(ring.calls == calls);
  BOOST_TEST(!ring.holds(2));
}

// The kernel has the caller's memory: a cancelled caller gets it back only afterwards.
BOOST_AUTO_TEST_CASE(a_cancelled_caller_is_waited_for) {
  Ring ring(1);
  if (!ring.io) return;
  ring.blocks.reserve(2);
  bool takes = false;
  ring.submit = [&takes](io_uring* entries) { return takes ? io_uring_submit(entries) : -EAGAIN; };
  ring.write(1);  // has the only place
  ring.context.poll();
  const std::vector<std::byte> second(Ring::kBlock, std::byte{2});
  asio::cancellation_signal cancel;
  std::int64_t result = Ring::kRunning;
  asio::co_spawn(ring.context, ring.io->write(ring.file.fd(), 2 * Ring::kBlock, second),
                 asio::bind_cancellation_slot(
                     cancel.slot(), [&result](std::exception_ptr failed, std::int64_t got) {
                       result = failed ? Ring::kThrown : got;
                     }));
  ring.context.poll();
  cancel.emit(asio::cancellation_type::terminal);
  ring.context.poll();
  BOOST_TEST(result == Ring::kRunning);
  takes = true;
  ring.context.restart();
  ring.context.run();
  BOOST_TEST(ring.ended_with(Ring::kBlock) == 1U);
  BOOST_TEST(result == static_cast<std::int64_t>(Ring::kBlock));
  BOOST_TEST(ring.holds(2));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
