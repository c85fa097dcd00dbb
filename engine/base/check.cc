#include "engine/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace corail {

void check_failed(const char* expression, const char* why, const char* file, int line) noexcept {
  std::fprintf(stderr, "corail: broken invariant at %s:%d: %s (%s)\n", file, line, why, expression);
  std::abort();
}

}  // namespace corail
