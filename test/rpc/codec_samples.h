#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/plan/layout.h"
#include "engine/store/store_types.h"
#include "rpc/codec.h"

namespace corail::test {

inline constexpr BootId kBoot{0xB007'B007'B007'B007};

inline std::shared_ptr<const Layout> layout_of(std::vector<Slot> slots) {
  return std::make_shared<const Layout>(std::move(Layout::make(std::move(slots)).value()));
}

/// Two slots, three lanes, two blocks.
inline QueryAnswer small_answer() {
  QueryAnswer answer;
  answer.lease.boot = kBoot;
  answer.lease.counter = 7;
  answer.ttl = std::chrono::milliseconds(1500);
  answer.block_count = 2;
  answer.layout = layout_of({Slot{4096, 4096, 0}, Slot{300, 0, 1}});
  answer.runs.runs_per_lane = {1, 1, 2};
  answer.runs.base = {0x1000, 0x2000, 0x7F00'0000'0000, 0x9000};
  answer.runs.stride = {8192, -8192, 0, 1};
  answer.runs.count = {2, 2, 1, 1};
  answer.checksums = {0x0102030405060708, 0xFFFFFFFFFFFFFFFF};
  answer.generation = TableGeneration(3);
  return answer;
}

/// The same blocks by parts: two lanes that move alike, and one by itself.
inline QueryAnswer small_parts_answer() {
  QueryAnswer answer = small_answer();
  answer.encoding = AnswerEncoding::kParts;
  answer.runs = RunTable();
  answer.parts.lane_sets = {{0, 1}, {2}};
  answer.parts.shapes = {{0, {0, 4096}, {8192}}, {1, {64}, {300}}, {1, {0}, {512}}};
  answer.parts.phases = {{2,
                          {{0, {{0, 2, 0x7F00'0000'1000, 0, -8192, 0}}},
                           {1, {{1, 1, 0x9000, 3, 0, 0}, {2, 1, 0x1000, 0, 0, 1}}}}}};
  return answer;
}

/// The same blocks, an address a segment.
inline QueryAnswer small_segments_answer() {
  QueryAnswer answer = small_answer();
  answer.encoding = AnswerEncoding::kSegments;
  answer.runs.runs_per_lane = {2, 2, 2};
  answer.runs.base = {0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000};
  answer.runs.stride.assign(6, 0);
  answer.runs.count.assign(6, 1);
  return answer;
}

inline QueryExpectation expectation_of(const QueryAnswer& answer) {
  QueryExpectation expected;
  expected.asked_blocks = std::max<std::uint32_t>(answer.block_count, 1);
  expected.boot = answer.lease.boot;
  expected.layout = answer.layout;
  expected.encoding = answer.encoding;
  return expected;
}

/// 1000 blocks of 36 layers x 8 ranks, K and V of 4 KiB, block-major in two parts.
inline QueryAnswer seed_answer() {
  QueryAnswer answer = small_answer();
  std::vector<Slot> slots;
  for (std::uint32_t layer = 0; layer < 36; ++layer) {
    for (std::int32_t rank = 0; rank < 8; ++rank) slots.push_back(Slot{4096, 4096, rank / 4});
  }
  answer.layout = layout_of(slots);
  answer.block_count = 1000;
  answer.lease.counter = ~std::uint64_t{0};
  answer.ttl = std::chrono::milliseconds(kMaxTtlMs);
  answer.generation = TableGeneration(~std::uint64_t{0});
  answer.runs = RunTable();
  for (std::uint32_t lane = 0; lane < answer.layout->lanes(); ++lane) {
    const std::uint64_t part = (lane / 2) % 8 / 4;
    answer.runs.runs_per_lane.push_back(1);
    answer.runs.base.push_back(0x7FFF'0000'0000 + (part << 32) + lane / 16 * 32768 +
                               lane % 8 * 4096);
    answer.runs.stride.push_back(36 * 4 * 2 * 4096);
    answer.runs.count.push_back(1000);
  }
  SeededRandom random(1);
  answer.checksums.clear();
  for (int i = 0; i < 1000; ++i) answer.checksums.push_back(random.next());
  return answer;
}

inline BlockKeys keys_of(std::size_t count, std::size_t hash_bytes = 32) {
  BlockKeys keys;
  keys.name_space = "model-7";
  SeededRandom random(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string hash(hash_bytes, '\0');
    for (char& c : hash) c = static_cast<char>(random.next());
    keys.hashes.push_back(std::move(hash));
  }
  return keys;
}

}  // namespace corail::test
