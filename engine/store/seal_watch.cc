#include "engine/store/seal_watch.h"

#include <fmt/core.h>

#include <utility>

namespace corail {

SealWatch::~SealWatch() { board_->forget(*this); }

namespace detail {
namespace {

/// A namespace may hold any bytes: its length says where it ends.
std::string key_of(std::string_view name_space, std::string_view hash) {
  std::string key;
  key.reserve(2 + name_space.size() + hash.size());
  key.push_back(static_cast<char>(name_space.size() & 0xFFU));
  key.push_back(static_cast<char>(name_space.size() >> 8));
  key.append(name_space).append(hash);
  return key;
}

}  // namespace

Result<std::unique_ptr<SealWatch>> SealBoard::watch(SessionId session, std::string_view name_space,
                                                    const std::vector<std::string_view>& hashes,
                                                    std::function<void()> complete) {
  const auto known = held_.find(session);
  const Held now = known == held_.end() ? Held() : known->second;
  if (now.watches >= options_.max_waiting_queries_per_requester ||
      hashes.size() > options_.max_waited_keys_per_requester - now.keys) {
    return Error(Errc::kBusy, Stage::kQuery,
                 fmt::format("{} queries of the requester wait for {} blocks already, and at most "
                             "{} may for {}; ask without waiting, or for fewer blocks at a time",
                             now.watches, now.keys, options_.max_waiting_queries_per_requester,
                             options_.max_waited_keys_per_requester));
  }
  std::unique_ptr<SealWatch> watch(new SealWatch(shared_from_this(), session, std::move(complete)));
  ++watches_;
  ++held_[session].watches;
  watch->keys_.reserve(hashes.size());
  for (const std::string_view hash : hashes) {
    std::string key = key_of(name_space, hash);
    std::vector<SealWatch*>& watchers = watchers_[key];
    // A hash that is there twice; the query itself will refuse it.
    if (!watchers.empty() && watchers.back() == watch.get()) continue;
    watchers.push_back(watch.get());
    watch->keys_.push_back(std::move(key));
    ++watch->missing_;
    ++held_[session].keys;
  }
  return watch;
}

void SealBoard::sealed(std::string_view name_space, std::string_view hash) {
  if (watchers_.empty()) return;
  const auto found = watchers_.find(key_of(name_space, hash));
  if (found == watchers_.end()) return;
  const std::vector<SealWatch*> watchers = std::move(found->second);
  watchers_.erase(found);
  for (SealWatch* const watch : watchers) {
    if (--watch->missing_ == 0) watch->complete_();
  }
}

void SealBoard::forget(const SealWatch& watch) {
  for (const std::string& key : watch.keys_) {
    const auto found = watchers_.find(key);
    // Sealed meanwhile.
    if (found == watchers_.end()) continue;
    std::erase(found->second, &watch);
    if (found->second.empty()) watchers_.erase(found);
  }
  --watches_;
  const auto held = held_.find(watch.session_);
  held->second.keys -= watch.keys_.size();
  if (--held->second.watches == 0) held_.erase(held);
}

}  // namespace detail
}  // namespace corail
