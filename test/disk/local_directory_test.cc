#include "engine/disk/local_directory.h"

#include <fcntl.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/units.h"
#include "engine/disk/disk_access.h"
#include "engine/disk/uring_io.h"
#include "engine/memory/slab.h"
#include "test/disk/kernel_rings.h"
#include "test/disk/temporary_directory.h"

namespace corail::test {
namespace {

/// The ways of moving bytes; what the kernel refuses is told and left out.
struct ByThreads {
  static std::unique_ptr<DiskIo> make(const asio::any_io_executor&) {
    return std::make_unique<DiskThreads>(2);
  }
};
struct ByRing {
  static std::unique_ptr<DiskIo> make(const asio::any_io_executor& executor) {
    auto ring = UringIo::create(executor, 4);
    if (ring) return std::move(*ring);
    BOOST_TEST_MESSAGE("threads instead of a ring: " << ring.error().to_string());
    BOOST_TEST(!kernel_has_rings());
    return ByThreads::make(executor);
  }
};
using Ways = std::tuple<ByThreads, ByRing>;

/// A directory of this machine, on a context that runs when told to.
template <typename Way>
struct Fixture {
  Fixture() {
    auto made = StagingPool::create(context.get_executor(), 2);
    BOOST_REQUIRE(made.ok());
    staging = std::move(*made);
    io = Way::make(context.get_executor());
    auto opened = open();
    BOOST_REQUIRE_MESSAGE(opened.ok(), (opened ? "" : opened.error().to_string()));
    directory = std::move(*opened);
  }

  Result<std::unique_ptr<LocalDirectory>> open() {
    return LocalDirectory::open_existing(folder.path(), threads, *io, *staging);
  }
  /// Begins a task; its outcome is there once it has ended.
  template <typename T>
  std::shared_ptr<std::optional<T>> begin(Task<T> task) {
    const auto outcome = std::make_shared<std::optional<T>>();
    asio::co_spawn(context, std::move(task), [outcome](std::exception_ptr failed, T value) {
      if (failed) std::rethrow_exception(failed);
      outcome->emplace(std::move(value));
    });
    return outcome;
  }
  template <typename T>
  T run(Task<T> task) {
    std::optional<T> outcome;
    asio::co_spawn(context, std::move(task), [&outcome](std::exception_ptr failed, T value) {
      if (failed) std::rethrow_exception(failed);
      outcome.emplace(std::move(value));
    });
    context.restart();
    context.run();
    return std::move(*outcome);
  }
  std::shared_ptr<DiskFile> create(const std::string& name) {
    auto file = run(directory->create(name));
    BOOST_REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().to_string()));
    return *file;
  }

  TemporaryDirectory folder;
  asio::io_context context{1};
  DiskThreads threads{2};
  std::unique_ptr<StagingPool> staging;
  std::unique_ptr<DiskIo> io;
  std::unique_ptr<LocalDirectory> directory;
};

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(mix64(i + 1));
  return bytes;
}

template <typename T>
Errc code_of(const Result<T>& result) {
  return result.ok() ? Errc::kUnset : result.error().code();
}

BOOST_AUTO_TEST_SUITE(local_directory)

