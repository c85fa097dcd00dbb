#include "engine/object/descriptor_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace corail {
namespace {

Error wrong(const ObjectDescriptor& object, const std::string& what) {
  // A key that is too long is not worth a message of its length.
  return Error(Errc::kProtocol,
               fmt::format("the peer's descriptor of object '{}' {}; check the peer's version",
                           object.key.substr(0, kMaxObjectKeyBytes), what));
}

Result<void> check_head(const ObjectDescriptor& object) {
  if (object.key.empty()) return wrong(object, "has no key");
  if (object.key.size() > kMaxObjectKeyBytes) {
    return wrong(object, fmt::format("has a key of {} bytes, more than the {} allowed",
                                     object.key.size(), kMaxObjectKeyBytes));
  }
  if (object.generation.value() == 0) return wrong(object, "has generation 0, which names none");
  if (object.generation.value() > kMaxObjectGeneration) {
    return wrong(object, fmt::format("has generation {}, more than the {} there are",
                                     object.generation.value(), kMaxObjectGeneration));
  }
  if (object.stripe_size == 0 || object.stripe_size % kGranuleBytes != 0) {
    return wrong(object, fmt::format("has stripes of {} bytes, which is no multiple of {}",
                                     object.stripe_size, kGranuleBytes));
  }
  if (object.stripe_size > kMaxStripeBytes) {
    return wrong(object, fmt::format("has stripes of {} bytes, more than the {} allowed",
                                     object.stripe_size, kMaxStripeBytes));
  }
  return ok_result();
}

Result<void> check_nodes(const ObjectDescriptor& object) {
  if (object.nodes.size() > kMaxObjectNodes) {
    return wrong(object, fmt::format("names {} nodes, more than the {} allowed",
                                     object.nodes.size(), kMaxObjectNodes));
  }
  std::vector<NodeId> ids;
  ids.reserve(object.nodes.size());
  for (std::size_t i = 0; i < object.nodes.size(); ++i) {
    const ObjectNode& node = object.nodes[i];
    if (node.addresses.empty() || node.addresses.size() > kMaxNodeAddresses) {
      return wrong(object, fmt::format("gives node {} {} addresses instead of 1 to {}", i,
                                       node.addresses.size(), kMaxNodeAddresses));
    }
    const bool sound = std::ranges::all_of(node.addresses, [](const std::string& address) {
      return !address.empty() && address.size() <= kMaxNodeAddressBytes;
    });
    if (!sound) {
      return wrong(object, fmt::format("gives node {} an address that is empty or longer than {} "
                                       "bytes",
                                       i, kMaxNodeAddressBytes));
    }
    ids.push_back(node.id);
  }
  std::ranges::sort(ids);
  // One owner would be asked twice, and hold two leases.
  if (std::ranges::adjacent_find(ids) != ids.end()) return wrong(object, "names one node twice");
  return ok_result();
}

Result<void> check_chunks(const ObjectDescriptor& object) {
  const std::uint64_t stripes = stripes_of(object.size, object.stripe_size);
  if (stripes > kMaxObjectStripes) {
    return wrong(object, fmt::format("has {} bytes in stripes of {}, which are {} stripes, more "
                                     "than the {} allowed",
                                     object.size, object.stripe_size, stripes, kMaxObjectStripes));
  }
  if (object.chunks.size() != stripes) {
    return wrong(object,
                 fmt::format("has {} chunks, but its {} bytes in stripes of {} are {}",
                             object.chunks.size(), object.size, object.stripe_size, stripes));
  }
  std::uint64_t left = object.size;
  for (std::size_t i = 0; i < object.chunks.size(); ++i) {
    const ObjectChunk& chunk = object.chunks[i];
    const std::uint64_t length = std::min(left, object.stripe_size);
    if (chunk.length != length) {
      return wrong(object, fmt::format("says that stripe {} has {} bytes, but it must have {}", i,
                                       chunk.length, length));
    }
    if (chunk.node >= object.nodes.size()) {
      return wrong(object, fmt::format("says that stripe {} is on node {} of {}, counted from 0", i,
                                       chunk.node, object.nodes.size()));
    }
    left -= length;
  }
  return ok_result();
}

}  // namespace

Result<void> check_descriptor(const ObjectDescriptor& object) {
  for (const auto check : {check_head, check_nodes, check_chunks}) {
    if (auto checked = check(object); !checked) return checked;
  }
  return ok_result();
}

}  // namespace corail
