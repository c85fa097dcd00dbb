#include <fmt/core.h>

#include <asio/ip/address.hpp>
#include <utility>
#include <vector>

#include "engine/exec/shielded.h"
#include "engine/exec/suspension.h"
#include "engine/exec/tcp_socket.h"
#include "engine/exec/tcp_stream.h"

namespace corail {
namespace {

using asio::ip::tcp;
using Endpoints = std::vector<tcp::endpoint>;
using Stream = std::unique_ptr<ByteStream>;

/// One look-up. Shared with the callbacks of the resolver and the timer: the slower one comes after
/// the frame that waited has gone.
struct Lookup {
  explicit Lookup(const asio::any_io_executor& executor) : resolver(executor), place(executor) {}

  tcp::resolver resolver;
  Suspension place;
  std::error_code error;
  Endpoints endpoints;
  bool expired = false;
};

/// One connect. Shared with the timer's callback, which may be queued already when the frame goes.
struct Attempt {
  explicit Attempt(const asio::any_io_executor& executor) : socket(executor) {}

  tcp::socket socket;
  bool over = false;
  bool expired = false;
};

Error deadline_error(const std::string& host_port, const std::string& failures) {
  std::string detail =
      "no connection before the deadline; check that the address is right, the "
      "peer runs and no firewall drops packets";
  if (!failures.empty()) detail += "; " + failures;
  return Error(Errc::kDeadline, Stage::kConnect, std::move(detail)).on_peer(host_port);
}

/// Nothing but a deadline or a failure to find the name can go wrong.
Task<Result<Endpoints>> resolve(asio::any_io_executor executor, Clock& clock, HostPort target,
                                std::string host_port, TimePoint deadline) {
  Endpoints numeric;
  std::error_code not_numeric;
  const auto address = asio::ip::make_address(target.host, not_numeric);
  if (!not_numeric) {
    numeric.emplace_back(address, target.port);
    co_return numeric;
  }
  const auto lookup = std::make_shared<Lookup>(executor);
  const auto timer = clock.make_timer(executor);
  timer->wait_until(deadline, [lookup](bool expired) {
    lookup->expired = expired;
    lookup->place.resume_inline();
  });
  lookup->resolver.async_resolve(
      target.host, std::to_string(target.port), tcp::resolver::numeric_service,
      [lookup](const std::error_code& error, const tcp::resolver::results_type& results) {
        lookup->error = error;
        for (const auto& result : results) lookup->endpoints.push_back(result.endpoint());
        lookup->place.resume_inline();
      });
  co_await lookup->place.suspend();
  if (lookup->expired) co_return deadline_error(host_port, "the name was still being looked up");
  if (lookup->error || lookup->endpoints.empty()) {
    Error error(Errc::kConnectFailed, Stage::kConnect,
                fmt::format("the name was not found ({}); check its spelling and the resolver",
                            lookup->error.message()));
    co_return std::move(error).on_peer(host_port);
  }
  co_return lookup->endpoints;
}

/// A socket that is connected, or why not. kDeadline: no answer until `deadline`.
Task<Result<Stream>> connect_one(asio::any_io_executor executor, Clock& clock,
                                 tcp::endpoint endpoint, TimePoint deadline) {
  const auto attempt = std::make_shared<Attempt>(executor);
  const auto timer = clock.make_timer(executor);
  timer->wait_until(deadline, [attempt](bool expired) {
    if (!expired || attempt->over) return;
    attempt->expired = true;
    std::error_code ignored;
    attempt->socket.close(ignored);
  });
  std::error_code error;
  co_await attempt->socket.async_connect(endpoint, into(error));
  attempt->over = true;
  if (attempt->expired) co_return Error(Errc::kDeadline, Stage::kConnect, "no answer");
  if (error) co_return Error(Errc::kConnectFailed, Stage::kConnect, error.message());
  co_return make_tcp_stream(std::move(attempt->socket));
}

Task<Result<Stream>> connect_any(asio::any_io_executor executor, Clock& clock, HostPort target,
                                 std::string host_port, TimePoint deadline) {
  const auto endpoints = co_await resolve(executor, clock, target, host_port, deadline);
  if (!endpoints.ok()) co_return endpoints.error();
  std::string failures;
  std::size_t left = endpoints->size();
  for (const tcp::endpoint& endpoint : *endpoints) {
    const TimePoint now = clock.now();
    if (now >= deadline) co_return deadline_error(host_port, failures);
    // An address that does not answer must not take the time of those after it: all of the time
    // that is left is shared, and the last one gets the rest.
    const TimePoint until =
        left == 1 ? deadline : now + (deadline - now) / static_cast<Duration::rep>(left);
    --left;
    auto stream = co_await connect_one(executor, clock, endpoint, until);
    if (stream.ok()) co_return std::move(stream);
    if (!failures.empty()) failures += "; ";
    failures += endpoint_name(endpoint) + ": " + stream.error().detail();
    if (left == 0 && stream.error().code() == Errc::kDeadline) {
      co_return deadline_error(host_port, failures);
    }
  }
  Error error(Errc::kConnectFailed, Stage::kConnect,
              failures + "; check that the peer listens there and that the address is right");
  co_return std::move(error).on_peer(host_port);
}

}  // namespace

Task<Result<Stream>> connect_tcp(asio::any_io_executor executor, Clock& clock,
                                 std::string host_port, TimePoint deadline) {
  const auto target = parse_host_port(host_port);
  if (!target.ok()) co_return target.error();
  if (target->port == 0) {
    co_return Error(Errc::kInvalidArgument, Stage::kConnect,
                    fmt::format("'{}' has port 0, which nobody listens on", host_port));
  }
  auto stream =
      co_await shielded(connect_any(executor, clock, target.value(), host_port, deadline));
  co_return std::move(stream);
}

}  // namespace corail
