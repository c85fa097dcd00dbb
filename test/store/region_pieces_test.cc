// A store whose devices serve less under one key than it has memory.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/units.h"
#include "engine/memory/memory_registrar.h"
#include "test/store/support.h"

namespace corail::testing {
namespace {

constexpr std::uint64_t kPiece = 64 * kKiB;
constexpr std::uint64_t kMemory = 4 * kPiece;

/// A device that serves kPiece at a time, each under the next key.
class ShortDevice final : public MemoryRegistrar {
 public:
  Result<std::unique_ptr<const MemoryRegistration>> add(std::span<std::byte> bytes,
                                                        MemoryUse) override {
    if (bytes.size() > kPiece || refuses_at == next_) {
      return Error(Errc::kTooLarge, Stage::kSetup, "too much");
    }
    return std::unique_ptr<const MemoryRegistration>(std::make_unique<Registration>(next_++));
  }
  std::uint64_t max_served_bytes() const noexcept override { return kPiece; }

  std::uint64_t refuses_at = 0;

 private:
  class Registration final : public MemoryRegistration {
   public:
    explicit Registration(std::uint64_t key) : key_(key) {}
    std::uint64_t key() const noexcept override { return key_; }

   private:
    const std::uint64_t key_;
  };

  std::uint64_t next_ = 1;
};

/// Blocks of 16 KiB, four of which fill a piece.
struct Pieces : Holder {
  explicit Pieces(BlockOrder order = BlockOrder::kBlockMajor) : Holder(options()) {
    spec.layout = store->intern(layout_of(2, 4096, 4096));
    spec.order = order;
  }
  static StoreOptions options() {
    StoreOptions options = one_node(kMemory);
    options.registrars = {std::make_shared<ShortDevice>()};
    return options;
  }
  bool save(std::size_t from, std::size_t to) {
    return Holder::save(spec, std::span(hashes).subspan(from, to - from));
  }
  const Region* region_of(RegionId id) const {
    for (const Region& region : table->regions()) {
      if (region.id == id) return &region;
    }
    return nullptr;
  }

  SaveSpec spec;
  std::shared_ptr<const RegionTable> table = registry.snapshot();
  std::vector<std::string> names = hash_names(32);
  std::vector<std::string_view> hashes = views(names);
};

BOOST_AUTO_TEST_SUITE(region_pieces)

BOOST_AUTO_TEST_CASE(each_piece_is_a_region_with_its_own_key) {
  Pieces it;
  BOOST_TEST_REQUIRE(it.table->regions().size() == 4U);
  std::set<std::uint64_t> keys;
  for (const Region& region : it.table->regions()) {
    BOOST_TEST(region.length == kPiece);
    BOOST_TEST_REQUIRE(region.keys.size() == 1U);
    keys.insert(region.keys[0]);
  }
  BOOST_TEST(keys.size() == 4U);
  BOOST_TEST(it.table->regions()[0].base + kPiece == it.table->regions()[1].base);
  it.store.reset();
  BOOST_TEST(it.registry.snapshot()->regions().empty());
}

BOOST_AUTO_TEST_CASE(no_block_crosses_a_border_and_every_byte_is_admitted_where_it_lies) {
  for (const BlockOrder order : {BlockOrder::kBlockMajor, BlockOrder::kLaneMajor}) {
    Pieces it(order);
    BOOST_TEST_REQUIRE(it.save(0, 10));
    BOOST_TEST_REQUIRE(it.save(10, 15));
    const auto answer = it.query(kAlice, 1, std::span(it.hashes).first(15));
    BOOST_TEST_REQUIRE(answer.ok());
    BOOST_TEST(answer->block_count == 15U);
    const auto lanes = it.spec.layout->lane_bytes();
    std::size_t run = 0;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      for (std::uint32_t i = 0; i < answer->runs.runs_per_lane[lane]; ++i, ++run) {
        const std::uint64_t last =
            answer->runs.base[run] +
            static_cast<std::uint64_t>(answer->runs.stride[run]) * (answer->runs.count[run] - 1);
        const std::uint64_t first = std::min(last, answer->runs.base[run]);
        const std::uint64_t length = std::max(last, answer->runs.base[run]) - first + lanes[lane];
        BOOST_TEST(it.table->find(first, length) >= 0);
      }
    }
    for (std::size_t block = 0; block < 15; ++block) {
      for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        const auto place = it.store->locate("ns", it.hashes[block], lane);
        BOOST_TEST_REQUIRE(place.ok());
        const Region* const region = it.region_of(place->region);
        BOOST_TEST_REQUIRE(region != nullptr);
        const auto bytes = it.store->admit(kAlice, ReadId(1), place->region,
                                           place->address - region->base, place->bytes);
        BOOST_TEST_REQUIRE(bytes.ok());
        BOOST_TEST(filled(bytes->bytes, it.hashes[block], lane));
      }
    }
    const Region& first = it.table->regions()[0];
    BOOST_TEST(!it.store->admit(kAlice, ReadId(1), first.id, kPiece - 1, 2).ok());
  }
}

BOOST_AUTO_TEST_CASE(room_in_any_piece_is_room_and_evicting_finds_it) {
  Pieces it;
  for (std::size_t i = 0; i < 16; i += 4) BOOST_TEST_REQUIRE(it.save(i, i + 4));
  BOOST_TEST(it.store->stats().free_bytes == 0U);
  BOOST_TEST(it.save(16, 22));
  // Two pieces' worth, and not all in search of one that is larger.
  BOOST_TEST(it.store->stats().evicted_blocks == 8U);
  BOOST_TEST(it.store->contains("ns", it.hashes[15]));
  BOOST_TEST(it.store->contains("ns", it.hashes[21]));
  BOOST_TEST(!it.store->contains("ns", it.hashes[0]));
}

BOOST_AUTO_TEST_CASE(a_block_that_fits_into_no_piece_is_refused_in_words) {
  Pieces it;
  it.spec.layout = it.store->intern(layout_of(9, 4096, 4096));
  const auto hashes = std::span(it.hashes).first(1);
  const auto save = it.store->begin(request_of(it.spec, hashes));
  BOOST_TEST_REQUIRE(!save.ok());
  BOOST_TEST((save.error().code() == Errc::kTooLarge));
  BOOST_TEST(save.error().detail().find("a region has at most 65536") != std::string::npos,
             save.error().detail());
}

BOOST_AUTO_TEST_CASE(a_piece_that_is_refused_leaves_nothing_published) {
  const auto device = std::make_shared<ShortDevice>();
  device->refuses_at = 3;
  StoreOptions options = Pieces::options();
  options.registrars = {device};
  ManualClock clock;
  asio::io_context context;
  RegionRegistry registry;
  BOOST_CHECK_THROW(BlockStore(options, registry, clock, context.get_executor(), BootId(1)),
                    std::runtime_error);
  BOOST_TEST(registry.snapshot()->regions().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
