#include "engine/memory/slab.h"

#include <fmt/core.h>
#include <linux/memfd.h>
#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/units.h"

namespace corail {
namespace {

constexpr std::uint64_t kHugePageBytes = 2 * kMiB;

std::string reason(int error) { return std::strerror(error); }

/// What one attempt to map brought; `data` is null when the kernel refused with `error`.
struct Mapping {
  std::byte* data = nullptr;
  int memfd = -1;
  int error = 0;
};

Mapping map_memfd(std::uint64_t bytes, bool huge) {
  Mapping mapping;
  const unsigned flags = MFD_CLOEXEC | (huge ? MFD_HUGETLB | MFD_HUGE_2MB : 0U);
  mapping.memfd = ::memfd_create("corail-slab", flags);
  if (mapping.memfd < 0) {
    mapping.error = errno;
    return mapping;
  }
  void* data = MAP_FAILED;
  if (::ftruncate(mapping.memfd, static_cast<off_t>(bytes)) == 0) {
    data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mapping.memfd, 0);
  }
  if (data == MAP_FAILED) {
    mapping.error = errno;
    ::close(std::exchange(mapping.memfd, -1));
  } else {
    mapping.data = static_cast<std::byte*>(data);
  }
  return mapping;
}

Mapping map_anonymous(std::uint64_t bytes, bool huge) {
  Mapping mapping;
  // Huge pages are reserved by the mapping: unreserved ones would end the process on first touch.
  const int pages = huge ? MAP_HUGETLB | static_cast<int>(MFD_HUGE_2MB) : MAP_NORESERVE;
  void* data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | pages, -1, 0);
  if (data == MAP_FAILED) {
    mapping.error = errno;
  } else {
    mapping.data = static_cast<std::byte*>(data);
  }
  return mapping;
}

Mapping map(const SlabOptions& options, std::uint64_t bytes, bool huge) {
  return options.backing == SlabBacking::kMemfd ? map_memfd(bytes, huge)
                                                : map_anonymous(bytes, huge);
}

/// Empty when the pages of the range will lie on the node, else why they may not.
std::string bind_to_node(std::byte* data, std::uint64_t bytes, std::int32_t node) {
  if (node == kAnyNumaNode) return {};
  if (::numa_available() < 0) return "this kernel has no NUMA support";
  if (node < 0 || node > ::numa_max_node() ||
      !::numa_bitmask_isbitset(numa_all_nodes_ptr, static_cast<unsigned>(node))) {
    return "this machine has no such node";
  }
  bitmask* nodes = ::numa_allocate_nodemask();
  ::numa_bitmask_setbit(nodes, static_cast<unsigned>(node));
  const long status = ::mbind(data, bytes, MPOL_BIND, nodes->maskp, nodes->size + 1, 0);
  const int error = errno;
  ::numa_free_nodemask(nodes);
  return status == 0 ? std::string() : "mbind: " + reason(error);
}

/// Huge pages, bound to the node and there: the reservation counts pages of any node and knows no
/// limits of containers, so they are touched here, where their absence is an answer and no signal.
Mapping map_huge(const SlabOptions& options, std::uint64_t bytes, std::string& unbound) {
  Mapping mapping = map(options, bytes, true);
  if (mapping.data == nullptr) return mapping;
  unbound = bind_to_node(mapping.data, bytes, options.numa_node);
  if (::madvise(mapping.data, bytes, MADV_POPULATE_WRITE) == 0) return mapping;
  mapping.error = errno;
  ::munmap(std::exchange(mapping.data, nullptr), bytes);
  if (mapping.memfd >= 0) ::close(std::exchange(mapping.memfd, -1));
  return mapping;
}

