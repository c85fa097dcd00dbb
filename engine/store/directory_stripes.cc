#include "engine/store/directory_stripes.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/log.h"
#include "engine/object/descriptor_check.h"
#include "engine/store/store_names.h"

namespace corail::detail {

std::vector<std::uint64_t> bytes_on_devices(std::uint64_t size, std::uint64_t stripe_size,
                                            std::uint32_t devices) {
  std::vector<std::uint64_t> bytes(devices);
  const auto stripes = static_cast<std::uint32_t>(stripes_of(size, stripe_size));
  for (std::uint32_t i = 0; i < stripes; ++i) {
    bytes[i % devices] += stripe_length(size, stripe_size, i);
  }
  return bytes;
}

DirectoryStripes::DirectoryStripes(const DiskDirectories& directories, ObjectGeneration generation,
                                   std::uint64_t size, std::uint64_t stripe_size)
    : directories_(directories),
      name_(stripes_name(generation)),
      stripe_size_(stripe_size),
      used_(std::min<std::uint64_t>(directories.size(), stripes_of(size, stripe_size))) {}

Task<Result<void>> DirectoryStripes::create() {
  for (std::size_t device = 0; device < used_; ++device) {
    auto file = co_await directories_[device]->create_new(name_);
    if (!file && file.error().code() == Errc::kRefused) {
      // Somebody's stripes: neither ours to empty nor to remove.
      co_await remove_first(device);
      co_return Error(Errc::kStoreFailed, file.error().detail());
    }
    if (!file) {
      co_await remove_first(device + 1);
      co_return std::move(file).error();
    }
    files_.push_back(std::move(*file));
  }
  co_return ok_result();
}

Task<Result<void>> DirectoryStripes::write(std::uint32_t stripe, std::uint64_t offset,
                                           std::span<const std::byte> bytes) {
  const StripePlace at = place(stripe);
  auto written = co_await files_[at.device]->write(at.offset + offset, bytes);
  co_return written;
}

Task<Result<void>> DirectoryStripes::read(std::uint32_t stripe, std::uint64_t offset,
                                          std::span<std::byte> into) {
  const StripePlace at = place(stripe);
  const auto file = co_await directories_[at.device]->open(name_);
  if (!file) {
    if (file.error().code() != Errc::kNotFound) co_return file.error();
    co_return Error(Errc::kStripeLost, file.error().detail());
  }
  auto read = co_await (*file)->read(at.offset + offset, into);
  if (!read && read.error().code() == Errc::kByteCountMismatch) {
    co_return Error(Errc::kStripeLost, read.error().detail());
  }
  co_return read;
}

Task<Result<void>> DirectoryStripes::sync() {
  for (std::size_t device = 0; device < used_; ++device) {
    auto content = co_await files_[device]->sync();
    if (!content) co_return std::move(content).error();
    auto name = co_await directories_[device]->sync();
    if (!name) co_return std::move(name).error();
  }
  files_.clear();
  co_return ok_result();
}

Task<void> DirectoryStripes::remove() { return remove_first(used_); }

Task<void> DirectoryStripes::remove_first(std::size_t devices) {
  files_.clear();
  for (std::size_t device = 0; device < devices; ++device) {
    const auto removed = co_await directories_[device]->remove(name_);
    if (!removed && removed.error().code() != Errc::kNotFound) {
      log_limited("stripes are not removed", LogLevel::kWarning,
                  "stripes that nobody needs stay until the next start: {}",
                  removed.error().to_string());
    }
  }
}

std::string DirectoryStripes::where(std::uint32_t stripe) const {
  const StripePlace at = place(stripe);
  return fmt::format("at byte {} of {}/{}", at.offset, directories_[at.device]->path(), name_);
}

}  // namespace corail::detail
