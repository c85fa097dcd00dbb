#include "test/disk/simulated_disk.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "test/disk/simulated_folder.h"

namespace corail::test {

class SimulatedDiskFile final : public DiskFile {
 public:
  SimulatedDiskFile(SimulatedDisk& disk, std::string name,
                    std::shared_ptr<simulated::SimulatedFile> file)
      : disk_(disk), name_(std::move(name)), file_(std::move(file)) {}

  Task<Result<void>> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const SimulatedDisk::Fate fate = co_await disk_.next_call("write " + name_);
    const std::uint64_t end = offset + bytes.size();
    const std::uint64_t now = file_->content.size();
    const std::uint64_t room = disk_.capacity_ - std::min(disk_.used(), disk_.capacity_);
    const bool full = end > now && end - now > room;
    const std::uint64_t fitting =
        full ? std::min(now + room - std::min(now + room, offset), bytes.size()) : bytes.size();
    if (fate.takes_effect) file_->write(offset, bytes.first(fitting));
    if (fate.error) co_return *fate.error;
    if (full) co_return Error(Errc::kStoreFull, "no space left on the device: write " + name_);
    co_return ok_result();
  }

  Task<Result<void>> read(std::uint64_t offset, std::span<std::byte> into) override {
    const SimulatedDisk::Fate fate = co_await disk_.next_call("read " + name_);
    if (fate.error) co_return *fate.error;
    if (offset + into.size() > file_->content.size()) {
      co_return Error(Errc::kByteCountMismatch, "the file ends early: read " + name_);
    }
    const auto from = file_->content.begin() + static_cast<std::ptrdiff_t>(offset);
    std::copy_n(from, into.size(), into.begin());
    co_return ok_result();
  }

  Task<Result<void>> sync() override {
    const SimulatedDisk::Fate fate = co_await disk_.next_call("fsync " + name_);
    if (fate.takes_effect) file_->sync();
    // The page cache calls the pages clean although they never reached the disk.
    if (fate.error && !fate.takes_effect) file_->forget_pending();
    if (fate.error) co_return *fate.error;
    co_return ok_result();
  }

 private:
  SimulatedDisk& disk_;
  const std::string name_;
  const std::shared_ptr<simulated::SimulatedFile> file_;
};

class SimulatedDirectory final : public DiskDirectory {
 public:
  SimulatedDirectory(SimulatedDisk& disk, std::string path,
                     std::shared_ptr<simulated::SimulatedFolder> folder)
      : disk_(disk), path_(std::move(path)), folder_(std::move(folder)) {}

  Task<Result<std::shared_ptr<DiskFile>>> create(std::string name) override {
    const SimulatedDisk::Fate fate = co_await next_call("create", name);
    co_return make(name, fate);
  }
  Task<Result<std::shared_ptr<DiskFile>>> create_new(std::string name) override {
    const SimulatedDisk::Fate fate = co_await next_call("create", name);
    if (!folder_->names.contains(name)) co_return make(name, fate);
    if (fate.error) co_return *fate.error;
    co_return Error(Errc::kRefused, fmt::format("there is a file {}/{} already", path_, name));
  }
  Task<Result<std::shared_ptr<DiskFile>>> open(std::string name) override {
    const SimulatedDisk::Fate fate = co_await next_call("open", name);
    if (fate.error) co_return *fate.error;
    const auto found = folder_->names.find(name);
    if (found == folder_->names.end()) co_return missing(name);
    co_return handle(name, found->second);
  }
  Task<Result<void>> rename(std::string from, std::string to) override {
    const SimulatedDisk::Fate fate = co_await next_call("rename", from + " to " + to);
    const auto found = folder_->names.find(from);
    if (found == folder_->names.end()) co_return fate.error ? *fate.error : missing(from);
    if (fate.takes_effect) folder_->rename(from, to);
    if (fate.error) co_return *fate.error;
    co_return ok_result();
  }
  Task<Result<void>> remove(std::string name) override {
    const SimulatedDisk::Fate fate = co_await next_call("unlink", name);
    if (!folder_->names.contains(name)) co_return fate.error ? *fate.error : missing(name);
    if (fate.takes_effect) folder_->remove(name);
    if (fate.error) co_return *fate.error;
    co_return ok_result();
  }
  Task<Result<void>> sync() override {
    const SimulatedDisk::Fate fate = co_await next_call("fsync", ".");
    if (fate.takes_effect) folder_->sync();
    if (fate.error) co_return *fate.error;
    co_return ok_result();
  }
  Task<Result<std::vector<DirectoryEntry>>> list() override {
    const SimulatedDisk::Fate fate = co_await next_call("list", ".");
    if (fate.error) co_return *fate.error;
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, file] : folder_->names) entries.push_back({name, file->content.size()});
    co_return entries;
  }
  std::string path() const override { return path_; }

 private:
  Task<SimulatedDisk::Fate> next_call(std::string_view call, const std::string& name) {
    return disk_.next_call(fmt::format("{} {}/{}", call, path_, name));
  }
  Result<std::shared_ptr<DiskFile>> make(const std::string& name, const SimulatedDisk::Fate& fate) {
    const auto file = std::make_shared<simulated::SimulatedFile>();
    if (fate.takes_effect) folder_->put(name, file);
    if (fate.error) return *fate.error;
    return handle(name, file);
  }
  std::shared_ptr<DiskFile> handle(const std::string& name,
                                   std::shared_ptr<simulated::SimulatedFile> file) {
    return std::make_shared<SimulatedDiskFile>(disk_, path_ + "/" + name, std::move(file));
  }
  Error missing(const std::string& name) const {
    return Error(Errc::kNotFound, fmt::format("there is no file {}/{}", path_, name));
  }

  SimulatedDisk& disk_;
  const std::string path_;
  const std::shared_ptr<simulated::SimulatedFolder> folder_;
};

