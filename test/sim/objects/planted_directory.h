#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/disk/disk_directory.h"
#include "test/sim/plants.h"

namespace corail::sim {

/// A directory with a planted bug: it says that it is synced, or that a file is removed, and did
/// nothing.
class PlantedDirectory final : public DiskDirectory {
 public:
  PlantedDirectory(std::unique_ptr<DiskDirectory> inner, Plant plant)
      : inner_(std::move(inner)), plant_(plant) {}

  Task<Result<std::shared_ptr<DiskFile>>> create(std::string name) override {
    return inner_->create(std::move(name));
  }
  Task<Result<std::shared_ptr<DiskFile>>> create_new(std::string name) override {
    return inner_->create_new(std::move(name));
  }
  Task<Result<std::shared_ptr<DiskFile>>> open(std::string name) override {
    return inner_->open(std::move(name));
  }
  Task<Result<void>> rename(std::string from, std::string to) override {
    return inner_->rename(std::move(from), std::move(to));
  }
  Task<Result<void>> remove(std::string name) override {
    if (plant_ == Plant::kKeptDebris) co_return ok_result();
    auto removed = co_await inner_->remove(std::move(name));
    co_return removed;
  }
  Task<Result<void>> sync() override {
    if (plant_ == Plant::kLyingSync) co_return ok_result();
    auto synced = co_await inner_->sync();
    co_return synced;
  }
  Task<Result<std::vector<DirectoryEntry>>> list() override { return inner_->list(); }
  std::string path() const override { return inner_->path(); }

 private:
  const std::unique_ptr<DiskDirectory> inner_;
  const Plant plant_;
};

}  // namespace corail::sim
