#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/exec/byte_stream.h"

namespace corail::sim {

/// What goes wrong on one control connection, in both directions.
struct StreamFaults {
  Random* random = nullptr;
  std::uint32_t late_one_in = 0;  // writes that are held up; 0: none
  Duration max_delay{0};
  std::uint32_t flip_one_in = 0;         // writes in which a bit is flipped; 0: none
  std::optional<TimePoint> silent_from;  // from then on what is written vanishes
  std::function<void()> on_flip;
};

/// Who listens to one end of a connection: to what it writes, before any fault, and to what it has
/// read. `append` may add bytes behind what was written.
struct StreamEars {
  std::function<void(std::span<const std::byte>)> on_written;
  std::function<void(std::span<const std::byte>)> on_read;
  std::function<std::vector<std::byte>(std::span<const std::byte>)> append;
};

/// One end of a stream through a network that delays, loses and corrupts, and in which everybody
/// listens. The faults outlive it.
class FaultyStream final : public ByteStream {
 public:
  FaultyStream(asio::any_io_executor executor, Clock& clock, std::unique_ptr<ByteStream> inner,
               StreamFaults& faults, StreamEars ears);

  Task<Result<std::size_t>> read_some(std::span<std::byte> buffer) override;
  Task<Result<void>> write_all(std::vector<std::span<const std::byte>> buffers) override;
  void close() noexcept override;
  const std::string& peer_name() const noexcept override { return inner_->peer_name(); }

 private:
  bool one_in(std::uint32_t chances) const;

  Clock& clock_;
  const std::unique_ptr<ByteStream> inner_;
  StreamFaults& faults_;
  const StreamEars ears_;
  const std::unique_ptr<Timer> delay_;
};

}  // namespace corail::sim
