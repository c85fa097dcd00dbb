#pragma once

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/random.h"
#include "engine/store/query.h"
#include "engine/store/save_state.h"
#include "test/store/scan_reference.h"
#include "test/store/support.h"

namespace corail::testing {

/// A store under random saves, erasures, evictions and queries. Half of the seeds keep to one
/// partition and block-major order, where the planner's encoder must agree as well.
class RandomStore {
 public:
  explicit RandomStore(std::uint64_t seed)
      : random_(seed),
        plain_(seed % 2 == 0),
        names_(hash_names(50)),
        store_(options(), registry_, clock_, context_.get_executor(), BootId(1)) {
    const std::uint32_t slots = 1 + static_cast<std::uint32_t>(random_.below(5));
    std::vector<Slot> sizes(slots);
    const bool uniform = random_.below(2) == 0;
    for (Slot& slot : sizes) {
      slot.k_bytes = uniform ? 64 : 1 + static_cast<std::uint32_t>(random_.below(90));
      slot.v_bytes = uniform ? 64 : static_cast<std::uint32_t>(random_.below(70));
    }
    for (int i = 0; i < (plain_ ? 1 : 2); ++i) {
      layouts_.push_back(store_.shapes().intern(*Layout::make(sizes)));
      sizes.front().k_bytes += 16;
    }
    const std::size_t partitions = plain_ ? 1 : 3;
    while (partitions_.size() < partitions) partitions_.push_back(random_partition());
  }

