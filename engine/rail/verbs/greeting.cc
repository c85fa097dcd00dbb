#include "engine/rail/verbs/greeting.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/verbs/path_choice.h"

namespace corail {
namespace {

constexpr std::uint64_t kGreetingVersion = 1;
constexpr std::uint64_t kMax24Bits = (1U << 24) - 1;
/// Queue pairs 0 and 1 are the subnet manager's and the connection manager's.
constexpr std::uint32_t kFirstPairNumber = 2;
/// LIDs from here on are of multicast groups, and 0 is none.
constexpr std::uint16_t kFirstMulticastLid = 0xC000;

void put(std::string& bytes, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

/// Takes numbers off the front; once there are too few bytes, zeros.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t take(std::size_t size) {
    ok_ = ok_ && bytes_.size() >= size;
    if (!ok_) return 0;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      number |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    }
    bytes_.remove_prefix(size);
    return number;
  }
  bool at_end() const noexcept { return ok_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

/// Whether a port may have this GID: neither none at all, nor a multicast group's, be it of IPv6 or
/// of IPv4.
bool is_ports_gid(const Gid& gid) noexcept {
  const bool none =
      std::all_of(gid.begin(), gid.end(), [](std::uint8_t byte) { return byte == 0; });
  const bool multicast = gid[0] == 0xFF || (is_ipv4(gid) && gid[12] >= 0xE0);
  return !none && !multicast;
}

Error malformed_greeting(std::string_view why) {
  return Error(Errc::kProtocol, Stage::kConnect,
               fmt::format("the other end of the rail says what no rail says: {}", why));
}

}  // namespace

std::string encode(const Greeting& greeting) {
  std::string bytes;
  put(bytes, kGreetingVersion, 2);
  put(bytes, greeting.rail, 8);
  put(bytes, greeting.generation, 8);
  put(bytes, greeting.first_channel, 1);
  put(bytes, static_cast<std::uint64_t>(greeting.link), 1);
  put(bytes, greeting.mtu_bytes, 4);
  put(bytes, greeting.lid, 2);
  for (const std::uint8_t byte : greeting.gid) put(bytes, byte, 1);
  put(bytes, greeting.reads_sent, 1);
  put(bytes, greeting.reads_answered, 1);
  put(bytes, greeting.pairs.size(), 1);
  for (const GreetedPair& pair : greeting.pairs) {
    put(bytes, pair.number, 4);
    put(bytes, pair.psn, 4);
  }
  return bytes;
}

Result<Greeting> decode_greeting(std::string_view bytes) {
  Reader reader(bytes);
  const std::uint64_t version = reader.take(2);
  if (version != kGreetingVersion) {
    return Error(Errc::kIncompatible, Stage::kConnect,
                 fmt::format("the other end speaks version {} of verbs rails, this one {}; run one "
                             "version on both hosts",
                             version, kGreetingVersion));
  }
  Greeting greeting;
  greeting.rail = reader.take(8);
  greeting.generation = reader.take(8);
  greeting.first_channel = static_cast<std::uint8_t>(reader.take(1));
  const std::uint64_t link = reader.take(1);
  greeting.mtu_bytes = static_cast<std::uint32_t>(reader.take(4));
  greeting.lid = static_cast<std::uint16_t>(reader.take(2));
  for (std::uint8_t& byte : greeting.gid) byte = static_cast<std::uint8_t>(reader.take(1));
  greeting.reads_sent = static_cast<std::uint8_t>(reader.take(1));
  greeting.reads_answered = static_cast<std::uint8_t>(reader.take(1));
  const std::uint64_t count = reader.take(1);
  if (count == 0 || greeting.first_channel + count > kMaxGreetedPairs) {
    return malformed_greeting(fmt::format("{} queue pairs from channel {} on, of at most {}", count,
                                          greeting.first_channel, kMaxGreetedPairs));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    GreetedPair pair;
    pair.number = static_cast<std::uint32_t>(reader.take(4));
    pair.psn = static_cast<std::uint32_t>(reader.take(4));
    if (pair.number > kMax24Bits || pair.psn > kMax24Bits) {
      return malformed_greeting("a number of more than 24 bits");
    }
    if (pair.number < kFirstPairNumber) {
      return malformed_greeting(fmt::format("queue pair {}", pair.number));
    }
    greeting.pairs.push_back(pair);
  }
  if (!reader.at_end()) return malformed_greeting("it is too short or too long");
  const bool known_link = link == static_cast<std::uint64_t>(LinkLayer::kEthernet) ||
                          link == static_cast<std::uint64_t>(LinkLayer::kInfiniBand);
  if (!known_link) return malformed_greeting(fmt::format("link layer {}", link));
  greeting.link = static_cast<LinkLayer>(link);
  // What its packets are addressed by: the GID on Ethernet, the LID within an InfiniBand subnet.
  const bool has_lid = greeting.lid > 0 && greeting.lid < kFirstMulticastLid;
  if (greeting.link == LinkLayer::kInfiniBand && !has_lid) {
    return malformed_greeting(fmt::format("LID {:#x}", greeting.lid));
  }
  if (greeting.link == LinkLayer::kEthernet && !is_ports_gid(greeting.gid)) {
    return malformed_greeting("a GID that no port has");
  }
  return greeting;
}

}  // namespace corail
