#include "engine/rail/mock/mock_link.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace corail {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  double factor;  // to bytes per second, or to nanoseconds
};

// Longer names first where one begins with another.
constexpr std::array kRates{Unit{"GiB/s", 1073741824.0},
                            Unit{"MiB/s", 1048576.0},
                            Unit{"KiB/s", 1024.0},
                            Unit{"GB/s", 1e9},
                            Unit{"MB/s", 1e6},
                            Unit{"kB/s", 1e3},
                            Unit{"B/s", 1.0},
                            Unit{"Gb/s", 1e9 / 8},
                            Unit{"Mb/s", 1e6 / 8},
                            Unit{"kb/s", 1e3 / 8}};
constexpr std::array kTimes{Unit{"ns", 1.0}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};

/// The most that a model may say: 1 TB/s, and an hour. More is a typing error.
constexpr double kMaxRate = 1e12;
constexpr double kMaxTime = 3600e9;

/// Reads "<number><unit>" off the front of `text`.
template <std::size_t N>
std::optional<std::uint64_t> take(std::string_view& text, const std::array<Unit, N>& units,
                                  double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (!rest.starts_with(unit.name)) continue;
    const double value = std::round(number * unit.factor);
    if (value > most) return std::nullopt;
    text = rest.substr(unit.name.size());
    return static_cast<std::uint64_t>(value);
  }
  return std::nullopt;
}

bool take_mark(std::string_view& text, char mark) {
  if (text.empty() || text.front() != mark) return false;
  text.remove_prefix(1);
  return true;
}

Error malformed(std::string_view text) {
  return Error(Errc::kInvalidArgument, Stage::kSetup,
               fmt::format("\"{}\" is no link model; write it like 125MB/s+50us~5us: rate (B/s, "
                           "kB/s, MB/s, GB/s, kb/s, Mb/s, Gb/s, KiB/s, MiB/s, GiB/s), then "
                           "optionally + latency and ~ jitter (ns, us, ms, s)",
                           text));
}

std::string format_time(Duration time) {
  std::uint64_t count = static_cast<std::uint64_t>(time.count());
  std::size_t unit = 0;
  while (unit + 1 < kTimes.size() && count != 0 && count % 1000 == 0) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{}{}", count, kTimes[unit].name);
}

}  // namespace

Result<LinkModel> parse_link_model(std::string_view text) {
  LinkModel model;
  model.latency = Duration{0};
  std::string_view rest = text;
  const auto rate = take(rest, kRates, kMaxRate);
  if (!rate || *rate == 0) return malformed(text);
  model.bytes_per_second = *rate;
  if (take_mark(rest, '+')) {
    const auto latency = take(rest, kTimes, kMaxTime);
    if (!latency) return malformed(text);
    model.latency = Duration(static_cast<Duration::rep>(*latency));
  }
  if (take_mark(rest, '~')) {
    const auto jitter = take(rest, kTimes, kMaxTime);
    if (!jitter) return malformed(text);
    model.jitter = Duration(static_cast<Duration::rep>(*jitter));
  }
  if (!rest.empty()) return malformed(text);
  return model;
}

std::string format_link_model(const LinkModel& model) {
  constexpr std::array<std::string_view, 4> kDecimal{"B/s", "kB/s", "MB/s", "GB/s"};
  std::uint64_t rate = model.bytes_per_second;
  std::size_t unit = 0;
  while (unit + 1 < kDecimal.size() && rate % 1000 == 0) {
    rate /= 1000;
    ++unit;
  }
  std::string text = fmt::format("{}{}+{}", rate, kDecimal[unit], format_time(model.latency));
  if (model.jitter.count() > 0) text += "~" + format_time(model.jitter);
  return text;
}

MockLink::MockLink(const LinkModel& model, Random& random)
    : random_(random),
      rate_(std::max<std::uint64_t>(model.bytes_per_second, 1)),
      jitter_(model.jitter) {}

TimePoint MockLink::free_at() const noexcept {
  // In 128 bits: bytes times nanoseconds pass 64 bits after 18 GB. Long doubles have 64 bits of
  // mantissa and would round.
  const auto scaled = static_cast<Wide>(sent_) * 1'000'000'000U;
  return busy_since_ + Duration(static_cast<Duration::rep>(scaled / rate_));
}

TimePoint MockLink::transmit(TimePoint ready, std::uint64_t bytes) {
  if (ready > free_at()) {
    busy_since_ = ready;
    sent_ = 0;
  }
  sent_ += bytes;
  TimePoint arrival = free_at();
  if (jitter_.count() > 0) {
    const auto bound = static_cast<std::uint64_t>(jitter_.count()) + 1;
    arrival += Duration(static_cast<Duration::rep>(random_.below(bound)));
  }
  last_arrival_ = std::max(last_arrival_, arrival);
  return last_arrival_;
}

void MockLink::set_rate(std::uint64_t bytes_per_second) {
  busy_since_ = free_at();
  sent_ = 0;
  rate_ = std::max<std::uint64_t>(bytes_per_second, 1);
}

}  // namespace corail
