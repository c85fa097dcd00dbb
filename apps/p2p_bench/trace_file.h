#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"

namespace corail::bench {

/// One request of a trace: the blocks of its prompt, in prefix order. Equal ids are equal blocks.
struct TraceRequest {
  Duration at{};                      // from the start of the trace
  std::vector<std::uint32_t> blocks;  // no id twice
};

/// What a trace file may at most have (I8).
inline constexpr std::size_t kMaxTraceRequests = 10'000'000;
inline constexpr std::size_t kMaxTraceLineBytes = 1024 * 1024;

/// Reads a trace as it is published with Mooncake (FAST'25): a JSON object a line, with `timestamp`
/// in ms and `hash_ids`; other fields are passed over. Plain, or compressed with gzip. Fails with
/// kInvalidArgument, naming the file and line.
Result<std::vector<TraceRequest>> read_trace(const std::string& path);

/// One line of it. Fails with kInvalidArgument.
Result<TraceRequest> parse_trace_line(std::string_view line);

}  // namespace corail::bench
