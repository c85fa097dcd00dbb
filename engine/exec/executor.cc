#include "engine/exec/executor.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"

namespace corail {
namespace {

/// Polls per round while spinning. Asking an idle io_context costs several times what an idle poll
/// costs, so it is asked that much less often.
constexpr int kPollsPerRound = 32;
/// What Linux keeps of a thread's name.
constexpr std::size_t kMaxThreadName = 15;

void pause_cpu() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void use_cpus(const std::string& name, const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
  if (error != 0) {
    log(LogLevel::kWarning, "executor {} runs on any CPU: the ones asked for were refused ({})",
        name, std::generic_category().message(error));
  }
}

/// struct sched_attr of the kernel, which glibc does not have before 2.41.
struct SchedulingWish {
  std::uint32_t size = sizeof(SchedulingWish);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

void ask_for_slice(Duration slice) noexcept {
  if (slice <= Duration::zero()) return;
  SchedulingWish wish;
  const long known = ::syscall(SYS_sched_getattr, 0, &wish, sizeof wish, 0U);
  // Somebody who made this a real-time thread has his reasons.
  if (known != 0 || wish.policy != SCHED_OTHER) return;
  wish.size = sizeof wish;
  wish.runtime_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(slice).count());
  // Only a wish: where it is refused, or forbidden, the thread works as well.
  ::syscall(SYS_sched_setattr, 0, &wish, 0U);
}

}  // namespace

Executor::Executor(std::string name, ExecutorOptions options)
    : name_(std::move(name)),
      options_(std::move(options)),
      owned_(std::make_unique<asio::io_context>(1)),
      context_(*owned_),
      work_(context_.get_executor()),
      round_(std::make_shared<Round>()) {
  round_->owner = this;
}

Executor::Executor(std::string name, asio::io_context& callers)
    : name_(std::move(name)), context_(callers), round_(std::make_shared<Round>()) {
  round_->owner = this;
}

Executor::~Executor() {
  CORAIL_CHECK(!thread_.joinable(), "an Executor was destroyed before stop()");
  CORAIL_CHECK(pollers_.empty(), "an Executor was destroyed before its pollers were removed");
  round_->owner = nullptr;
}

void Executor::start() {
  if (!owned_) return;
  CORAIL_CHECK(!thread_.joinable() && work_, "an Executor starts once");
  thread_ = std::thread([this] { run_thread(); });
}

void Executor::stop() {
  if (!owned_) {
    check_owner();
    round_->owner = nullptr;
    return;
  }
  CORAIL_CHECK(!on_thread(), "an Executor cannot join its own thread");
  context_.stop();
  if (thread_.joinable()) thread_.join();
  work_.reset();
}

bool Executor::on_thread() const noexcept {
  return context_.get_executor().running_in_this_thread();
}

void Executor::add_poller(Poller& poller) {
  check_owner();
  pollers_.push_back(&poller);
  wake();
}

void Executor::remove_poller(Poller& poller) {
  check_owner();
  const auto found = std::find(pollers_.begin(), pollers_.end(), &poller);
  if (found == pollers_.end()) return;
  if (passing_) {
    *found = nullptr;  // erasing it would shift those that the pass has yet to visit
  } else {
    pollers_.erase(found);
  }
}

void Executor::wake() {
  if (std::exchange(round_->queued, true)) return;
  asio::post(context_, [round = round_] {
    round->queued = false;
    if (round->owner != nullptr) round->owner->run_round();
  });
}

void Executor::run_thread() noexcept {
  ::pthread_setname_np(::pthread_self(), name_.substr(0, kMaxThreadName).c_str());
  use_cpus(name_, options_.cpus);
  ask_for_slice(options_.slice);
  context_.run();
}

void Executor::run_round() {
  for_each_poller([](Poller& poller) { poller.disarm(); });
  const bool busy = poll_until_busy();
  if (pollers_.empty()) return;
  if (sleep_allowed(busy)) {
    bool armed = true;
    for_each_poller([&armed](Poller& poller) { armed = poller.arm() && armed; });
    // Something may have become ready before the last one was armed.
    std::size_t completed = 0;
    for_each_poller([&completed](Poller& poller) { completed += poller.poll(); });
    if (armed && completed == 0) return;
  }
  wake();
}

bool Executor::poll_until_busy() {
  const int polls = options_.spin > Duration::zero() ? kPollsPerRound : 1;
  for (int i = 0; i < polls; ++i) {
    std::size_t completed = 0;
    for_each_poller([&completed](Poller& poller) { completed += poller.poll(); });
    if (completed > 0) return true;
    pause_cpu();
  }
  return false;
}

bool Executor::sleep_allowed(bool busy) {
  if (busy) {
    idle_since_.reset();
    return false;
  }
  if (options_.spin > Duration::zero()) {
    const TimePoint now = spin_clock_.now();
    if (!idle_since_) idle_since_ = now;
    if (now - *idle_since_ < options_.spin) return false;
    idle_since_.reset();
  }
  return true;
}

template <typename F>
void Executor::for_each_poller(F f) {
  passing_ = true;
  // By index: a poller may add or remove some.
  for (std::size_t i = 0; i < pollers_.size(); ++i) {
    if (pollers_[i] != nullptr) f(*pollers_[i]);
  }
  passing_ = false;
  std::erase(pollers_, nullptr);
}

void Executor::check_owner() const noexcept {
  CORAIL_CHECK(on_thread() || (!thread_.joinable()),
               "an Executor's pollers are changed on its thread only");
}

}  // namespace corail
