#include "test/rail/tcp_rig.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <utility>

namespace corail::test {

TcpRig::TcpRig(std::size_t memory_bytes, TcpOptions own_options)
    : options(std::move(own_options)),
      gate(memory_bytes),
      door(context.get_executor(), clock, options) {
  const auto opened = door.open();
  BOOST_TEST(opened.ok());
  endpoint = door.admit_session(kSession, token(), gate);
}

TcpOptions TcpRig::loopback_options() {
  TcpOptions options;
  options.local_address = "127.0.0.1";
  return options;
}

ChannelToken TcpRig::token() {
  ChannelToken token{};
  for (std::size_t i = 0; i < token.size(); ++i) token[i] = static_cast<std::uint8_t>(17 * i + 3);
  return token;
}

std::unique_ptr<TcpTransport> TcpRig::make_transport(std::uint32_t channels) {
  TcpOptions own = options;
  own.channels = channels;
  return std::make_unique<TcpTransport>(context.get_executor(), clock, std::move(own));
}

std::vector<Slice> slices_over(std::span<std::byte> target, std::uint64_t length,
                               std::uint64_t first_tag) {
  std::vector<Slice> slices;
  for (std::uint64_t at = 0; at < target.size(); at += length) {
    Slice slice;
    slice.region = MemoryGate::kRegion;
    slice.remote_offset = at;
    slice.destination = target.data() + at;
    slice.length = std::min<std::uint64_t>(length, target.size() - at);
    slice.tag = first_tag++;
    slices.push_back(slice);
  }
  return slices;
}

std::vector<Slice> small_slices_over(std::span<std::byte> target, std::uint64_t length,
                                     std::uint64_t first_tag) {
  std::vector<Slice> slices = slices_over(target, length, first_tag);
  for (Slice& slice : slices) slice.of_small_read = true;
  return slices;
}

}  // namespace corail::test
