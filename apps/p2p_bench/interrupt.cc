#include "apps/p2p_bench/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <utility>

#include "engine/base/check.h"

namespace corail::bench {
Interrupt::Interrupt() : stop_(::eventfd(0, EFD_CLOEXEC)) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC));
  CORAIL_CHECK(signals_ && stop_, "descriptors for signals");
  thread_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  const std::uint64_t one = 1;
  CORAIL_CHECK(::write(stop_.get(), &one, sizeof(one)) == sizeof(one), "an eventfd takes a one");
  thread_.join();
}

int Interrupt::signal() const {
  const std::lock_guard lock(mutex_);
  return signal_;
}

void Interrupt::on_signal(std::function<void(int)> action) {
  const std::lock_guard lock(mutex_);
  action_ = std::move(action);
  if (signal_ != 0 && action_) action_(signal_);
}

void Interrupt::watch() {
  std::array<pollfd, 2> waiting = {pollfd{signals_.get(), POLLIN, 0},
                                   pollfd{stop_.get(), POLLIN, 0}};
  while (true) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    signalfd_siginfo info = {};
    if (::read(signals_.get(), &info, sizeof(info)) != sizeof(info)) continue;
    const auto number = static_cast<int>(info.ssi_signo);
    const std::lock_guard lock(mutex_);
    if (signal_ != 0) ::_exit(128 + number);
    signal_ = number;
    if (action_) action_(signal_);
  }
}

}  // namespace corail::bench
