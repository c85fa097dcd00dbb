#include "apps/p2p_bench/limit_client.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace corail::bench {
namespace {

constexpr Duration kConnectPatience = std::chrono::seconds(2);
/// Shares start on pages, as the engine's slices do.
constexpr std::uint64_t kShareAlignment = 4 * kKiB;

/// Where the share of connection `index` of `count` starts.
std::uint64_t share_start(std::uint64_t bytes, std::size_t index, std::size_t count) {
  if (index == count) return bytes;
  return bytes / count * index / kShareAlignment * kShareAlignment;
}

/// Receives `length` bytes into the destination from `offset` on.
bool receive_range(const Descriptor& socket, const std::vector<std::span<std::byte>>& destination,
                   std::uint64_t offset, std::uint64_t length, std::uint64_t call_bytes) {
  for (const auto& span : destination) {
    if (length == 0) break;
    if (offset >= span.size()) {
      offset -= span.size();
      continue;
    }
    const auto piece = span.subspan(offset, std::min<std::uint64_t>(length, span.size() - offset));
    offset = 0;
    length -= piece.size();
    if (!receive_all(socket, piece, call_bytes)) return false;
  }
  return length == 0;
}

Result<Descriptor> connect_and_greet(const std::string& local_host, const std::string& address,
                                     HolderHello& hello) {
  auto socket = connect_raw(local_host, address, kConnectPatience);
  if (!socket.ok()) return socket;
  set_stall_limit(*socket, kConnectPatience);
  auto answer = greet(*socket, address);
  if (!answer.ok()) return std::move(answer).error();
  hello = std::move(*answer);
  return socket;
}

}  // namespace

Result<HolderHello> ask_holder(const std::string& address) {
  HolderHello hello;
  const auto socket = connect_and_greet("", address, hello);
  if (!socket.ok()) return socket.error();
  return hello;
}

Result<std::unique_ptr<LimitClient>> LimitClient::open(const HolderHello& hello,
                                                       const std::vector<std::string>& local_hosts,
                                                       std::uint32_t channels_per_rail,
                                                       Clock& clock) {
  std::unique_ptr<LimitClient> client(new LimitClient(clock));
  for (std::size_t rail = 0; rail < local_hosts.size(); ++rail) {
    for (std::uint32_t channel = 0; channel < channels_per_rail; ++channel) {
      const std::string& endpoint = hello.endpoints[rail % hello.endpoints.size()];
      HolderHello ignored;
      auto socket = connect_and_greet(local_hosts[rail], endpoint, ignored);
      if (!socket.ok()) return std::move(socket).error();
      set_stall_limit(*socket, kStallLimit);
      client->sockets_.push_back(std::move(*socket));
    }
  }
  for (std::size_t i = 0; i < client->sockets_.size(); ++i) {
    client->threads_.emplace_back([raw = client.get(), i] { raw->work(i); });
  }
  return client;
}

LimitClient::~LimitClient() {
  abort();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void LimitClient::abort() {
  // Receives end at once; the sockets themselves stay open until the threads are joined.
  for (const Descriptor& socket : sockets_) ::shutdown(socket.get(), SHUT_RDWR);
}

Result<Duration> LimitClient::fetch(std::uint32_t set, std::uint32_t call_bytes,
                                    const std::vector<std::span<std::byte>>& destination) {
  std::unique_lock lock(mutex_);
  round_.bytes = 0;
  for (const auto& span : destination) round_.bytes += span.size();
  round_.set = set;
  round_.call_bytes = call_bytes;
  round_.destination = &destination;
  ++round_.number;
  running_ = threads_.size();
  const TimePoint start = clock_.now();
  started_.notify_all();
  finished_.wait(lock, [this] { return running_ == 0; });
  const Duration took = clock_.now() - start;
  round_.destination = nullptr;
  if (failed_) return Error(Errc::kConnectionLost, "a connection of the raw loop broke");
  return took;
}

void LimitClient::work(std::size_t index) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    started_.wait(lock, [&] { return closing_ || round_.number != seen; });
    if (closing_) return;
    const Round round = round_;
    seen = round.number;
    lock.unlock();
    const bool fine = fetch_share(index, round);
    lock.lock();
    failed_ = failed_ || !fine;
    if (--running_ == 0) finished_.notify_one();
  }
}

bool LimitClient::fetch_share(std::size_t index, const Round& round) const {
  LimitCommand command;
  command.offset = share_start(round.bytes, index, sockets_.size());
  command.length = share_start(round.bytes, index + 1, sockets_.size()) - command.offset;
  command.set = round.set;
  command.call_bytes = round.call_bytes;
  if (!send_all(sockets_[index], encode_command(command), kCommandBytes)) return false;
  return receive_range(sockets_[index], *round.destination, command.offset, command.length,
                       round.call_bytes);
}

}  // namespace corail::bench
