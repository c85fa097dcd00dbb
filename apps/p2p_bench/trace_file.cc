#include "apps/p2p_bench/trace_file.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/store/store_types.h"

namespace corail::bench {
namespace {

Error bad(std::string sentence) { return Error(Errc::kInvalidArgument, std::move(sentence)); }

/// No trace lasts longer than a year.
constexpr double kMaxTimestampMs = 366.0 * 24 * 3600 * 1000;

struct Close {
  void operator()(gzFile_s* file) const { ::gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, Close>;

/// The next line without its end. False at the end of the file, or where it cannot be read on.
bool read_line(gzFile_s* file, std::vector<char>& buffer, std::string_view& line) {
  if (::gzgets(file, buffer.data(), static_cast<int>(buffer.size())) == nullptr) return false;
  line = std::string_view(buffer.data());
  return true;
}

}  // namespace

Result<TraceRequest> parse_trace_line(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return bad("no JSON object");
  const auto timestamp = json.find("timestamp");
  if (timestamp == json.end() || !timestamp->is_number()) return bad("no number as timestamp");
  const auto milliseconds = timestamp->get<double>();
  if (!(milliseconds >= 0 && milliseconds <= kMaxTimestampMs)) {
    return bad("a timestamp outside of a year");
  }
  const auto ids = json.find("hash_ids");
  if (ids == json.end() || !ids->is_array()) return bad("no array as hash_ids");
  if (ids->size() > StoreOptions().max_hashes) {
    return bad(fmt::format("more than {} hash_ids", StoreOptions().max_hashes));
  }
  TraceRequest request;
  request.at =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(milliseconds));
  for (const auto& id : *ids) {
    const bool fits = id.is_number_unsigned() &&
                      id.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
    if (!fits) return bad("a hash id that is no whole number below 2^32");
    request.blocks.push_back(id.get<std::uint32_t>());
  }
  std::vector<std::uint32_t> sorted = request.blocks;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return bad("a hash id twice");
  return request;
}

Result<std::vector<TraceRequest>> read_trace(const std::string& path) {
  errno = 0;
  const File file(::gzopen(path.c_str(), "rbe"));
  if (!file) {
    return bad(fmt::format("--trace {} cannot be opened: {}", path, std::strerror(errno)));
  }
  std::vector<TraceRequest> requests;
  std::vector<char> buffer(kMaxTraceLineBytes);
  std::string_view line;
  while (read_line(file.get(), buffer, line)) {
    const std::string where = fmt::format("--trace {}, line {}: ", path, requests.size() + 1);
    if (line.size() + 1 == buffer.size() && line.back() != '\n') {
      return bad(where + "longer than a line may be");
    }
    auto request = parse_trace_line(line);
    if (!request.ok()) return bad(where + request.error().detail());
    if (requests.size() == kMaxTraceRequests) return bad(where + "more requests than are possible");
    requests.push_back(std::move(*request));
  }
  int code = Z_OK;
  const char* message = ::gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END) {
    return bad(fmt::format("--trace {} cannot be read: {}", path, message));
  }
  if (requests.empty()) return bad(fmt::format("--trace {} has no requests", path));
  return requests;
}

}  // namespace corail::bench
