#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/tcp_stream.h"
#include "test/exec/support.h"

namespace corail::test {

using Stream = std::unique_ptr<ByteStream>;
using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(std::size_t size, std::uint64_t seed) {
  SeededRandom random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

inline Task<Result<std::size_t>> read_into(ByteStream& stream, Bytes& buffer) {
  const auto read = co_await stream.read_some(buffer);
  co_return read;
}

inline Task<Result<void>> fill(ByteStream& stream, Bytes& buffer) {
  auto done = co_await read_exact(stream, buffer);
  co_return done;
}

inline Task<Result<void>> write(ByteStream& stream, const Bytes& bytes) {
  std::vector<std::span<const std::byte>> buffers;
  buffers.emplace_back(bytes);
  auto done = co_await stream.write_all(std::move(buffers));
  co_return done;
}

inline Errc code_of(const Error& error) { return error.code(); }

template <typename T>
Errc code_of(const Result<T>& result) {
  BOOST_REQUIRE(!result.ok());
  return result.error().code();
}

/// Two connected TCP streams on one context.
struct TcpPair {
  explicit TcpPair(asio::io_context& context) {
    SteadyClock clock;
    auto listener = listen_tcp(context.get_executor(), "127.0.0.1:0");
    BOOST_REQUIRE(listener.ok());
    Started<Result<Stream>> accepted(context, (*listener)->accept());
    Started<Result<Stream>> connected(
        context, connect_tcp(context.get_executor(), clock, (*listener)->local_address(),
                             clock.now() + kHang));
    finish(context, accepted, connected);
    left = std::move(accepted.value()).value();
    right = std::move(connected.value()).value();
  }
  Stream left;
  Stream right;
};

}  // namespace corail::test

// Comparing error codes in messages.
BOOST_TEST_DONT_PRINT_LOG_VALUE(corail::Errc)
