#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/store/object_store.h"

namespace corail::test {

/// A store on a context that runs when told to, in virtual time, and what tests do with one.
class StoreRig {
 public:
  StoreRig() = default;
  ~StoreRig() { stop(); }

  /// Makes a store of the medium and starts it.
  Result<RecoveryReport> start(std::unique_ptr<ObjectMedium> medium);
  /// The same with other limits.
  Result<RecoveryReport> start(std::unique_ptr<ObjectMedium> medium, ObjectStoreOptions options);
  /// Closes it, if there is one. Leases end with it.
  void stop();
  ObjectStore& store() noexcept { return *store_; }
  ManualClock& clock() noexcept { return clock_; }
  asio::any_io_executor executor() { return context_.get_executor(); }

  /// Runs a task to its end.
  template <typename T>
  T run(Task<T> task) {
    std::optional<T> outcome;
    asio::co_spawn(context_, std::move(task), [&outcome](std::exception_ptr failed, T value) {
      if (failed) std::rethrow_exception(failed);
      outcome.emplace(std::move(value));
    });
    while (!outcome) {
      context_.restart();
      context_.run_one();
    }
    return std::move(*outcome);
  }
  /// Lets what is ready run.
  void settle();
  void advance(Duration by);

  /// Begins, writes content_of(seed, size) and commits. The generation, or the first error; the put
  /// is aborted then, where it still needs to be.
  Result<ObjectGeneration> put(const std::string& key, std::uint64_t seed, std::uint64_t size);
  Result<ObjectGeneration> put(const PutRequest& request, std::uint64_t seed);
  /// Writes the whole content of an open put, stripe after stripe.
  Result<void> write_all(ObjectGeneration put, const PutRequest& request,
                         const std::vector<std::byte>& content);

  Result<LeaseId> lease(const std::string& key);
  /// The whole object under the lease, each stripe verified.
  Result<std::vector<std::byte>> read_all(LeaseId lease, const StripingInfo& info);
  /// Looks the key up, leases, reads and releases it.
  Result<std::vector<std::byte>> get(const std::string& key);

  static ObjectStoreOptions options();
  static PutRequest request(const std::string& key, std::uint64_t size);

 private:
  asio::io_context context_{1};
  ManualClock clock_;
  std::unique_ptr<ObjectStore> store_;
  std::uint64_t boot_ = 0;
};

/// The names in one line.
std::string joined(const std::vector<std::string>& names);

/// "ok", or the error's text.
template <typename T>
std::string text_of(const Result<T>& result) {
  return result.ok() ? std::string("ok") : result.error().to_string();
}

/// The error's code; kUnset for a success.
template <typename T>
Errc code_of(const Result<T>& result) {
  return result.ok() ? Errc::kUnset : result.error().code();
}

}  // namespace corail::test
