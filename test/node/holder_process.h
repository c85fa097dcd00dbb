#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "test/node/two_nodes.h"

namespace corail::test {

/// A holder in a process of its own, for faults that a thread cannot have: it stops answering, or
/// is gone from one instruction to the next. It holds the blocks of the shape. The process ends
/// with this object, at the latest with the test program.
class HolderProcess {
 public:
  HolderProcess(const TwoNodes::Shape& shape, std::uint32_t rails);
  ~HolderProcess();
  HolderProcess(const HolderProcess&) = delete;
  HolderProcess& operator=(const HolderProcess&) = delete;

  /// Of its control connection.
  const std::string& address() const noexcept { return address_; }

  /// It hangs: its sockets stay open, nothing answers.
  void freeze();
  /// It is gone, without a word.
  void kill();

 private:
  pid_t process_ = -1;
  std::string address_;
};

}  // namespace corail::test
