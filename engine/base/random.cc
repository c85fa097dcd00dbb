#include "engine/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace corail {

std::uint64_t SystemRandom::next() {
  std::uint64_t value = 0;
  // Reads of up to 256 bytes are not interrupted once the pool is initialised; EINTR can only come
  // before that.
  ssize_t got = 0;
  do {
    got = ::getrandom(&value, sizeof value, 0);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof value) throw std::system_error(errno, std::generic_category(), "getrandom");
  return value;
}

}  // namespace corail
