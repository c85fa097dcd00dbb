#pragma once

#include <cstdint>
#include <vector>

#include "apps/p2p_bench/bench_shape.h"

namespace corail::bench {

/// One save of the holder. The steps of a shape, in order, are what its --layout means.
struct SaveStep {
  std::uint32_t set = 0;
  std::vector<std::uint32_t> evicted;  // blocks of the set that are removed before
  std::vector<std::uint32_t> blocks;   // what is saved, in this order
  std::uint32_t turn = 0;              // see node_of_part
};

/// Every block of every set is saved, and stays stored, exactly once.
std::vector<SaveStep> save_steps(const Shape& shape);

/// The NUMA node that part `part` of a step's blocks goes to.
std::uint32_t node_of_part(const Shape& shape, std::uint32_t part, std::uint32_t turn) noexcept;

/// Which blocks of a set are asked for, in this order.
std::vector<std::uint32_t> request_order(const Shape& shape, std::uint32_t set);

/// Bytes of one set on each NUMA node, which is what one read brings.
std::vector<std::uint64_t> set_bytes_by_node(const Shape& shape);

/// Bytes that all saves take up on each NUMA node, with those that an eviction leaves unused.
std::vector<std::uint64_t> held_bytes_by_node(const Shape& shape);

}  // namespace corail::bench