std::unique_ptr<DiskDirectory> SimulatedDisk::directory(const std::string& path) {
  std::shared_ptr<simulated::SimulatedFolder>& folder = folders_[path];
  if (!folder) folder = std::make_shared<simulated::SimulatedFolder>();
  return std::make_unique<SimulatedDirectory>(*this, path, folder);
}

Task<SimulatedDisk::Fate> SimulatedDisk::next_call(std::string what) {
  const auto executor = co_await asio::this_coro::executor;
  const std::uint64_t turns = most_turns_ == 0 ? 0 : random_.below(most_turns_ + 1);
  for (std::uint64_t i = 0; i < turns; ++i) co_await asio::post(executor, asio::use_awaitable);
  while (held_part_ && what.find(*held_part_) != std::string::npos) {
    const auto event = std::make_shared<Event>(executor);
    waiting_.push_back(event);
    co_await event->wait();
  }
  co_return decide(what);
}

void SimulatedDisk::let_go() {
  held_part_.reset();
  for (const auto& event : std::exchange(waiting_, {})) event->notify();
}

SimulatedDisk::Fate SimulatedDisk::decide(const std::string& what) {
  ++calls_;
  const Error off(Errc::kStoreFailed, "the machine has crashed: " + what);
  if (crashed_) return {false, off};
  if (calls_ == crash_at_) {
    crashed_ = true;
    return {chance(), off};
  }
  if (calls_ == fail_at_)
    return {chance(), Error(Errc::kStoreFailed, "input/output error: " + what)};
  return {};
}

void SimulatedDisk::restart(CrashLoss loss) {
  if (loss != CrashLoss::kProcessOnly) {
    for (auto& [path, folder] : folders_) folder->crash(loss, random_);
  }
  crashed_ = false;
  crash_at_ = 0;
}

std::vector<std::string> SimulatedDisk::names(const std::string& path) const {
  std::vector<std::string> names;
  const auto found = folders_.find(path);
  if (found == folders_.end()) return names;
  for (const auto& [name, file] : found->second->names) names.push_back(name);
  return names;
}

std::vector<std::byte>* SimulatedDisk::content(const std::string& path, const std::string& name) {
  const auto folder = folders_.find(path);
  if (folder == folders_.end()) return nullptr;
  const auto file = folder->second->names.find(name);
  return file == folder->second->names.end() ? nullptr : &file->second->content;
}

std::uint64_t SimulatedDisk::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [path, folder] : folders_) {
    for (const auto& [name, file] : folder->names) bytes += file->content.size();
  }
  return bytes;
}

}  // namespace corail::test
