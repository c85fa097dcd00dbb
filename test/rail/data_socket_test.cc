#include "engine/rail/tcp/data_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <utility>

namespace corail::test {
namespace {

int option_of(int socket, int level, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  BOOST_TEST(::getsockopt(socket, level, option, &value, &size) == 0);
  return value;
}

BOOST_AUTO_TEST_SUITE(data_socket)

/// A black hole cannot be had on loopback; that the kernel looks for one can be seen.
BOOST_AUTO_TEST_CASE(a_dead_path_is_noticed_within_seconds) {
  asio::io_context context;
  asio::ip::tcp::socket plain(context, asio::ip::tcp::v4());
  const int handle = plain.native_handle();
  const DataSocket socket(std::move(plain));
  BOOST_TEST(option_of(handle, SOL_SOCKET, SO_KEEPALIVE) == 1);
  BOOST_TEST(option_of(handle, IPPROTO_TCP, TCP_KEEPIDLE) == 5);
  BOOST_TEST(option_of(handle, IPPROTO_TCP, TCP_KEEPINTVL) == 5);
  BOOST_TEST(option_of(handle, IPPROTO_TCP, TCP_KEEPCNT) == 3);
  BOOST_TEST(option_of(handle, IPPROTO_TCP, TCP_USER_TIMEOUT) == 20'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
