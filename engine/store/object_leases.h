#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/store/object_medium.h"

namespace corail::detail {

/// One generation of an object, and who still needs its bytes.
struct StoredObject {
  std::shared_ptr<const StripingInfo> info;
  std::shared_ptr<StripeSet> stripes;
  std::optional<Error> lost{};  // why it cannot be read, of one that was found so
  bool current = true;          // the key's manifest is this one's
  std::uint32_t users = 0;      // leases, and reads that run
};

/// Who was promised which generation until when, one timer each. Owned by the store, executor only.
class ObjectLeases {
 public:
  /// `ended` is called for each lease that ends, once, with what it was for.
  using Ended = std::function<void(const std::shared_ptr<StoredObject>& object)>;

  ObjectLeases(Clock& clock, asio::any_io_executor executor, BootId boot, std::size_t most,
               Ended ended)
      : clock_(clock),
        executor_(std::move(executor)),
        boot_(boot),
        most_(most),
        ended_(std::move(ended)) {}

  /// kQuotaExceeded: there are as many as there may be.
  Result<LeaseId> grant(std::shared_ptr<StoredObject> object, Duration ttl);
  /// What a live lease is for. kLeaseExpired: it lapsed, or was released. kNotFound: this store
  /// never gave it.
  Result<std::shared_ptr<StoredObject>> find(LeaseId id);
  /// It lasts `ttl` from now on, and no less than it did. As find().
  Result<void> renew(LeaseId id, Duration ttl);
  /// Idempotent.
  void release(LeaseId id);
  void release_all();

  std::size_t size() const noexcept { return leases_.size(); }
  std::uint64_t lapsed() const noexcept { return lapsed_; }

 private:
  struct Lease {
    std::shared_ptr<StoredObject> object;
    TimePoint expires;
    std::unique_ptr<Timer> timer;
  };

  Result<Lease*> find_live(LeaseId id);
  void arm(std::uint64_t counter, Lease& lease);
  void end(std::uint64_t counter);

  Clock& clock_;
  const asio::any_io_executor executor_;
  const BootId boot_;
  const std::size_t most_;
  const Ended ended_;
  std::unordered_map<std::uint64_t, Lease> leases_;
  std::uint64_t next_counter_ = 1;
  std::uint64_t lapsed_ = 0;
};

}  // namespace corail::detail
