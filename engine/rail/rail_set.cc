#include "engine/rail/rail_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/host_port.h"
#include "engine/exec/when_all.h"
#include "engine/rail/push.h"
#include "engine/rail/retire.h"

namespace corail {
namespace {

std::string pair_name(const Port& port, const RailEndpoint& remote) {
  // Not every transport has ports.
  const std::string there =
      remote.port == 0 ? remote.address : format_host_port(remote.address, remote.port);
  return fmt::format("{}>{}", port.name(), there);
}

/// The endpoint is remote input (I5): what it says that it is need not be what this port speaks.
Result<void> check_pair(const Port& port, const RailEndpoint& remote,
                        const std::vector<RailEndpoint>& remotes) {
  if (remote.transport == port.transport()) return ok_result();
  std::string offered;
  for (const RailEndpoint& other : remotes) {
    offered += fmt::format("{}{}:{}", offered.empty() ? "" : ", ", other.transport,
                           format_host_port(other.address, other.port));
  }
  return Error(Errc::kIncompatible, Stage::kConnect,
               fmt::format("this end of the rail is '{}', the holder's is '{}'; the holder has {}; "
                           "name rails of one transport, in the same order, on both hosts",
                           port.transport(), remote.transport, offered))
      .on_rail(pair_name(port, remote));
}

Task<Result<void>> connect_rail(Rail* rail, RailEndpoint remote, TimePoint deadline) {
  auto connected = co_await rail->connect(std::move(remote), deadline);
  co_return connected;
}

}  // namespace

RailSet::~RailSet() { CORAIL_CHECK(rails_.empty(), "a rail set is closed before it is destroyed"); }

Task<Result<void>> RailSet::open(std::span<const std::unique_ptr<Port>> ports,
                                 std::vector<RailEndpoint> remotes, RailWindow window,
                                 RailOptions options, TimePoint deadline) {
  CORAIL_CHECK(!ports.empty() && !remotes.empty(), "a rail has two ends");
  CORAIL_CHECK(rails_.empty(), "a rail set is opened once");
  const std::size_t count = std::max(ports.size(), remotes.size());
  remotes_ = remotes.size();
  for (std::size_t i = 0; i < count; ++i) {
    auto fits = check_pair(*ports[i % ports.size()], remotes[i % remotes.size()], remotes);
    if (!fits) co_return std::move(fits).error();
  }
  if (options.connects) options.connects_peer = options.connects->add_peer();
  std::vector<Branch<void>> branches;
  branches.reserve(count);
  rails_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Port& port = *ports[i % ports.size()];
    RailEndpoint remote = remotes[i % remotes.size()];
    const asio::any_io_executor executor = port.executor().asio_executor();
    auto courier = remote.courier ? remote.courier->for_rail(executor) : nullptr;
    if (courier) remote.courier = std::move(courier);
    Rail::MakeTransport make_transport = [&port] { return port.make_transport(); };
    options.budget = port.budget();
    options.port = port.health();
    rails_.push_back(std::make_unique<Rail>(pair_name(port, remote), executor, port.clock(),
                                            std::move(make_transport), window, options));
    branches.emplace_back(executor, connect_rail(rails_.back().get(), std::move(remote), deadline));
  }
  auto results = co_await when_all(std::move(branches), std::function<void(const Error&)>());
  auto opened = judge(results);
  if (!opened) co_await close();
  co_return opened;
}

Result<void> RailSet::judge(const std::vector<Result<void>>& connects) const {
  const auto ready = std::count_if(connects.begin(), connects.end(),
                                   [](const Result<void>& result) { return result.ok(); });
  const Error* first = nullptr;
  std::string reasons;
  for (std::size_t i = 0; i < connects.size(); ++i) {
    if (connects[i]) continue;
    const Error& error = connects[i].error();
    if (first == nullptr) first = &error;
    reasons += fmt::format("; {}: {}", rails_[i]->name(), error.detail());
    if (ready == 0) continue;
    log_limited("rail not connected", LogLevel::kWarning,
                "a rail is not there yet, {} others to this peer are: {}", ready,
                error.to_string());
  }
  if (ready > 0) return ok_result();
  if (connects.size() == 1) return *first;
  return Error(first->code(), first->stage(),
               fmt::format("none of the {} rails could be connected{}", connects.size(), reasons))
      .on_rail(first->rail());
}

std::vector<std::string> RailSet::names() const {
  std::vector<std::string> names;
  names.reserve(rails_.size());
  for (const auto& rail : rails_) names.push_back(rail->name());
  return names;
}

std::uint64_t RailSet::max_slice_bytes() const noexcept {
  std::optional<std::uint64_t> least;
  for (const auto& rail : rails_) {
    // Whoever comes later and takes less posts shorter slices.
    if (!rail->known()) continue;
    const std::uint64_t most = rail->capabilities().max_slice_bytes;
    least = std::min(least.value_or(most), most);
  }
  return least.value_or(0);
}

Task<void> RailSet::close() {
  std::vector<Branch<void>> branches;
  branches.reserve(rails_.size());
  for (auto& rail : rails_) {
    const asio::any_io_executor executor = rail->executor();
    branches.emplace_back(executor, retire(std::move(rail)));
  }
  rails_.clear();
  [[maybe_unused]] const auto closed =
      co_await when_all(std::move(branches), std::function<void(const Error&)>());
}

}  // namespace corail
