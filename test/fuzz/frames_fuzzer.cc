// Headers and prefaces of both kinds of connection: whatever is accepted encodes to the same bytes.
#include <algorithm>
#include <cstdlib>

#include "engine/rail/tcp/data_frame.h"
#include "rpc/frame.h"
#include "test/fuzz/fuzz_input.h"

namespace corail::fuzz {
namespace {

template <std::size_t kBytes>
std::span<const std::byte, kBytes> first(std::span<const std::byte> bytes) {
  return bytes.first<kBytes>();
}

template <typename Value, std::size_t kBytes>
void expect_same(const Value& value, std::span<const std::byte, kBytes> bytes) {
  const auto again = encode(value);
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
}

void control_frame(std::span<const std::byte> bytes) {
  if (bytes.size() < kFrameHeaderBytes) return;
  const auto header = decode_header(first<kFrameHeaderBytes>(bytes));
  if (!header.ok()) return;
  const auto again = encode_header(*header);
  if (!std::equal(again.begin(), again.end(), bytes.begin())) std::abort();
}

void data_frame(std::span<const std::byte> bytes) {
  if (bytes.size() >= kRequestBytes) {
    const auto request = decode_request(first<kRequestBytes>(bytes));
    if (request.ok()) expect_same(*request, first<kRequestBytes>(bytes));
  }
  if (bytes.size() >= kReplyBytes) {
    const auto reply = decode_reply(first<kReplyBytes>(bytes));
    if (reply.ok()) expect_same(*reply, first<kReplyBytes>(bytes));
  }
}

}  // namespace
}  // namespace corail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corail::fuzz::FuzzInput input(data, size);
  if (input.below(2) == 0) {
    corail::fuzz::control_frame(input.rest());
  } else {
    corail::fuzz::data_frame(input.rest());
  }
  return 0;
}
