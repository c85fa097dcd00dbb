#include "engine/rail/retire.h"

#include <mutex>
#include <utility>
#include <vector>

#include "engine/base/log.h"

namespace corail {
namespace {

/// Reachable on purpose, so that a leak checker does not take them for lost.
struct Kept {
  std::mutex mutex;
  std::vector<std::unique_ptr<Rail>> rails;
};

Kept& kept() noexcept {
  // Never destroyed: no rail in it could be.
  static Kept* const all = new Kept;
  return *all;
}

void keep(std::unique_ptr<Rail> rail) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  all.rails.push_back(std::move(rail));
}

}  // namespace

Task<Result<void>> retire(std::unique_ptr<Rail> rail) {
  auto closed = co_await rail->close();
  if (!closed) {
    log(LogLevel::kError, "{}; its memory stays with this process", closed.error().to_string());
    keep(std::move(rail));
    co_return closed;
  }
  rail.reset();
  co_return ok_result();
}

std::size_t stuck_rails() noexcept {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  return all.rails.size();
}

}  // namespace corail
