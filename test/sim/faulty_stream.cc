#include "test/sim/faulty_stream.h"

#include <utility>

#include "engine/exec/shielded.h"
#include "engine/exec/sleep.h"

namespace corail::sim {

FaultyStream::FaultyStream(asio::any_io_executor executor, Clock& clock,
                           std::unique_ptr<ByteStream> inner, StreamFaults& faults, StreamEars ears)
    : clock_(clock),
      inner_(std::move(inner)),
      faults_(faults),
      ears_(std::move(ears)),
      delay_(clock.make_timer(std::move(executor))) {}

bool FaultyStream::one_in(std::uint32_t chances) const {
  return chances > 0 && faults_.random->below(chances) == 0;
}

Task<Result<std::size_t>> FaultyStream::read_some(std::span<std::byte> buffer) {
  auto read = co_await inner_->read_some(buffer);
  if (read && ears_.on_read) ears_.on_read(buffer.first(*read));
  co_return read;
}

Task<Result<void>> FaultyStream::write_all(std::vector<std::span<const std::byte>> buffers) {
  std::vector<std::byte> bytes;
  for (const std::span<const std::byte> buffer : buffers) {
    bytes.insert(bytes.end(), buffer.begin(), buffer.end());
  }
  if (ears_.append) {
    const std::vector<std::byte> more = ears_.append(bytes);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  if (ears_.on_written) ears_.on_written(bytes);
  if (!bytes.empty() && one_in(faults_.flip_one_in)) {
    const std::uint64_t bit = faults_.random->below(bytes.size() * 8);
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    faults_.on_flip();
  }
  if (one_in(faults_.late_one_in)) {
    const auto most = static_cast<std::uint64_t>(faults_.max_delay.count()) + 1;
    const Duration delay(static_cast<Duration::rep>(faults_.random->below(most)));
    const TimePoint until = clock_.now() + delay;
    co_await shielded(sleep_until(*delay_, until));
  }
  if (faults_.silent_from && clock_.now() >= *faults_.silent_from) co_return ok_result();
  std::vector<std::span<const std::byte>> all;
  all.emplace_back(bytes);
  auto written = co_await inner_->write_all(std::move(all));
  co_return written;
}

void FaultyStream::close() noexcept {
  inner_->close();
  delay_->cancel();
}

}  // namespace corail::sim
