#pragma once

#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/memory/region_registry.h"
#include "engine/store/block_store.h"

namespace corail::testing {

inline constexpr SessionId kAlice{1};
inline constexpr SessionId kBob{2};

/// The bytes of a segment are a function of its block's hash and its lane, and of the place in it:
/// neither swapped nor shifted bytes pass.
std::byte content(std::string_view hash, std::uint32_t lane, std::size_t at);
void fill(std::span<std::byte> bytes, std::string_view hash, std::uint32_t lane);
bool filled(std::span<const std::byte> bytes, std::string_view hash, std::uint32_t lane);
std::span<const std::byte> at_address(std::uint64_t address, std::uint64_t bytes);

std::vector<std::string> hash_names(std::uint32_t count, std::string_view prefix = "hash-");
std::vector<std::string_view> views(const std::vector<std::string>& names);

/// Layout of `slots` slots of `k_bytes` and `v_bytes`.
Layout layout_of(std::uint32_t slots, std::uint32_t k_bytes, std::uint32_t v_bytes);

/// What a save should look like, with defaults for tests that do not care.
struct SaveSpec {
  std::shared_ptr<const Layout> layout;
  std::vector<std::uint32_t> part_of_lane;
  std::vector<std::int32_t> part_numa{0};
  BlockOrder order = BlockOrder::kBlockMajor;
  std::string name_space = "ns";
};

SaveRequest request_of(const SaveSpec& spec, std::span<const std::string_view> hashes);
/// Fills every new block.
void write_all(Save& save, const SaveSpec& spec, std::span<const std::string_view> hashes);

/// A store in virtual time on a context that runs when told to.
struct Holder {
  explicit Holder(StoreOptions options = one_node(1 << 20));

  static StoreOptions one_node(std::uint64_t bytes);

  /// begin, write, put every part, seal. False when there was no room; anything else fails the
  /// test.
  bool save(const SaveSpec& spec, std::span<const std::string_view> hashes);
  Result<QueryAnswer> query(SessionId session, std::uint64_t read,
                            std::span<const std::string_view> hashes, Duration ttl = {});
  /// Moves the clock and lets timers run.
  void advance(Duration by);

  ManualClock clock;
  asio::io_context context;
  RegionRegistry registry;
  std::unique_ptr<BlockStore> store;
};

}  // namespace corail::testing
