#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/region_table.h"
#include "engine/plan/layout.h"
#include "engine/rail/rail_endpoint.h"
#include "engine/store/store_types.h"
#include "rpc/options.h"

namespace corail {

/// The messages of the control channel in the engine's words; proto/ has their fields, units and
/// trust. What codec.h decodes has been range-checked field by field.

/// Versions of the messages that this build speaks.
inline constexpr std::uint32_t kProtocolMin = 1;
inline constexpr std::uint32_t kProtocolMax = 1;
/// Bits of Hello's features: answers may come in an AnswerEncoding other than kRuns.
inline constexpr std::uint64_t kFeatureAnswerEncodings = 1;
/// The connection carries calls of both sides: a Session may be shared by two nodes that connect to
/// each other.
inline constexpr std::uint64_t kFeatureTwoWay = 2;
/// Parts of the lanes of a lease may be read, verified and confirmed by themselves: ConfirmLease,
/// LaneSums.
inline constexpr std::uint64_t kFeatureLaneRanges = 4;
/// Objects are served, pulled and pushed: LookupObject, OpenObject, ListObjects, DeleteObject,
/// ReadStripes.
inline constexpr std::uint64_t kFeatureObjects = 8;
/// What this build understands.
inline constexpr std::uint64_t kFeatures =
    kFeatureAnswerEncodings | kFeatureTwoWay | kFeatureLaneRanges | kFeatureObjects;
/// The only way to authenticate today.
inline constexpr std::string_view kAuthNone = "none";

inline constexpr std::size_t kMaxNodeNameBytes = 256;
inline constexpr std::size_t kMaxAuthMethods = 8;
inline constexpr std::size_t kMaxAuthMethodBytes = 64;
inline constexpr std::size_t kMaxAuthBytes = 16 * 1024;
inline constexpr std::uint32_t kMaxRails = 64;
inline constexpr std::size_t kMaxDescriptionBytes = 256;
inline constexpr std::size_t kMaxErrorDetailBytes = 1024;
inline constexpr std::uint32_t kMaxTtlMs = 86'400'000;
/// The longest that a query waits for blocks. The lease counts from before the wait, so this is
/// well below what a holder grants (StoreOptions::max_lease_ttl).
inline constexpr Duration kMaxQueryWait = std::chrono::minutes(5);

struct NodeIdentity {
  NodeId node;
  BootId boot;
  std::string name;  // printable, for people
};

/// Whether both name the same node, started the same time.
inline bool same_instance(const NodeIdentity& a, const NodeIdentity& b) noexcept {
  return a.node == b.node && a.boot == b.boot;
}
/// An order that all nodes agree on. The boot id decides between nodes that were given one id.
inline bool precedes(const NodeIdentity& a, const NodeIdentity& b) noexcept {
  return a.node != b.node ? a.node < b.node : a.boot < b.boot;
}

enum class Service : std::uint8_t { kBlocks = 1 };

struct HelloRequest {
  HelloRequest() = default;
  /// What this build asks for.
  HelloRequest(NodeIdentity caller, std::uint64_t wanted)
      : features(wanted), identity(std::move(caller)), auth_methods{std::string(kAuthNone)} {}

  std::uint32_t protocol_min = kProtocolMin;
  std::uint32_t protocol_max = kProtocolMax;
  std::uint64_t features = 0;
  NodeIdentity identity;
  Service service = Service::kBlocks;
  std::vector<std::string> auth_methods;
  std::string auth_bytes;
  bool separate = false;  // kAlreadyConnected is no answer
};

struct GreetDoorRequest {
  std::uint32_t door = 0;
  std::string words;
};

enum class HelloStep : std::uint8_t { kDone = 1, kAuthenticate = 2, kAlreadyConnected = 3 };

struct HelloAnswer {
  std::uint32_t protocol_version = 0;
  std::uint64_t features = 0;
  NodeIdentity identity;
  HelloStep step = HelloStep::kDone;
  std::string auth_method;
  std::string auth_bytes;
};

/// Why a side calls no more.
enum class GoodbyeReason : std::uint8_t { kUnknown = 0, kLeft = 1, kOtherSession = 2 };

struct OpenRailsRequest {
  std::uint32_t rail_count = 0;
  std::vector<std::string> descriptions;  // none, or one per rail; printable
};

struct OpenRailsAnswer {
  std::vector<RailEndpoint> rails;
  RegionTable regions;
};

/// A query as the holder decodes it: views into the message's body.
struct QueryBlocks {
  ReadId read;
  std::string_view name_space;
  std::vector<std::string_view> hashes;
  Duration ttl{};               // 0: the holder's default
  std::uint64_t layout_id = 0;  // 0: any
  AnswerEncoding encoding = AnswerEncoding::kRuns;
  Duration wait{};  // 0: answer at once; clamped to kMaxQueryWait
};

/// A query's answer as the requester decodes it. Lengths agree with each other, the layout is the
/// one expected; the addresses in the runs are still the holder's word, which plan_block_read()
/// checks.
struct TransferAnswer {
  QueryAnswer blocks;
  std::shared_ptr<const RegionTable> regions;  // at least as new as the answer; see SessionClient
  std::uint64_t run_table_bytes = 0;           // of the message: runs and template
  std::uint64_t answer_bytes = 0;              // on the wire, frame header included
};

/// Per block of a prefix: what the checksum terms of some lanes add up to, and of all others.
struct LaneSums {
  std::vector<std::uint64_t> sums;
  std::vector<std::uint64_t> rests;
};

}  // namespace corail
