#include "engine/store/directory_medium.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/check.h"
#include "engine/store/directory_recovery.h"
#include "engine/store/record_file.h"
#include "engine/store/run_apart.h"
#include "engine/store/store_names.h"

namespace corail {

DirectoryMedium::DirectoryMedium(DiskDirectories directories, const ManifestCodec& codec,
                                 Random& random, asio::any_io_executor workers)
    : directories_(std::move(directories)),
      codec_(codec),
      random_(random),
      workers_(std::move(workers)) {
  CORAIL_CHECK(!directories_.empty(), "a store without a directory");
}

DirectoryMedium::~DirectoryMedium() = default;

Task<Result<Recovered>> DirectoryMedium::recover() {
  detail::DirectoryRecovery recovery(directories_, codec_, random_);
  auto found = co_await recovery.run();
  if (!found) co_return std::move(found).error();
  store_ = recovery.store();
  name_of_ = recovery.take_name_of();
  names_ = recovery.take_names();
  co_return std::move(*found);
}

Task<Result<void>> DirectoryMedium::reserve_generations(std::uint64_t bound) {
  const StoreHead head{store_, 0, devices(), bound};
  auto written = co_await detail::write_record(*directories_[0], std::string(detail::kHeadName),
                                               codec_.encode_head(head));
  if (!written) co_return std::move(written).error();
  auto installed =
      co_await detail::install_record(*directories_[0], std::string(detail::kHeadName));
  co_return installed;
}

Task<Result<std::shared_ptr<StripeSet>>> DirectoryMedium::create(ObjectGeneration generation,
                                                                 std::uint64_t size,
                                                                 std::uint64_t stripe_size) {
  const auto stripes =
      std::make_shared<detail::DirectoryStripes>(directories_, generation, size, stripe_size);
  auto created = co_await stripes->create();
  if (!created) co_return std::move(created).error();
  std::shared_ptr<StripeSet> set = stripes;
  co_return set;
}

Task<Result<void>> DirectoryMedium::write_manifest(const StripingInfo& info) {
  const auto encode = [this, &info] { return codec_.encode(info); };
  std::vector<std::byte> bytes = co_await detail::run_apart(workers_, encode);
  if (bytes.size() > kMaxManifestBytes) {
    co_return Error(Errc::kTooLarge,
                    fmt::format("the manifest of '{}' has {} bytes, more than the {} allowed",
                                info.object.key, bytes.size(), kMaxManifestBytes));
  }
  const std::string name = name_for(info.object.key);
  auto written = co_await detail::write_record(*directories_[0], name, std::move(bytes));
  co_return written;
}

Task<Result<void>> DirectoryMedium::install_manifest(const std::string& key) {
  const std::string name = name_for(key);
  // Whatever becomes of it now: the name may be taken from here on.
  name_of_[key] = name;
  names_.insert(name);
  auto installed = co_await detail::install_record(*directories_[0], name);
  co_return installed;
}

Task<Result<void>> DirectoryMedium::withdraw(const std::string& key) {
  const auto found = name_of_.find(key);
  if (found == name_of_.end()) co_return ok_result();
  const std::string name = found->second;
  auto removed = co_await directories_[0]->remove(name);
  // It may have gone by an earlier call that failed, or never have come.
  if (!removed && removed.error().code() != Errc::kNotFound) co_return std::move(removed).error();
  auto synced = co_await directories_[0]->sync();
  if (!synced) co_return std::move(synced).error();
  name_of_.erase(key);
  names_.erase(name);
  co_return ok_result();
}

std::string DirectoryMedium::name_for(const std::string& key) const {
  const auto found = name_of_.find(key);
  if (found != name_of_.end()) return found->second;
  // Ends, because there are fewer names than numbers.
  for (std::uint32_t number = 0;; ++number) {
    std::string name = detail::manifest_name(key, number);
    if (!names_.contains(name)) return name;
  }
}

}  // namespace corail
