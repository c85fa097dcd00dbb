#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/store/object_medium.h"

namespace corail::sim {

/// Has somebody look at the store before each change of a manifest: several changes of a key may
/// come in one step of the world, and the model wants to see each.
class WatchedMedium final : public ObjectMedium {
 public:
  WatchedMedium(std::unique_ptr<ObjectMedium> inner, std::function<void()> look)
      : inner_(std::move(inner)), look_(std::move(look)) {}

  std::uint32_t devices() const noexcept override { return inner_->devices(); }
  Task<Result<Recovered>> recover() override { return inner_->recover(); }
  Task<Result<void>> reserve_generations(std::uint64_t bound) override {
    return inner_->reserve_generations(bound);
  }
  Task<Result<std::shared_ptr<StripeSet>>> create(ObjectGeneration generation, std::uint64_t size,
                                                  std::uint64_t stripe_size) override {
    return inner_->create(generation, size, stripe_size);
  }
  Task<Result<void>> write_manifest(const StripingInfo& info) override {
    look_();
    return inner_->write_manifest(info);
  }
  Task<Result<void>> install_manifest(const std::string& key) override {
    return inner_->install_manifest(key);
  }
  Task<Result<void>> withdraw(const std::string& key) override {
    look_();
    return inner_->withdraw(key);
  }

 private:
  const std::unique_ptr<ObjectMedium> inner_;
  const std::function<void()> look_;
};

}  // namespace corail::sim