/// For as long as the process lives, reachable on purpose, so that a leak checker does not take
/// them for lost.
void keep_registered(std::vector<MemoryRegistrations> pieces) {
  struct Kept {
    std::mutex mutex;
    std::vector<std::vector<MemoryRegistrations>> all;
  };
  // Never destroyed: no registration in it may be.
  static Kept* const kept = new Kept;
  const std::lock_guard lock(kept->mutex);
  kept->all.push_back(std::move(pieces));
}

}  // namespace

std::vector<std::int32_t> machine_numa_nodes() {
  std::vector<std::int32_t> nodes;
  if (::numa_available() < 0) return nodes;
  for (int node = 0; node <= ::numa_max_node(); ++node) {
    if (::numa_bitmask_isbitset(numa_all_nodes_ptr, static_cast<unsigned>(node))) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

Result<std::unique_ptr<Slab>> Slab::create(const SlabOptions& options) {
  if (options.bytes == 0 ||
      options.bytes > std::uint64_t{std::numeric_limits<std::int64_t>::max()} / 2) {
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 fmt::format("a slab of {} bytes cannot be made", options.bytes));
  }
  const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t bytes = align_up(options.bytes, options.huge_pages ? kHugePageBytes : page);
  std::unique_ptr<Slab> slab(new Slab());
  slab->numa_node_ = options.numa_node;

  std::string pages = "plain pages";
  std::string unbound;
  Mapping mapping;
  if (options.huge_pages) {
    mapping = map_huge(options, bytes, unbound);
    slab->huge_ = mapping.data != nullptr;
    if (slab->huge_) pages = "huge pages";
  }
  if (mapping.data == nullptr) {
    const int huge_error = mapping.error;
    mapping = map(options, bytes, false);
    if (mapping.data == nullptr) {
      return Error(Errc::kOutOfMemory, Stage::kSetup,
                   fmt::format("the kernel refused to map a slab of {} MiB: {}; check ulimit -v "
                               "and the limits of the container",
                               bytes / kMiB, reason(mapping.error)));
    }
    unbound = bind_to_node(mapping.data, bytes, options.numa_node);
    if (options.huge_pages) {
      const bool advised = ::madvise(mapping.data, bytes, MADV_HUGEPAGE) == 0;
      pages = fmt::format("{} pages (huge pages were asked for, there are not enough: {})",
                          advised ? "transparent huge" : "plain", reason(huge_error));
    }
  }
  slab->data_ = mapping.data;
  slab->bytes_ = bytes;
  slab->memfd_ = mapping.memfd;
  const bool any_node = options.numa_node == kAnyNumaNode;
  slab->numa_bound_ = unbound.empty() && !any_node;
  slab->description_ = fmt::format(
      "slab of {} MiB, {}, {}, {}{}", bytes / kMiB,
      options.backing == SlabBacking::kMemfd ? "memfd" : "anonymous", pages,
      any_node ? std::string("any NUMA node") : fmt::format("NUMA node {}", options.numa_node),
      unbound.empty() ? std::string() : fmt::format(" as a label only ({})", unbound));
  return slab;
}

Result<void> Slab::register_with(const MemoryRegistrars& registrars, MemoryUse use,
                                 std::uint64_t piece_bytes) {
  CORAIL_CHECK(piece_bytes > 0, "a piece of a slab has bytes");
  std::vector<MemoryRegistrations> pieces;
  for (std::uint64_t at = 0; at < bytes_;) {
    const std::uint64_t length = std::min(piece_bytes, bytes_ - at);
    auto registered = register_everywhere(registrars, std::span(data_ + at, length), use);
    if (!registered) return std::move(registered).error();
    pieces.push_back(std::move(*registered));
    at += length;
  }
  registrations_ = std::move(pieces);
  return ok_result();
}

Slab::~Slab() {
  if (keep_mapped_) keep_registered(std::move(registrations_));
  registrations_.clear();
  if (data_ != nullptr && !keep_mapped_) ::munmap(data_, bytes_);
  if (memfd_ >= 0) ::close(memfd_);
}

}  // namespace corail
