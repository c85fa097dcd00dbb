#include "test/support/fake_holder.h"

#include <stdexcept>
#include <system_error>
#include <utility>

#include "engine/exec/tcp_socket.h"

namespace corail::test {

using asio::ip::tcp;

FakeHolder::FakeHolder(asio::io_context& context)
    : acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

RailEndpoint FakeHolder::endpoint() const {
  RailEndpoint endpoint;
  endpoint.transport = "tcp";
  endpoint.address = "127.0.0.1";
  endpoint.port = acceptor_.local_endpoint().port();
  return endpoint;
}

Task<void> FakeHolder::accept_with(ChannelPrefaceAnswer answer) {
  std::error_code error;
  tcp::socket accepted = co_await acceptor_.async_accept(into(error));
  socket_ = std::make_unique<DataSocket>(std::move(accepted));
  ChannelPrefaceBytes preface{};
  co_await socket_->receive_all(std::span(preface));
  const ChannelPrefaceAnswerBytes told = encode(answer);
  co_await socket_->send_all(std::span(told));
}

Task<void> FakeHolder::echo() {
  std::error_code error;
  tcp::socket accepted = co_await acceptor_.async_accept(into(error));
  socket_ = std::make_unique<DataSocket>(std::move(accepted));
  ChannelPrefaceBytes preface{};
  co_await socket_->receive_all(std::span(preface));
  co_await socket_->send_all(std::span(preface));
}

Task<Request> FakeHolder::next_request() {
  auto next = co_await next_request_if_any();
  if (!next) throw std::runtime_error("the requester hung up, and a request was due");
  co_return *next;
}

Task<std::optional<Request>> FakeHolder::next_request_if_any() {
  RequestBytes bytes{};
  const auto state = co_await socket_->receive_all(std::span(bytes));
  if (state != Transferred::State::kSome) co_return std::nullopt;
  const auto request = decode_request(bytes);
  if (!request.ok()) throw std::runtime_error(request.error().to_string());
  co_return *request;
}

Task<void> FakeHolder::send(std::span<const std::byte> bytes) { co_await socket_->send_all(bytes); }

Task<void> FakeHolder::send_header(OpKey op, std::uint64_t offset, std::uint64_t length) {
  Reply reply;
  reply.op = op;
  reply.offset = offset;
  reply.length = length;
  const ReplyBytes bytes = encode(reply);
  co_await socket_->send_all(std::span(bytes));
}

Task<void> FakeHolder::send_end(OpKey op) {
  Reply reply;
  reply.kind = ReplyKind::kCancelled;
  reply.op = op;
  const ReplyBytes bytes = encode(reply);
  co_await socket_->send_all(std::span(bytes));
}

Task<std::unique_ptr<DataSocket>> dial(asio::io_context& context, RailEndpoint endpoint) {
  tcp::socket socket(context, tcp::v4());
  auto dialled = std::make_unique<DataSocket>(std::move(socket));
  const tcp::endpoint remote(asio::ip::make_address(endpoint.address), endpoint.port);
  const std::error_code error = co_await dialled->connect(remote);
  if (error) dialled.reset();
  co_return dialled;
}

Task<std::unique_ptr<DataSocket>> dial_in(asio::io_context& context, RailEndpoint endpoint) {
  auto socket = co_await dial(context, endpoint);
  if (socket == nullptr) co_return socket;
  ChannelPreface preface;
  preface.token = endpoint.token;
  const ChannelPrefaceBytes bytes = encode(preface);
  co_await socket->send_all(std::span(bytes));
  ChannelPrefaceAnswerBytes answer{};
  const auto state = co_await socket->receive_all(std::span(answer));
  if (state != Transferred::State::kSome) socket.reset();
  co_return socket;
}

}  // namespace corail::test
