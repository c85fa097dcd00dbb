#include "test/verbs/push_rig.h"

#include <asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>
#include <exception>
#include <span>

namespace corail::test {
namespace {

Task<void> grant_memory(VerbsTransport* rail, SliceSink* sink,
                        std::vector<std::span<std::byte>> memory, TimePoint deadline,
                        Result<void>* granted) {
  *granted = co_await rail->grant(*sink, std::move(memory), deadline);
}

Task<void> revoke_memory(VerbsTransport* rail, SliceSink* sink) { co_await rail->revoke(*sink); }

Task<void> fence_sink(VerbsTransport* rail, SliceSink* sink, TimePoint deadline, Errc* code) {
  const auto fenced = co_await rail->fence(*sink, deadline);
  *code = fenced.ok() ? Errc::kUnset : fenced.error().code();
}

Task<void> push_bytes(VerbsRailDoor* door, SessionId session, PushOrder order, PinnedBytes bytes,
                      std::function<bool()> cancelled, std::shared_ptr<PushRig::Push> push) {
  push->outcome = co_await door->push(session, order, std::move(bytes), std::move(cancelled));
  push->ended = true;
}

}  // namespace

PushRig::PushRig(VerbsOptions options, const asio::any_io_executor* control)
    : rig(control != nullptr ? std::make_unique<VerbsRig>(*control)
                             : std::make_unique<VerbsRig>(std::move(options))) {
  rig->endpoint.courier = courier;
}

std::unique_ptr<VerbsTransport> PushRig::granted(SliceSink& sink) {
  auto rail = rig->connected();
  const auto granted = grant(*rail, sink);
  BOOST_TEST_REQUIRE(granted.ok(), (granted.ok() ? "" : granted.error().to_string()));
  return rail;
}

Result<void> PushRig::grant(VerbsTransport& rail, SliceSink& sink, TimePoint deadline) {
  std::vector<std::span<std::byte>> memory;
  memory.emplace_back(rig->memory);
  Result<void> granted;
  rig->run(grant_memory(&rail, &sink, std::move(memory), deadline, &granted));
  return granted;
}

void PushRig::revoke(VerbsTransport& rail, SliceSink& sink) {
  rig->run(revoke_memory(&rail, &sink));
}

Errc PushRig::fence(VerbsTransport& rail, SliceSink& sink) {
  Errc code = Errc::kBusy;
  rig->run(fence_sink(&rail, &sink, soon(), &code));
  return code;
}

std::vector<Slice> PushRig::slices(std::uint64_t from, std::uint64_t to,
                                   std::uint64_t length) const {
  auto all = rig->slices(from, to, length);
  for (Slice& slice : all) {
    slice.pushed = true;
    slice.remote_key = 0;
  }
  return all;
}

std::shared_ptr<PushRig::Push> PushRig::push(const PushOrder& order,
                                             std::function<bool()> cancelled, SessionId session) {
  auto push = std::make_shared<Push>();
  const auto pinned = std::make_shared<int>(0);
  push->pinned = pinned;
  const std::span<const std::byte> bytes =
      std::span<const std::byte>(rig->held).subspan(order.source_offset, order.length);
  asio::co_spawn(rig->context,
                 push_bytes(rig->door.get(), session, order, PinnedBytes(bytes, Pin(pinned)),
                            std::move(cancelled), push),
                 [](const std::exception_ptr& thrown) {
                   if (thrown) std::rethrow_exception(thrown);
                 });
  return push;
}

Errc PushRig::push_now(const PushOrder& order, SessionId session) {
  const auto pushed = push(order, {}, session);
  rig->run_until([&] {
    rig->machine.run_all();
    return pushed->ended;
  });
  return pushed->outcome.ok() ? Errc::kUnset : pushed->outcome.error().code();
}

void PushRig::settle() {
  for (int i = 0; i < 50; ++i) {
    rig->context.restart();
    rig->context.poll();
  }
}

}  // namespace corail::test
