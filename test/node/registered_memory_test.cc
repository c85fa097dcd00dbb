// The handle of memory that reads land in, in virtual time.
#include "rpc/registered_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/memory/landing_registry.h"
#include "rpc/options.h"
#include "rpc/stuck_report.h"
#include "test/memory/counting_device.h"
#include "test/support/virtual_world.h"

namespace corail::test {
namespace {

Task<bool> close_handle(RegisteredMemory* memory) {
  co_await memory->close();
  co_return true;
}

/// A handle whose home and mapping executors are two contexts, of one thread each.
struct HandleRig {
  HandleRig() : mapping(world.add_context().get_executor()) {}
  RegisteredMemory make() {
    return RegisteredMemory(registry->add(bytes).value(), world.executor(), mapping);
  }

  VirtualWorld world;
  const asio::any_io_executor mapping;
  const std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();
  const std::shared_ptr<LandingRegistry> registry =
      std::make_shared<LandingRegistry>(MemoryRegistrars{device});
  std::vector<std::byte> bytes = std::vector<std::byte>(100);
};

/// Whether it ends the process, tried in one of its own.
bool aborts(const std::function<void()>& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    ::close(STDERR_FILENO);
    what();
    ::_exit(0);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

BOOST_AUTO_TEST_SUITE(registered_memory)

BOOST_AUTO_TEST_CASE(close_waits_for_the_last_pin_and_then_for_the_devices) {
  HandleRig rig;
  RegisteredMemory memory = rig.make();
  const DestinationPiece piece = memory.piece(10, 20);
  SlabChunk chunk = piece.memory->pin(piece.offset, piece.length).value();
  Pin pin = chunk.pin();
  const auto closed = rig.world.start(close_handle(&memory));
  rig.world.run_until_idle();
  chunk.reset();
  rig.world.run_until_idle();
  BOOST_TEST(!closed->has_value());
  BOOST_TEST(rig.device->known == 1);
  pin.reset();
  rig.world.run_until_idle();
  BOOST_TEST(closed->has_value());
  BOOST_TEST(rig.device->known == 0);
  BOOST_TEST(memory.bytes().empty());
  BOOST_TEST((piece.memory->pin(10, 20).error().code() == Errc::kClosed));
  // Once more, which finds nothing to do.
  BOOST_TEST(rig.world.run(close_handle(&memory)));
}

BOOST_AUTO_TEST_CASE(a_handle_that_goes_takes_its_registration_along) {
  HandleRig rig;
  {
    RegisteredMemory memory = rig.make();
    RegisteredMemory other = std::move(memory);
    BOOST_TEST(other.bytes().size() == 100U);
    BOOST_TEST(rig.device->known == 1);
  }
  BOOST_TEST(rig.device->known == 0);
  RegisteredMemory again = rig.make();
  again = RegisteredMemory();
  BOOST_TEST(rig.device->known == 0);
  BOOST_TEST(again.bytes().empty());
}

BOOST_AUTO_TEST_CASE(a_handle_that_goes_while_a_read_lands_there_ends_the_process) {
  BOOST_TEST(aborts([] {
    HandleRig rig;
    RegisteredMemory memory = rig.make();
    const SlabChunk chunk = memory.whole().memory->pin(0, 1).value();
    memory = RegisteredMemory();
  }));
}

BOOST_AUTO_TEST_CASE(stuck_memory_is_told_and_ends_the_process_only_where_that_was_chosen) {
  StuckMemory stuck;
  stuck.read = ReadId(3);
  stuck.rail = "mock1";
  NodeOptions options;
  int told = 0;
  options.on_stuck = [&told](const StuckMemory& what) { told += what.rail == "mock1"; };
  report_stuck(options, stuck);
  BOOST_TEST(told == 1);
  options.abort_when_stuck = true;
  BOOST_TEST(aborts([&] { report_stuck(options, stuck); }));
  options.on_stuck = nullptr;
  options.abort_when_stuck = false;
  BOOST_TEST(!aborts([&] { report_stuck(options, stuck); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
