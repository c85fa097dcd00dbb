#include <limits>
#include <string>
#include <utility>

#include "proto/corail/v1/rails.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"
#include "rpc/printable.h"

namespace corail {
namespace {

constexpr std::size_t kMaxTransportBytes = 32;
constexpr std::size_t kMaxAddressBytes = 256;
constexpr std::int32_t kMaxNumaNode = 1023;
constexpr std::string_view kRequest = "OpenRailsRequest";
constexpr std::string_view kAnswer = "OpenRailsAnswer";
constexpr std::string_view kRegions = "GetRegionsAnswer";
constexpr std::string_view kEndpoint = "RailEndpoint";
constexpr std::string_view kRegion = "Region";

template <typename Message>
void put_regions(const RegionTable& table, Message& message) {
  for (const Region& region : table.regions()) {
    v1::Region& entry = *message.add_regions();
    entry.set_id(region.id.value());
    entry.set_base(region.base);
    entry.set_length(region.length);
    entry.set_numa_node(region.numa_node);
    entry.mutable_keys()->Add(region.keys.begin(), region.keys.end());
  }
  message.set_table_generation(table.generation().value());
}

template <typename Message>
Result<RegionTable> take_regions(const Message& message) {
  std::vector<Region> regions;
  regions.reserve(static_cast<std::size_t>(message.regions_size()));
  for (const v1::Region& entry : message.regions()) {
    if (entry.numa_node() < -1 || entry.numa_node() > kMaxNumaNode) {
      return codec::field_error(kRegion, "numa_node", "is {}, outside of -1 to {}",
                                entry.numa_node(), kMaxNumaNode);
    }
    if (static_cast<std::uint32_t>(entry.keys_size()) > kMaxRails) {
      return codec::field_error(kRegion, "keys", "has {} elements, more than the {} allowed",
                                entry.keys_size(), kMaxRails);
    }
    Region region;
    region.id = RegionId(entry.id());
    region.base = entry.base();
    region.length = entry.length();
    region.numa_node = entry.numa_node();
    region.keys.assign(entry.keys().begin(), entry.keys().end());
    regions.push_back(std::move(region));
  }
  return RegionTable::make(TableGeneration(message.table_generation()), std::move(regions));
}

Result<RailEndpoint> take_endpoint(const v1::RailEndpoint& entry) {
  auto fits =
      codec::check_length(kEndpoint, "transport", entry.transport().size(), kMaxTransportBytes);
  if (!fits.ok()) return fits.error();
  fits = codec::check_length(kEndpoint, "address", entry.address().size(), kMaxAddressBytes);
  if (!fits.ok()) return fits.error();
  if (entry.port() > std::numeric_limits<std::uint16_t>::max()) {
    return codec::field_error(kEndpoint, "port", "is {}, more than 65535", entry.port());
  }
  RailEndpoint endpoint;
  if (entry.token().size() != endpoint.token.size()) {
    return codec::field_error(kEndpoint, "token", "has {} bytes instead of {}",
                              entry.token().size(), endpoint.token.size());
  }
  endpoint.transport = printable(entry.transport());
  endpoint.address = printable(entry.address());
  endpoint.port = static_cast<std::uint16_t>(entry.port());
  std::memcpy(endpoint.token.data(), entry.token().data(), endpoint.token.size());
  return endpoint;
}

}  // namespace

FrameBuffer encode_open_rails(const OpenRailsRequest& request) {
  v1::OpenRailsRequest message;
  message.set_rail_count(request.rail_count);
  for (const std::string& description : request.descriptions) {
    message.add_rail_descriptions(printable(description).substr(0, kMaxDescriptionBytes));
  }
  return codec::to_frame(message);
}

Result<OpenRailsRequest> decode_open_rails(std::span<const std::byte> body) {
  v1::OpenRailsRequest message;
  const auto parsed = codec::parse(kRequest, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.rail_count() < 1 || message.rail_count() > kMaxRails) {
    return codec::field_error(kRequest, "rail_count", "is {}, outside of 1 to {}",
                              message.rail_count(), kMaxRails);
  }
  const auto described = static_cast<std::uint32_t>(message.rail_descriptions_size());
  if (described != 0 && described != message.rail_count()) {
    return codec::field_error(kRequest, "rail_descriptions", "has {} elements for {} rails",
                              described, message.rail_count());
  }
  OpenRailsRequest request;
  request.rail_count = message.rail_count();
  for (const std::string& description : message.rail_descriptions()) {
    const auto fits = codec::check_length(kRequest, "rail_descriptions", description.size(),
                                          kMaxDescriptionBytes);
    if (!fits.ok()) return fits.error();
    request.descriptions.push_back(printable(description));
  }
  return request;
}

FrameBuffer encode_open_rails_answer(std::span<const RailEndpoint> rails,
                                     const RegionTable& regions) {
  v1::OpenRailsAnswer message;
  for (const RailEndpoint& rail : rails) {
    v1::RailEndpoint& entry = *message.add_rails();
    entry.set_transport(rail.transport);
    entry.set_address(rail.address);
    entry.set_port(rail.port);
    entry.set_token(rail.token.data(), rail.token.size());
  }
  put_regions(regions, message);
  return codec::to_frame(message);
}

Result<OpenRailsAnswer> decode_open_rails_answer(std::span<const std::byte> body) {
  auto bounded =
      codec::check_count(kAnswer, "rails", body, v1::OpenRailsAnswer::kRailsFieldNumber, kMaxRails);
  if (!bounded.ok()) return bounded.error();
  bounded = codec::check_count(kAnswer, "regions", body, v1::OpenRailsAnswer::kRegionsFieldNumber,
                               kMaxRegions);
  if (!bounded.ok()) return bounded.error();
  v1::OpenRailsAnswer message;
  const auto parsed = codec::parse(kAnswer, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.rails_size() == 0) return codec::field_error(kAnswer, "rails", "is empty");

  OpenRailsAnswer answer;
  for (const v1::RailEndpoint& entry : message.rails()) {
    auto endpoint = take_endpoint(entry);
    if (!endpoint.ok()) return std::move(endpoint).error();
    answer.rails.push_back(std::move(*endpoint));
  }
  auto regions = take_regions(message);
  if (!regions.ok()) return std::move(regions).error();
  answer.regions = std::move(*regions);
  return answer;
}

FrameBuffer encode_get_regions() { return codec::to_frame(v1::GetRegionsRequest()); }

Result<void> decode_get_regions(std::span<const std::byte> body) {
  v1::GetRegionsRequest message;
  return codec::parse("GetRegionsRequest", body, message);
}

FrameBuffer encode_get_regions_answer(const RegionTable& regions) {
  v1::GetRegionsAnswer message;
  put_regions(regions, message);
  return codec::to_frame(message);
}

Result<RegionTable> decode_get_regions_answer(std::span<const std::byte> body) {
  const auto bounded = codec::check_count(kRegions, "regions", body,
                                          v1::GetRegionsAnswer::kRegionsFieldNumber, kMaxRegions);
  if (!bounded.ok()) return bounded.error();
  v1::GetRegionsAnswer message;
  const auto parsed = codec::parse(kRegions, body, message);
  if (!parsed.ok()) return parsed.error();
  return take_regions(message);
}

FrameBuffer encode_regions_changed(TableGeneration generation) {
  v1::RegionsChanged message;
  message.set_table_generation(generation.value());
  return codec::to_frame(message);
}

Result<TableGeneration> decode_regions_changed(std::span<const std::byte> body) {
  v1::RegionsChanged message;
  const auto parsed = codec::parse("RegionsChanged", body, message);
  if (!parsed.ok()) return parsed.error();
  return TableGeneration(message.table_generation());
}

}  // namespace corail
