#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

namespace corail::sim {

/// Memory of a caller's own, in pages of its own: once it is shut, whoever still touches it ends
/// the seed's process, which is a violation.
class GuardedBytes {
 public:
  /// Throws std::system_error where the system has none left.
  explicit GuardedBytes(std::size_t bytes) : bytes_(bytes), mapped_(bytes == 0 ? 1 : bytes) {
    at_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  }
  ~GuardedBytes() { ::munmap(at_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::span<std::byte> bytes() const noexcept { return {static_cast<std::byte*>(at_), bytes_}; }

  void shut() const {
    if (::mprotect(at_, mapped_, PROT_NONE) == 0) return;
    throw std::system_error(errno, std::generic_category(), "mprotect");
  }

 private:
  const std::size_t bytes_;
  const std::size_t mapped_;
  void* at_ = nullptr;
};

}  // namespace corail::sim
