#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/store/store_types.h"

namespace corail {

namespace detail {
class SealBoard;
}

/// Somebody's wait for keys to be sealed, which ends when this goes. Home executor only.
class SealWatch {
 public:
  ~SealWatch();
  SealWatch(const SealWatch&) = delete;
  SealWatch& operator=(const SealWatch&) = delete;

  /// How many keys have not been sealed since; 0: there is nothing to wait for.
  std::size_t missing() const noexcept { return missing_; }

 private:
  friend class detail::SealBoard;
  SealWatch(std::shared_ptr<detail::SealBoard> board, SessionId session,
            std::function<void()> complete)
      : board_(std::move(board)), session_(session), complete_(std::move(complete)) {}

  const std::shared_ptr<detail::SealBoard> board_;
  const SessionId session_;
  const std::function<void()> complete_;
  std::vector<std::string> keys_;  // each once
  std::size_t missing_ = 0;
};

namespace detail {

/// Who waits for which keys to be sealed. What a seal costs here is one lookup a block, and none
/// while nobody waits. Owned by the store and the watches; home executor only.
class SealBoard : public std::enable_shared_from_this<SealBoard> {
 public:
  explicit SealBoard(const StoreOptions& options) : options_(options) {}

  /// Watches the keys, which are not in the store now. Fails with kBusy where the session waits for
  /// as much as it may.
  Result<std::unique_ptr<SealWatch>> watch(SessionId session, std::string_view name_space,
                                           const std::vector<std::string_view>& hashes,
                                           std::function<void()> complete);

  void sealed(std::string_view name_space, std::string_view hash);

  std::size_t watches() const noexcept { return watches_; }
  std::size_t watched_keys() const noexcept { return watchers_.size(); }

 private:
  friend class corail::SealWatch;

  /// What one session waits for.
  struct Held {
    std::size_t watches = 0;
    std::size_t keys = 0;
  };

  void forget(const SealWatch& watch);

  const StoreOptions options_;
  std::unordered_map<std::string, std::vector<SealWatch*>> watchers_;  // by namespace and hash
  std::unordered_map<SessionId, Held> held_;
  std::size_t watches_ = 0;
};

}  // namespace detail
}  // namespace corail
