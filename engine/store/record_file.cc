#include "engine/store/record_file.h"

#include <memory>
#include <utility>

#include "engine/store/store_names.h"

namespace corail::detail {
namespace {

Task<Result<void>> write_and_sync(DiskDirectory& directory, std::string name,
                                  std::span<const std::byte> bytes) {
  const auto file = co_await directory.create(std::move(name));
  if (!file) co_return file.error();
  auto written = co_await (*file)->write(0, bytes);
  if (!written) co_return std::move(written).error();
  // Before the rename: else the new name could survive a crash that its bytes do not.
  auto synced = co_await (*file)->sync();
  co_return synced;
}

}  // namespace

Task<Result<void>> write_record(DiskDirectory& directory, std::string name,
                                std::vector<std::byte> bytes) {
  const std::string temporary = temporary_name(name);
  auto written = co_await write_and_sync(directory, temporary, bytes);
  if (written) co_return written;
  // A full disk has no room for half a record. What cannot be removed is found by the next start.
  const auto removed = co_await directory.remove(temporary);
  static_cast<void>(removed);
  co_return written;
}

Task<Result<void>> install_record(DiskDirectory& directory, std::string name) {
  auto renamed = co_await directory.rename(temporary_name(name), name);
  if (!renamed) co_return std::move(renamed).error();
  auto synced = co_await directory.sync();
  co_return synced;
}

Task<Result<std::vector<std::byte>>> read_record(DiskDirectory& directory, std::string name,
                                                 std::uint64_t bytes) {
  const auto file = co_await directory.open(std::move(name));
  if (!file) co_return file.error();
  std::vector<std::byte> content(bytes);
  auto read = co_await (*file)->read(0, content);
  if (!read) co_return std::move(read).error();
  co_return content;
}

}  // namespace corail::detail
