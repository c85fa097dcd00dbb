#pragma once

#include <asio/any_io_executor.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/random.h"
#include "engine/disk/disk_access.h"
#include "engine/store/directory_medium.h"
#include "rpc/manifest/codec_manifest.h"
#include "test/disk/kernel_rings.h"
#include "test/disk/temporary_directory.h"

namespace corail::test {

/// Two directories of this machine, by io_uring where it has it, else by threads.
template <bool kRing>
class OnLocalDisk {
 public:
  std::unique_ptr<ObjectMedium> medium(const asio::any_io_executor& executor) {
    if (!access_) {
      DiskAccessOptions options;
      options.threads = 2;
      options.staging_buffers = 2;
      options.io_uring = kRing;
      auto access = DiskAccess::create(executor, options);
      BOOST_REQUIRE(access.ok());
      access_ = std::move(*access);
      const bool ring = access_->describe() == "io_uring";
      BOOST_TEST(ring == (kRing && kernel_has_rings()), access_->describe());
    }
    DiskDirectories directories;
    for (const TemporaryDirectory& folder : folders_) {
      auto directory = access_->open(folder.path());
      BOOST_REQUIRE_MESSAGE(directory.ok(), (directory ? "" : directory.error().to_string()));
      directories.push_back(std::move(*directory));
    }
    return std::make_unique<DirectoryMedium>(std::move(directories), codec_, random_);
  }
  bool nothing_left() const {
    std::size_t files = 0;
    for (const TemporaryDirectory& folder : folders_) {
      for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        files += entry.path().filename() == "store" ? 0 : 1;
      }
    }
    return files == 0;
  }
  const DiskAccess& access() const { return *access_; }

 private:
  TemporaryDirectory folders_[2];
  ProtobufManifestCodec codec_;
  SeededRandom random_{1};
  std::unique_ptr<DiskAccess> access_;
};

using ByUring = OnLocalDisk<true>;
using ByThreads = OnLocalDisk<false>;

}  // namespace corail::test
