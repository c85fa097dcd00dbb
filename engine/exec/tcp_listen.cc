#include <fmt/core.h>

#include <asio/ip/address.hpp>
#include <utility>

#include "engine/exec/shielded.h"
#include "engine/exec/tcp_socket.h"
#include "engine/exec/tcp_stream.h"

namespace corail {
namespace {

using asio::ip::tcp;

bool out_of_resources(const std::error_code& error) {
  return error == std::errc::too_many_files_open ||
         error == std::errc::too_many_files_open_in_system || error == std::errc::no_buffer_space ||
         error == std::errc::not_enough_memory;
}

class TcpListener final : public StreamListener {
 public:
  TcpListener(tcp::acceptor acceptor, std::string address)
      : acceptor_(std::move(acceptor)), address_(std::move(address)) {}

  Task<Result<std::unique_ptr<ByteStream>>> accept() override {
    auto stream = co_await shielded(accept_one());
    co_return std::move(stream);
  }

  void close() noexcept override {
    closed_ = true;
    std::error_code ignored;
    acceptor_.close(ignored);
  }

  std::string local_address() const override { return address_; }

 private:
  Task<Result<std::unique_ptr<ByteStream>>> accept_one() {
    while (!closed_) {
      std::error_code error;
      tcp::socket socket = co_await acceptor_.async_accept(into(error));
      if (closed_) break;
      if (out_of_resources(error)) {
        co_return Error(Errc::kBusy, Stage::kServe,
                        fmt::format("{} cannot accept: {}; raise the limit of open files or close "
                                    "connections",
                                    address_, error.message()));
      }
      // Any other error is about the one connection, which was lost before it was accepted.
      if (error) continue;
      auto stream = make_tcp_stream(std::move(socket));
      if (stream.ok()) co_return std::move(stream);
    }
    co_return Error(Errc::kClosed, Stage::kServe, fmt::format("{} was closed", address_));
  }

  tcp::acceptor acceptor_;
  const std::string address_;
  bool closed_ = false;
};

}  // namespace

Result<std::unique_ptr<StreamListener>> listen_tcp(asio::any_io_executor executor,
                                                   std::string host_port) {
  const auto target = parse_host_port(host_port);
  if (!target.ok()) return target.error();
  std::error_code error;
  const auto ip = asio::ip::make_address(target->host, error);
  if (error) {
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 fmt::format("'{}' is no numeric address to listen on; write 0.0.0.0 for all of "
                             "them, 127.0.0.1 for this machine only",
                             target->host));
  }
  const tcp::endpoint endpoint(ip, target->port);
  tcp::acceptor acceptor(executor);
  tcp::endpoint bound;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) bound = acceptor.local_endpoint(error);
  if (error) {
    return Error(Errc::kConnectFailed, Stage::kSetup,
                 fmt::format("cannot listen on {}: {}; check that the address is one of this "
                             "machine's and the port is free",
                             host_port, error.message()));
  }
  return std::unique_ptr<StreamListener>(
      std::make_unique<TcpListener>(std::move(acceptor), endpoint_name(bound)));
}

}  // namespace corail
