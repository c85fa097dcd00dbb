#include "engine/exec/tcp_stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <optional>
#include <utility>

#include "engine/exec/shielded.h"
#include "engine/exec/tcp_socket.h"

namespace corail {
namespace {

using asio::ip::tcp;

/// Operations in a row that may succeed without going through the executor's queue. Skipping the
/// queue saves a third of a microsecond each; going through it now and then lets others run.
constexpr int kMaxImmediate = 16;

bool not_ready(const std::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

class TcpStream final : public ByteStream {
 public:
  TcpStream(tcp::socket socket, std::string peer)
      : socket_(std::move(socket)), peer_(std::move(peer)) {}

  Task<Result<std::size_t>> read_some(std::span<std::byte> buffer) override {
    if (reads_in_a_row_ < kMaxImmediate) {
      auto ready = try_read(buffer);
      ++reads_in_a_row_;
      if (ready) co_return std::move(*ready);
    }
    reads_in_a_row_ = 0;
    auto read = co_await shielded(read_when_ready(buffer));
    co_return read;
  }

  Task<Result<void>> write_all(std::vector<std::span<const std::byte>> buffers) override {
    unsent_.clear();
    sent_buffers_ = 0;
    for (const auto buffer : buffers) {
      if (!buffer.empty()) unsent_.emplace_back(buffer.data(), buffer.size());
    }
    auto done = try_write();
    if (done) co_return std::move(*done);
    auto written = co_await shielded(write_when_ready());
    co_return written;
  }

  void close() noexcept override {
    if (std::exchange(closed_, true)) return;
    std::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  const std::string& peer_name() const noexcept override { return peer_; }

 private:
  /// Nothing: the socket has no byte yet.
  std::optional<Result<std::size_t>> try_read(std::span<std::byte> buffer) {
    if (closed_) return closed_error();
    if (buffer.empty()) return Result<std::size_t>(0);
    std::error_code error;
    const std::size_t size = socket_.read_some(asio::buffer(buffer.data(), buffer.size()), error);
    if (not_ready(error)) return std::nullopt;
    if (error == asio::error::eof) return Result<std::size_t>(0);
    if (error) return lost_error("reading", error);
    return Result<std::size_t>(size);
  }

  Task<Result<std::size_t>> read_when_ready(std::span<std::byte> buffer) {
    for (;;) {
      std::error_code error;
      if (!closed_) co_await socket_.async_wait(tcp::socket::wait_read, into(error));
      // An error of the wait is not lost: the read finds the socket's state.
      auto ready = try_read(buffer);
      if (ready) co_return std::move(*ready);
    }
  }

  /// Nothing: some bytes are left, and the socket is full or others should run.
  std::optional<Result<void>> try_write() {
    for (int i = 0; i < kMaxImmediate; ++i) {
      if (closed_) return closed_error();
      if (sent_buffers_ == unsent_.size()) return ok_result();
      std::error_code error;
      const std::size_t size = socket_.write_some(
          std::span<const asio::const_buffer>(unsent_).subspan(sent_buffers_), error);
      if (not_ready(error)) return std::nullopt;
      if (error) return lost_error("writing", error);
      advance(size);
    }
    return std::nullopt;
  }

  Task<Result<void>> write_when_ready() {
    for (;;) {
      std::error_code error;
      if (!closed_) co_await socket_.async_wait(tcp::socket::wait_write, into(error));
      auto done = try_write();
      if (done) co_return std::move(*done);
    }
  }

  void advance(std::size_t size) {
    while (size > 0) {
      asio::const_buffer& next = unsent_[sent_buffers_];
      const std::size_t step = std::min(size, next.size());
      next += step;
      size -= step;
      if (next.size() == 0) ++sent_buffers_;
    }
  }

  Error closed_error() const {
    return Error(Errc::kClosed, "the stream was closed on this side").on_peer(peer_);
  }

  Error lost_error(const char* what, const std::error_code& error) const {
    return Error(Errc::kConnectionLost,
                 fmt::format("{} failed: {}; check the peer's process and the path to it", what,
                             error.message()))
        .on_peer(peer_);
  }

  tcp::socket socket_;
  const std::string peer_;
  std::vector<asio::const_buffer> unsent_;  // of the one pending write; kept for its capacity
  std::size_t sent_buffers_ = 0;
  int reads_in_a_row_ = 0;
  bool closed_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> make_tcp_stream(tcp::socket socket) {
  std::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  // Requests and answers are written whole, so waiting for more to send only costs time.
  if (!error) socket.set_option(tcp::no_delay(true), error);
  if (!error) socket.non_blocking(true, error);
  if (error) {
    return Error(Errc::kConnectionLost, Stage::kConnect,
                 "the connection ended as soon as it was made: " + error.message());
  }
  return std::unique_ptr<ByteStream>(
      std::make_unique<TcpStream>(std::move(socket), endpoint_name(peer)));
}

}  // namespace corail
