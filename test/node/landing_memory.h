#pragma once

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <vector>

#include "rpc/node.h"
#include "test/node/support.h"
#include "test/support/pattern.h"

namespace corail::test {

/// Memory of a test's own that reads of a node may land in, filled with a pattern.
class LandingMemory {
 public:
  static constexpr std::uint64_t kSeed = 77;

  LandingMemory(Node& node, std::uint64_t size) : node_(node), bytes_(size) {
    fill_pattern(bytes_, kSeed, 0);
    auto made =
        asio::co_spawn(node.executor(), node.register_memory(bytes_), asio::use_future).get();
    BOOST_REQUIRE_MESSAGE(made.ok(), describe(made));
    memory_ = std::move(*made);
  }
  ~LandingMemory() { start_close().get(); }
  LandingMemory(const LandingMemory&) = delete;
  LandingMemory& operator=(const LandingMemory&) = delete;

  std::span<std::byte> bytes() noexcept { return bytes_; }
  const RegisteredMemory& memory() const noexcept { return memory_; }
  DestinationPiece piece(std::uint64_t offset, std::uint64_t length) const {
    return memory_.piece(offset, length);
  }
  /// Idempotent.
  std::future<void> start_close() {
    return asio::co_spawn(node_.executor(), memory_.close(), asio::use_future);
  }
  /// Whether bytes [from, to) are those of the pattern.
  bool untouched(std::uint64_t from, std::uint64_t to) const {
    return !first_difference(std::span(bytes_).subspan(from, to - from), kSeed, from).has_value();
  }

 private:
  Node& node_;
  std::vector<std::byte> bytes_;
  RegisteredMemory memory_;
};

}  // namespace corail::test