// Whole blocks and parts of them, from memory that is aligned and that is not, longer than a
// staging buffer, and past the end.
BOOST_AUTO_TEST_CASE_TEMPLATE(bytes_come_back_however_they_are_aligned, Way, Ways) {
  Fixture<Way> f;
  BOOST_TEST_MESSAGE(f.directory->describe());
  const std::size_t size = 2 * kStagingBufferBytes + 3 * LocalFile::kBlock + 77;
  const auto content = pattern(size);
  SlabOptions options;
  options.bytes = size + LocalFile::kBlock;
  const auto slab = Slab::create(options);
  BOOST_REQUIRE(slab.ok());
  const std::span<std::byte> memory((*slab)->data(), (*slab)->bytes());
  for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
    const auto bytes = memory.subspan(shift, size);
    std::ranges::copy(content, bytes.begin());
    const auto file = f.create("a" + std::to_string(shift));
    const std::size_t split = kStagingBufferBytes + 5;
    BOOST_TEST(f.run(file->write(0, bytes.first(split))).ok());
    BOOST_TEST(f.run(file->write(split, bytes.subspan(split))).ok());
    BOOST_TEST(f.run(file->sync()).ok());
    const auto again = f.run(f.directory->open("a" + std::to_string(shift)));
    BOOST_REQUIRE(again.ok());
    for (const auto& [offset, length] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, size},
                                                          {0, 1},
                                                          {4095, 2},
                                                          {4096, 4096},
                                                          {4096, 4097},
                                                          {size - 1, 1},
                                                          {7, size - 7}}) {
      std::ranges::fill(memory, std::byte{0});
      const auto into = memory.subspan(shift, length);
      BOOST_TEST(f.run((*again)->read(offset, into)).ok());
      const bool same = std::ranges::equal(into, std::span(content).subspan(offset, length));
      BOOST_TEST(same, "shift " << shift << ", " << length << " bytes at " << offset);
    }
    const auto beyond = f.run((*again)->read(size - 1, memory.first(2)));
    BOOST_TEST((code_of(beyond) == Errc::kByteCountMismatch));
    BOOST_TEST(
        (code_of(f.run((*again)->read(size + 9000, memory.first(2)))) == Errc::kByteCountMismatch));
    BOOST_TEST(std::filesystem::file_size(f.folder.path() + "/a" + std::to_string(shift)) == size);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(names_change_and_are_listed, Way, Ways) {
  Fixture<Way> f;
  BOOST_TEST(f.run(f.create("a")->write(0, pattern(5))).ok());
  f.create("b");
  BOOST_TEST(f.run(f.directory->rename("a", "b")).ok());
  BOOST_TEST(f.run(f.directory->sync()).ok());
  std::filesystem::create_directory(f.folder.path() + "/lost+found");
  std::filesystem::create_symlink("b", f.folder.path() + "/link");
  const auto entries = f.run(f.directory->list());
  BOOST_REQUIRE(entries.ok());
  BOOST_REQUIRE(entries->size() == 1U);
  BOOST_TEST(entries->front().name == "b");
  BOOST_TEST(entries->front().bytes == 5U);
  BOOST_TEST((code_of(f.run(f.directory->open("link"))) == Errc::kStoreFailed));
  BOOST_TEST((code_of(f.run(f.directory->open("a"))) == Errc::kNotFound));
  BOOST_TEST((code_of(f.run(f.directory->remove("a"))) == Errc::kNotFound));
  BOOST_TEST((code_of(f.run(f.directory->rename("a", "c"))) == Errc::kNotFound));
  f.create("b");  // empties it
  BOOST_TEST(std::filesystem::file_size(f.folder.path() + "/b") == 0U);
  BOOST_TEST(f.run(f.directory->remove("b")).ok());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_directory_belongs_to_one_store, Way, Ways) {
  Fixture<Way> f;
  const auto second = f.open();
  BOOST_TEST((code_of(second) == Errc::kBusy));
  f.directory.reset();
  BOOST_TEST(f.open().ok());
  const auto none =
      LocalDirectory::open_existing(f.folder.path() + "/none", f.threads, *f.io, *f.staging);
  BOOST_TEST((code_of(none) == Errc::kNotFound));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_full_device_and_a_wrong_file_are_typed, Way, Ways) {
  Fixture<Way> f;
  LocalFile full(*f.io, *f.staging, "/dev/full", Descriptor(::open("/dev/full", O_RDWR)),
                 Descriptor());
  const auto written = f.run(full.write(0, pattern(10)));
  BOOST_TEST((code_of(written) == Errc::kStoreFull));
  BOOST_TEST(written.error().detail().find("pwrite /dev/full: No space left") == 0U,
             written.error().to_string());
  const auto read_only = f.run(f.directory->create("r"));
  LocalFile wrong(*f.io, *f.staging, "r",
                  Descriptor(::open((f.folder.path() + "/r").c_str(), O_RDONLY)), Descriptor());
  BOOST_TEST((code_of(f.run(wrong.write(0, pattern(10)))) == Errc::kStoreFailed));
}