  void step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        save();
        break;
      case 3:
        erase();
        break;
      case 4:
        release();
        break;
      default:
        query();
    }
  }

  void finish() {
    while (!held_.empty()) release();
    while (store_.blocks().oldest() != detail::kNoSlot) {
      store_.erase(store_.blocks().oldest(), nullptr);
    }
    // Whatever happened, all bytes came back.
    const StoreStats stats = store_.stats();
    BOOST_TEST(stats.free_bytes == stats.capacity_bytes);
    BOOST_TEST(stats.extents == 0U);
  }

  std::uint64_t blocks_answered() const { return blocks_answered_; }
  std::uint64_t evicted() { return store_.counters().evicted_blocks; }

 private:
  struct Partition {
    std::vector<std::uint32_t> part_of;
    std::vector<std::int32_t> numa;
  };
  struct Held {
    std::uint64_t read = 0;
    std::vector<std::string_view> hashes;
    QueryAnswer answer;
  };

  StoreOptions options() {
    StoreOptions options;
    // Room for a few saves only, so that most of them evict.
    options.nodes = {{0, 12'288}, {1, 8'192}, {5, 16'384}};
    options.max_extent_bytes = 1 + random_.below(3'000);
    if (random_.below(4) == 0) options.max_answer_runs = 1 + random_.below(60);
    return options;
  }

  Partition random_partition() {
    const std::uint32_t lanes = layouts_.front()->lanes();
    const auto parts = 1 + static_cast<std::uint32_t>(random_.below(std::min(lanes, 4U)));
    Partition partition;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      // Each part has a lane, and the rest is anywhere.
      partition.part_of.push_back(lane < parts ? lane
                                               : static_cast<std::uint32_t>(random_.below(parts)));
    }
    const std::int32_t nodes[] = {0, 1, 5};
    for (std::uint32_t part = 0; part < parts; ++part) {
      partition.numa.push_back(nodes[random_.below(3)]);
    }
    return partition;
  }

  std::vector<std::string_view> some_hashes() {
    std::vector<std::string_view> hashes;
    const std::uint64_t first = random_.below(names_.size());
    const std::uint64_t count = 1 + random_.below(16);
    for (std::uint64_t i = first; i < std::min<std::uint64_t>(first + count, names_.size()); ++i) {
      hashes.push_back(names_[i]);
    }
    return hashes;
  }

  void save() {
    const auto hashes = some_hashes();
    const Partition& partition = partitions_[random_.below(partitions_.size())];
    SaveRequest request;
    request.name_space = "ns";
    request.layout = layouts_[random_.below(layouts_.size())];
    request.hashes = hashes;
    request.part_of_lane = partition.part_of;
    request.part_numa = partition.numa;
    const bool lane_major = !plain_ && random_.below(2) == 0;
    request.order = lane_major ? BlockOrder::kLaneMajor : BlockOrder::kBlockMajor;
    auto begun = detail::SaveState::begin(store_, request);
    if (!begun) {
      BOOST_REQUIRE_MESSAGE((begun.error().error_class() == ErrorClass::kBackPressure ||
                             begun.error().code() == Errc::kTooLarge),
                            begun.error().to_string());
      return;
    }
    detail::SaveState& save = **begun;
    for (const std::uint32_t position : save.new_blocks()) {
      for (std::uint32_t lane = 0; lane < request.layout->lanes(); ++lane) {
        fill(save.writable(position, lane), hashes[position], lane);
      }
    }
    for (std::uint32_t part = 0; part < partition.numa.size(); ++part) {
      BOOST_REQUIRE(save.put_part(part));
    }
    // Now and then it is given up instead.
    if (random_.below(6) != 0) BOOST_REQUIRE(save.seal());
  }

  void erase() {
    const std::uint32_t slot = store_.find("ns", names_[random_.below(names_.size())]);
    if (slot != detail::kNoSlot) store_.erase(slot, nullptr);
  }

  std::vector<std::string_view> random_question() {
    auto hashes = some_hashes();
    switch (random_.below(4)) {
      case 0:
        std::reverse(hashes.begin(), hashes.end());
        break;
      case 1:
        for (std::size_t i = hashes.size(); i > 1; --i) {
          std::swap(hashes[i - 1], hashes[random_.below(i)]);
        }
        break;
      case 2: {  // every second or third one
        const std::size_t step = 2 + random_.below(2);
        for (std::size_t i = 0; i * step < hashes.size(); ++i) hashes[i] = hashes[i * step];
        hashes.resize((hashes.size() + step - 1) / step);
        break;
      }
      default:
        break;
    }
    return hashes;
  }

  /// Those of the hashes that are a prefix with one layout.
  std::size_t expected_prefix(std::span<const std::string_view> hashes) const {
    const Layout* layout = nullptr;
    std::size_t count = 0;
    for (; count < hashes.size(); ++count) {
      const std::uint32_t slot = store_.find("ns", hashes[count]);
      if (slot == detail::kNoSlot) break;
      const Layout* found = store_.blocks().block(slot).layout;
      if (layout != nullptr && found != layout) break;
      layout = found;
    }
    return count;
  }

  void query() {
    if (held_.size() >= 5) release();
    Held held;
    held.hashes = random_question();
    held.read = next_read_++;
    const std::size_t expected = expected_prefix(held.hashes);
    QueryRequest request;
    request.session = kAlice;
    request.read = ReadId(held.read);
    request.name_space = "ns";
    request.hashes = held.hashes;
    request.encoding =
        std::array{AnswerEncoding::kRuns, AnswerEncoding::kRuns, AnswerEncoding::kParts,
                   AnswerEncoding::kSegments}[random_.below(4)];
    auto answer = detail::query_for_transfer(store_, request);
    BOOST_REQUIRE_MESSAGE(answer.ok(), (answer ? "" : answer.error().to_string()));
    BOOST_REQUIRE_LE(answer->block_count, expected);
    const std::uint64_t most = store_.options().max_answer_runs;
    if (answer->block_count < expected) {
      // Cut short only where one more block might have been too much.
      BOOST_REQUIRE_GE(answer->block_count, 1U);
      BOOST_REQUIRE_LT(most, 16 * 16);
    }
    BOOST_REQUIRE_LE(answer->runs.runs(), std::max<std::uint64_t>(most, layouts_.front()->lanes()));
    if (answer->block_count == 0) return;
    held.hashes.resize(answer->block_count);
    blocks_answered_ += answer->block_count;
    check_encoding(*answer, held.hashes);
    if (plain_ && request.encoding != AnswerEncoding::kSegments) {
      const auto regions = registry_.snapshot();
      BOOST_REQUIRE((answer->runs == encoder_runs(store_, "ns", held.hashes, *regions)));
    }
    BOOST_REQUIRE(validate(answer->runs, *answer->layout, answer->block_count, RunLimits{}));
    held.answer = std::move(*answer);
    check_bytes(held);
    held_.push_back(std::move(held));
  }

  /// In whatever words, the answer says what the reference says; as runs from then on.
  void check_encoding(QueryAnswer& answer, const std::vector<std::string_view>& hashes) const {
    const RunTable reference = reference_runs(store_, "ns", hashes);
    if (answer.encoding == AnswerEncoding::kSegments) {
      BOOST_REQUIRE_EQUAL(answer.runs.runs(), hashes.size() * answer.layout->lanes());
      for (std::uint32_t lane = 0; lane < answer.layout->lanes(); ++lane) {
        BOOST_REQUIRE((expand_lane(answer.runs, lane) == expand_lane(reference, lane)));
      }
      return;
    }
    if (answer.encoding == AnswerEncoding::kParts)
      answer.runs = expand(answer.parts, *answer.layout);
    BOOST_REQUIRE((answer.runs == reference));
  }

  /// Every byte and checksum that was promised is there.
  void check_bytes(const Held& held) const {
    const Layout& layout = *held.answer.layout;
    std::vector<std::uint64_t> sums(held.hashes.size(), 0);
    for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
      const auto addresses = expand_lane(held.answer.runs, lane);
      BOOST_REQUIRE_EQUAL(addresses.size(), held.hashes.size());
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        const auto bytes = at_address(addresses[i], layout.lane_bytes()[lane]);
        BOOST_REQUIRE(filled(bytes, held.hashes[i], lane));
        sums[i] += lane_term(xxh3_64(bytes), lane);
      }
    }
    for (std::size_t i = 0; i < held.hashes.size(); ++i) {
      const auto identity = block_identity("ns", held.hashes[i], layout.id());
      BOOST_REQUIRE_EQUAL(held.answer.checksums[i], block_checksum(sums[i], identity).value());
    }
  }

  /// What was leased is as it was, whatever was evicted and saved since.
  void release() {
    if (held_.empty()) return;
    check_bytes(held_.front());
    BOOST_REQUIRE(store_.leases().confirm_and_release(kAlice, ReadId(held_.front().read)));
    held_.pop_front();
  }

  SeededRandom random_;
  const bool plain_;
  const std::vector<std::string> names_;
  ManualClock clock_;
  asio::io_context context_;
  RegionRegistry registry_;
  detail::StoreState store_;
  std::vector<std::shared_ptr<const Layout>> layouts_;
  std::vector<Partition> partitions_;
  std::deque<Held> held_;
  std::uint64_t next_read_ = 1;
  std::uint64_t blocks_answered_ = 0;
};

}  // namespace corail::testing
