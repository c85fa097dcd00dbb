#include "engine/exec/memory_stream.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/exec/event.h"
#include "engine/exec/shielded.h"

namespace corail {
namespace {

/// One direction. Shared by the two ends, the cut function and (weakly) the timer's callback.
class Pipe : public std::enable_shared_from_this<Pipe> {
 public:
  Pipe(const asio::any_io_executor& executor, const MemoryStreamOptions& options)
      : options_(options), readable_(executor), writable_(executor) {
    if (options.latency > Duration::zero()) timer_ = options.clock->make_timer(executor);
  }

  Task<Result<std::size_t>> read(std::span<std::byte> buffer) {
    for (;;) {
      if (reader_closed_) co_return closed_error();
      if (cut_) co_return lost_error();
      if (buffer.empty()) co_return std::size_t{0};
      if (front_is_due()) co_return take(buffer);
      co_await readable_.wait();
    }
  }

  Task<Result<void>> write(std::vector<std::span<const std::byte>> buffers) {
    for (std::span<const std::byte> left : buffers) {
      while (!left.empty()) {
        if (writer_closed_) co_return closed_error();
        if (cut_ || reader_closed_) co_return lost_error();
        const std::size_t size = std::min(left.size(), options_.buffer_bytes - unread_);
        if (size == 0) {
          co_await writable_.wait();
        } else {
          put(left.first(size));
          left = left.subspan(size);
        }
      }
    }
    if (writer_closed_) co_return closed_error();
    if (cut_ || reader_closed_) co_return lost_error();
    co_return ok_result();
  }

  void close_writer() {
    if (std::exchange(writer_closed_, true)) return;
    put({});  // the end travels behind the bytes
    writable_.notify();
  }
  void close_reader() {
    reader_closed_ = true;
    notify();
  }
  void cut() {
    cut_ = true;
    notify();
  }

 private:
  /// What one write carried; empty: the end of the stream.
  struct Chunk {
    Chunk(TimePoint due_at, std::span<const std::byte> data)
        : due(due_at), bytes(data.begin(), data.end()) {}
    TimePoint due;
    std::vector<std::byte> bytes;
    std::size_t taken = 0;
  };

  void notify() {
    readable_.notify();
    writable_.notify();
  }

  void put(std::span<const std::byte> bytes) {
    const TimePoint due = timer_ ? options_.clock->now() + options_.latency : TimePoint();
    chunks_.emplace_back(due, bytes);
    unread_ += bytes.size();
    if (timer_) {
      arm();
    } else {
      readable_.notify();
    }
  }

  bool front_is_due() const {
    if (chunks_.empty()) return false;
    return !timer_ || chunks_.front().due <= options_.clock->now();
  }

  std::size_t take(std::span<std::byte> buffer) {
    std::size_t limit = buffer.size();
    if (options_.max_read_bytes > 0) limit = std::min(limit, options_.max_read_bytes);
    std::size_t size = 0;
    while (size < limit && front_is_due() && !chunks_.front().bytes.empty()) {
      Chunk& front = chunks_.front();
      const std::size_t step = std::min(limit - size, front.bytes.size() - front.taken);
      std::memcpy(buffer.data() + size, front.bytes.data() + front.taken, step);
      front.taken += step;
      size += step;
      if (front.taken == front.bytes.size()) chunks_.pop_front();
    }
    unread_ -= size;
    if (size > 0) writable_.notify();
    if (timer_) arm();
    return size;  // 0 at the end, which stays in front for the reads to come
  }

  /// Wakes the reader when the first chunk that is still on its way arrives.
  void arm() {
    if (armed_ || chunks_.empty()) return;
    const TimePoint due = chunks_.front().due;
    if (due <= options_.clock->now()) {
      readable_.notify();
      return;
    }
    armed_ = true;
    timer_->wait_until(due, [weak = weak_from_this()](bool) {
      if (const auto self = weak.lock()) {
        self->armed_ = false;
        self->readable_.notify();
      }
    });
  }

  Error closed_error() const { return Error(Errc::kClosed, "the stream was closed on this side"); }
  Error lost_error() const {
    return Error(Errc::kConnectionLost,
                 cut_ ? "the simulated link was cut" : "the peer closed its end of the stream");
  }

  const MemoryStreamOptions options_;
  Event readable_;
  Event writable_;
  std::deque<Chunk> chunks_;
  std::size_t unread_ = 0;
  std::unique_ptr<Timer> timer_;  // null: no latency
  bool armed_ = false;
  bool writer_closed_ = false;
  bool reader_closed_ = false;
  bool cut_ = false;
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out, std::string peer)
      : in_(std::move(in)), out_(std::move(out)), peer_(std::move(peer)) {}
  ~MemoryStream() override { close(); }

  Task<Result<std::size_t>> read_some(std::span<std::byte> buffer) override {
    auto read = co_await shielded(in_->read(buffer));
    if (!read.ok()) co_return std::move(read).error().on_peer(peer_);
    co_return read;
  }

  Task<Result<void>> write_all(std::vector<std::span<const std::byte>> buffers) override {
    auto written = co_await shielded(out_->write(std::move(buffers)));
    if (!written.ok()) co_return std::move(written).error().on_peer(peer_);
    co_return written;
  }

  void close() noexcept override {
    out_->close_writer();
    in_->close_reader();
  }

  const std::string& peer_name() const noexcept override { return peer_; }

 private:
  const std::shared_ptr<Pipe> in_;
  const std::shared_ptr<Pipe> out_;
  const std::string peer_;
};

}  // namespace

MemoryStreamPair make_stream_pair(asio::any_io_executor executor, MemoryStreamOptions options) {
  CORAIL_CHECK(options.buffer_bytes > 0, "a stream without a buffer moves nothing");
  CORAIL_CHECK(options.latency <= Duration::zero() || options.clock != nullptr,
               "a latency needs a clock");
  const auto to_right = std::make_shared<Pipe>(executor, options);
  const auto to_left = std::make_shared<Pipe>(executor, options);
  MemoryStreamPair pair;
  pair.left = std::make_unique<MemoryStream>(to_left, to_right, options.right_name);
  pair.right = std::make_unique<MemoryStream>(to_right, to_left, options.left_name);
  pair.cut = [to_right, to_left] {
    to_right->cut();
    to_left->cut();
  };
  return pair;
}

}  // namespace corail
