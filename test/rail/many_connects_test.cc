#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "engine/exec/when_all.h"
#include "engine/rail/connect_limit.h"
#include "engine/rail/rail.h"
#include "engine/rail/retire.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"

namespace corail::test {
namespace {

constexpr std::size_t kRails = 240;

RailWindow window() {
  RailWindow window;
  window.bytes = kMiB;
  window.max_slice_bytes = kMiB;
  return window;
}

/// Rails over real sockets, one session each, as with as many peers.
struct ManyRails {
  explicit ManyRails(std::size_t count) : rig(kMiB) {
    options.connects = std::make_shared<ConnectLimit>();
    for (std::size_t i = 0; i < count; ++i) {
      ChannelToken token = TcpRig::token();
      token[0] = static_cast<std::uint8_t>(i);
      token[1] = 0xFF;
      const SessionId session(static_cast<std::uint32_t>(100 + i));
      endpoints.push_back(rig.door.admit_session(session, token, rig.gate));
      options.connects_peer = options.connects->add_peer();
      Rail::MakeTransport make = [this] { return rig.make_transport(2); };
      rails.push_back(std::make_unique<Rail>("tcp", rig.context.get_executor(), rig.clock,
                                             std::move(make), window(), options));
    }
  }

  TcpRig rig;
  RailOptions options;
  std::vector<RailEndpoint> endpoints;
  std::vector<std::unique_ptr<Rail>> rails;
};

Task<Result<void>> connect(Rail* rail, RailEndpoint remote, TimePoint deadline, ManyRails* all,
                           std::size_t* most) {
  auto connected = co_await rail->connect(std::move(remote), deadline);
  *most = std::max(*most, all->options.connects->connecting());
  co_return connected;
}

Task<void> connect_all(ManyRails& all) {
  const asio::any_io_executor executor = all.rig.context.get_executor();
  std::vector<Branch<void>> connects;
  std::size_t most = 0;
  const TimePoint begin = all.rig.clock.now();
  for (std::size_t i = 0; i < all.rails.size(); ++i) {
    connects.emplace_back(
        executor, connect(all.rails[i].get(), all.endpoints[i], all.rig.soon(), &all, &most));
  }
  const auto results = co_await when_all(std::move(connects), std::function<void(const Error&)>());
  const Duration took = all.rig.clock.now() - begin;
  BOOST_TEST_MESSAGE(kRails << " rails connected in "
                            << std::chrono::duration_cast<std::chrono::milliseconds>(took).count()
                            << " ms, at most " << most << " at once");
  for (const auto& result : results) {
    BOOST_TEST(result.ok(), (result.ok() ? "" : result.error().to_string()));
  }
  BOOST_TEST(most > 1U);
  BOOST_TEST(most <= ConnectLimits().most);
  BOOST_TEST(all.options.connects->connecting() == 0U);
  for (const auto& rail : all.rails) {
    BOOST_TEST((rail->status().state == RailState::kReady));
    BOOST_TEST(rail->usable());
  }
  // Generous: the figure that counts is printed.
  BOOST_TEST((took < std::chrono::seconds(30)));
  std::vector<Branch<void>> closes;
  for (auto& rail : all.rails) closes.emplace_back(executor, retire(std::move(rail)));
  const auto closed = co_await when_all(std::move(closes), std::function<void(const Error&)>());
  for (const auto& result : closed) BOOST_TEST(result.ok());
  co_await all.rig.door.close();
}

/// Waits until the rail is as the test wants it.
Task<bool> becomes(ManyRails& all, RailState state) {
  const TimePoint until = all.rig.soon();
  while (all.rails[0]->status().state != state && all.rig.clock.now() < until) {
    co_await asio::post(all.rig.context, asio::use_awaitable);
  }
  co_return all.rails[0]->status().state == state;
}

/// The holder drops the session, which also is how a process ends, while nothing is posted; the
/// rail comes back once the holder lets it in.
Task<void> lose_and_return(ManyRails& all) {
  const auto connected = co_await all.rails[0]->connect(all.endpoints[0], all.rig.soon());
  BOOST_TEST(connected.ok());
  co_await all.rig.door.drop_session(SessionId(100));
  const bool noticed = co_await becomes(all, RailState::kClosed);
  BOOST_TEST(noticed);
  BOOST_TEST(all.rails[0]->health().faults() == 1U);
  all.rig.door.admit_session(SessionId(101), all.endpoints[0].token, all.rig.gate);
  const bool returned = co_await becomes(all, RailState::kReady);
  BOOST_TEST(returned);
  BOOST_TEST(all.rails[0]->usable());
  // Being refused meanwhile was no fault of the path.
  BOOST_TEST(all.rails[0]->health().faults() == 1U);
  const auto retired = co_await retire(std::move(all.rails[0]));
  BOOST_TEST(retired.ok());
  co_await all.rig.door.close();
}

BOOST_AUTO_TEST_SUITE(many_connects)

BOOST_AUTO_TEST_CASE(so_many_rails_at_once_and_none_is_dead) {
  ManyRails all(kRails);
  run_task(all.rig.context, connect_all(all));
}

BOOST_AUTO_TEST_CASE(a_rail_without_traffic_notices_its_loss_and_comes_back) {
  ManyRails all(1);
  run_task(all.rig.context, lose_and_return(all));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