// More operations at a time than there are staging buffers and threads.
BOOST_AUTO_TEST_CASE_TEMPLATE(many_at_a_time_take_turns, Way, Ways) {
  Fixture<Way> f;
  const auto file = f.create("a");
  const auto content = pattern(40 * 3 * LocalFile::kBlock + 1);
  const auto bytes = std::span(content).subspan(1);  // not aligned: all are staged
  std::size_t done = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t at = i * 3 * LocalFile::kBlock;
    asio::co_spawn(f.context, file->write(at, bytes.subspan(at, 3 * LocalFile::kBlock)),
                   [&done](std::exception_ptr failed, Result<void> result) {
                     if (!failed && result.ok()) ++done;
                   });
  }
  f.context.restart();
  f.context.run();
  BOOST_TEST(done == 40U);
  std::vector<std::byte> back(bytes.size());
  BOOST_TEST(f.run(file->read(0, back)).ok());
  BOOST_TEST(std::ranges::equal(back, bytes));
}

// I8: what waits for a disk that hangs is bounded, and the rest is told so.
BOOST_AUTO_TEST_CASE(calls_beyond_the_bound_are_refused) {
  Fixture<ByThreads> f;
  DiskThreads few(1, 2);
  const TemporaryDirectory folder;
  auto directory = LocalDirectory::open_existing(folder.path(), few, few, *f.staging);
  BOOST_REQUIRE(directory.ok());
  std::promise<void> hang;
  std::shared_future<void> hanging = hang.get_future().share();
  std::size_t done = 0;
  for (int i = 0; i < 2; ++i) {
    const auto blocking = [hanging] {
      hanging.wait();
      return 0;
    };
    asio::co_spawn(f.context, few.call(blocking), [&done](std::exception_ptr, int) { ++done; });
  }
  f.context.poll();
  BOOST_TEST(few.full());
  const auto file = ::open("/dev/zero", O_RDONLY);
  LocalFile zero(few, *f.staging, "/dev/zero", Descriptor(file), Descriptor());
  std::vector<std::byte> into(1);
  const auto refused = f.begin(zero.read(0, into));
  const auto sync = f.begin((*directory)->sync());
  f.context.poll();
  BOOST_REQUIRE((refused->has_value() && sync->has_value()));
  BOOST_TEST((code_of(**refused) == Errc::kBusy));
  BOOST_TEST((code_of(**sync) == Errc::kBusy));
  hang.set_value();
  f.context.restart();
  f.context.run();
  BOOST_TEST(f.run(zero.read(0, into)).ok());
  BOOST_TEST(done == 2U);
}

BOOST_AUTO_TEST_CASE(access_says_how_and_does_without_a_ring) {
  asio::io_context context;
  DiskAccessOptions options;
  options.staging_buffers = 1;
  const auto access = DiskAccess::create(context.get_executor(), options);
  BOOST_REQUIRE(access.ok());
  BOOST_TEST_MESSAGE("disks by " << (*access)->describe());
  options.io_uring = false;
  const auto threads = DiskAccess::create(context.get_executor(), options);
  BOOST_TEST((*threads)->describe() == "4 threads");
  const TemporaryDirectory folder;
  const auto directory = (*threads)->open(folder.path());
  BOOST_TEST(directory.ok());
  BOOST_TEST((code_of((*access)->open(folder.path())) == Errc::kBusy));
  // As where the kernel has none.
  const auto refused = UringIo::create(context.get_executor(), 0);
  BOOST_TEST((code_of(refused) == Errc::kRefused));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
