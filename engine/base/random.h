#pragma once

#include <cstdint>

#include "engine/base/checksum.h"

namespace corail {

/// A source of randomness as an argument: tests pass a seeded one, the face of the library passes
/// the system's. Not for keys. One thread at a time.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;

  /// Uniform in [0, bound); bound must not be 0. The bias of the modulo is below 2^-32 for bounds
  /// below 2^32.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

/// splitmix64: the same seed gives the same sequence on every machine.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override {
    state_ += 0x9E3779B97F4A7C15ULL;
    return mix64(state_);
  }

 private:
  std::uint64_t state_;
};

/// The system's generator (getrandom), for tokens, node ids and boot ids. Throws std::system_error
/// when the kernel refuses.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

}  // namespace corail
