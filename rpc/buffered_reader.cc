#include "rpc/buffered_reader.h"

#include <algorithm>
#include <cstring>

#include "engine/base/check.h"

namespace corail {

void BufferedReader::consume(std::size_t bytes) noexcept {
  CORAIL_CHECK(bytes <= end_ - begin_, "more consumed than was buffered");
  begin_ += bytes;
  if (begin_ == end_) begin_ = end_ = 0;
}

Task<Result<std::size_t>> BufferedReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  CORAIL_CHECK(end_ < kCapacity, "the read buffer is full");
  const std::span<std::byte> free(buffer_.get() + end_, kCapacity - end_);
  auto got = co_await stream_.read_some(free);
  if (got.ok()) end_ += *got;
  co_return got;
}

Task<Result<std::size_t>> BufferedReader::read_into(std::span<std::byte> to) {
  const auto have = buffered();
  if (have.empty()) {
    auto got = co_await stream_.read_some(to);
    co_return got;
  }
  const std::size_t bytes = std::min(have.size(), to.size());
  std::memcpy(to.data(), have.data(), bytes);
  consume(bytes);
  co_return bytes;
}

}  // namespace corail
