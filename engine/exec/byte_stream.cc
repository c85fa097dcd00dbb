#include "engine/exec/byte_stream.h"

#include <fmt/core.h>

namespace corail {

Task<Result<void>> read_exact(ByteStream& stream, std::span<std::byte> buffer) {
  std::size_t got = 0;
  while (got < buffer.size()) {
    const auto read = co_await stream.read_some(buffer.subspan(got));
    if (!read.ok()) co_return read.error();
    if (*read == 0) {
      Error error(Errc::kConnectionLost,
                  fmt::format("the peer ended the stream after {} of {} expected bytes; look for "
                              "its reason in the peer's log",
                              got, buffer.size()));
      co_return std::move(error).on_peer(stream.peer_name());
    }
    got += *read;
  }
  co_return ok_result();
}

}  // namespace corail
