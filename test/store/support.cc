#include "test/store/support.h"

#include <boost/test/unit_test.hpp>

#include "engine/base/checksum.h"

namespace corail::testing {
namespace {

std::uint64_t seed_of(std::string_view hash, std::uint32_t lane) {
  return mix64(xxh3_64(hash) + lane);
}

std::byte byte_at(std::uint64_t seed, std::size_t at) {
  return static_cast<std::byte>((seed >> (at % 8 * 8)) + at / 8);
}

}  // namespace

std::byte content(std::string_view hash, std::uint32_t lane, std::size_t at) {
  return byte_at(seed_of(hash, lane), at);
}

void fill(std::span<std::byte> bytes, std::string_view hash, std::uint32_t lane) {
  const std::uint64_t seed = seed_of(hash, lane);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_at(seed, i);
}

bool filled(std::span<const std::byte> bytes, std::string_view hash, std::uint32_t lane) {
  const std::uint64_t seed = seed_of(hash, lane);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != byte_at(seed, i)) return false;
  }
  return true;
}

std::span<const std::byte> at_address(std::uint64_t address, std::uint64_t bytes) {
  return {reinterpret_cast<const std::byte*>(address), bytes};
}

std::vector<std::string> hash_names(std::uint32_t count, std::string_view prefix) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    names.push_back(std::string(prefix) + std::to_string(i));
  }
  return names;
}

std::vector<std::string_view> views(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

Layout layout_of(std::uint32_t slots, std::uint32_t k_bytes, std::uint32_t v_bytes) {
  Slot slot;
  slot.k_bytes = k_bytes;
  slot.v_bytes = v_bytes;
  auto layout = Layout::make(std::vector<Slot>(slots, slot));
  BOOST_REQUIRE(layout);
  return *layout;
}

SaveRequest request_of(const SaveSpec& spec, std::span<const std::string_view> hashes) {
  SaveRequest request;
  request.name_space = spec.name_space;
  request.layout = spec.layout;
  request.hashes = hashes;
  request.part_of_lane = spec.part_of_lane;
  request.part_numa = spec.part_numa;
  request.order = spec.order;
  return request;
}

void write_all(Save& save, const SaveSpec& spec, std::span<const std::string_view> hashes) {
  for (const std::uint32_t position : save.new_blocks()) {
    for (std::uint32_t lane = 0; lane < spec.layout->lanes(); ++lane) {
      const auto bytes = save.writable(position, lane);
      BOOST_REQUIRE_EQUAL(bytes.size(), spec.layout->lane_bytes()[lane]);
      fill(bytes, hashes[position], lane);
    }
  }
}

Holder::Holder(StoreOptions options)
    : store(std::make_unique<BlockStore>(std::move(options), registry, clock,
                                         context.get_executor(), BootId(77))) {}

StoreOptions Holder::one_node(std::uint64_t bytes) {
  StoreOptions options;
  options.nodes = {{0, bytes}};
  return options;
}

bool Holder::save(const SaveSpec& spec, std::span<const std::string_view> hashes) {
  auto save = store->begin(request_of(spec, hashes));
  if (!save) {
    BOOST_REQUIRE_MESSAGE((save.error().code() == Errc::kOutOfMemory), save.error().to_string());
    return false;
  }
  write_all(*save, spec, hashes);
  for (std::uint32_t part = 0; part < spec.part_numa.size(); ++part) {
    BOOST_REQUIRE(save->put_part(part));
  }
  BOOST_REQUIRE(save->seal());
  return true;
}

Result<QueryAnswer> Holder::query(SessionId session, std::uint64_t read,
                                  std::span<const std::string_view> hashes, Duration ttl) {
  QueryRequest request;
  request.session = session;
  request.read = ReadId(read);
  request.name_space = "ns";
  request.hashes = hashes;
  request.ttl = ttl;
  return store->query_for_transfer(request);
}

void Holder::advance(Duration by) {
  clock.advance(by);
  context.restart();
  context.poll();
}

}  // namespace corail::testing
