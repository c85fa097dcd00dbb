#include "engine/store/block_store.h"

#include <algorithm>
#include <utility>

#include "engine/store/query.h"
#include "engine/store/save_state.h"
#include "engine/store/store_state.h"

namespace corail {

Save::Save(std::unique_ptr<detail::SaveState> state) : state_(std::move(state)) {}
Save::Save(Save&&) noexcept = default;
Save& Save::operator=(Save&&) noexcept = default;
Save::~Save() = default;

std::span<const std::uint32_t> Save::new_blocks() const noexcept { return state_->new_blocks(); }
Result<Pin> Save::pin(std::uint32_t part) const { return state_->pin(part); }
std::span<std::byte> Save::writable(std::uint32_t position, std::uint32_t lane) const noexcept {
  return state_->writable(position, lane);
}
Result<void> Save::put_part(std::uint32_t part) { return state_->put_part(part); }
Result<void> Save::seal() { return state_->seal(); }

BlockStore::BlockStore(StoreOptions options, RegionRegistry& registry, Clock& clock,
                       asio::any_io_executor executor, BootId boot)
    : state_(std::make_unique<detail::StoreState>(std::move(options), registry, clock,
                                                  std::move(executor), boot)) {}
BlockStore::~BlockStore() = default;

std::shared_ptr<const Layout> BlockStore::intern(Layout layout) {
  return state_->shapes().intern(std::move(layout));
}

Result<Save> BlockStore::begin(const SaveRequest& request) {
  auto save = detail::SaveState::begin(*state_, request);
  if (!save) return std::move(save).error();
  return Save(std::move(*save));
}

Result<QueryAnswer> BlockStore::query_for_transfer(const QueryRequest& request) {
  return detail::query_for_transfer(*state_, request);
}

Result<std::unique_ptr<SealWatch>> BlockStore::watch(SessionId session, std::string_view name_space,
                                                     std::span<const std::string_view> hashes,
                                                     std::function<void()> complete) {
  auto checked =
      detail::check_keys(name_space, hashes, state_->options().max_hashes, Stage::kQuery);
  if (!checked) return std::move(checked).error();
  std::vector<std::string_view> missing;
  for (const std::string_view hash : hashes) {
    if (!contains(name_space, hash)) missing.push_back(hash);
  }
  return state_->seals().watch(session, name_space, missing, std::move(complete));
}

Result<void> BlockStore::confirm_and_release(SessionId session, ReadId read) {
  return state_->leases().confirm_and_release(session, read);
}
Result<void> BlockStore::confirm(SessionId session, ReadId read) {
  return state_->leases().confirm(session, read);
}
Result<std::vector<std::uint64_t>> BlockStore::lane_sums(SessionId session, ReadId read,
                                                         LaneRange lanes) const {
  return state_->leases().lane_sums(session, read, lanes);
}
Result<Duration> BlockStore::renew(SessionId session, ReadId read, Duration ttl) {
  const StoreOptions& options = state_->options();
  const Duration wanted = ttl > Duration::zero() ? ttl : options.lease_ttl;
  return state_->leases().renew(session, read, std::min(wanted, options.max_lease_ttl));
}
void BlockStore::release(SessionId session, ReadId read) {
  state_->leases().release(session, read);
}
void BlockStore::quiesce(SessionId session, ReadId read) {
  state_->leases().quiesce(session, read);
}
void BlockStore::drop_session(SessionId session) { state_->leases().drop_session(session); }

Result<PinnedBytes> BlockStore::admit(SessionId session, ReadId read, RegionId region,
                                      std::uint64_t offset, std::uint64_t length) const {
  return state_->leases().admit(session, read, region, offset, length);
}

Result<SegmentLocation> BlockStore::locate(std::string_view name_space, std::string_view hash,
                                           std::uint32_t lane) const {
  return state_->locate(name_space, hash, lane);
}

bool BlockStore::contains(std::string_view name_space, std::string_view hash) const {
  return state_->find(name_space, hash) != detail::kNoSlot;
}

bool BlockStore::erase(std::string_view name_space, std::string_view hash) {
  const std::uint32_t slot = state_->find(name_space, hash);
  if (slot == detail::kNoSlot) return false;
  state_->erase(slot, nullptr);
  return true;
}

StoreStats BlockStore::stats() const { return state_->stats(); }
std::vector<std::string> BlockStore::describe() const { return state_->describe(); }

}  // namespace corail
