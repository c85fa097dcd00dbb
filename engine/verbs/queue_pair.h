#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/base/result.h"
#include "engine/verbs/completion_queue.h"
#include "engine/verbs/path_choice.h"
#include "engine/verbs/path_settings.h"
#include "engine/verbs/protection_domain.h"

struct ibv_qp;

namespace corail {

struct QueuePairStep;

/// A piece of local memory under one key.
struct LocalPiece {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  std::uint32_t key = 0;
};

/// One READ as it is posted: contiguous at the peer, in up to kWishedSegments pieces here.
struct ReadWork {
  std::uint64_t request = 0;  // comes back in its completion
  std::uint64_t remote_address = 0;
  std::uint32_t remote_key = 0;
  bool signalled = true;
  std::span<const LocalPiece> pieces;
};

/// One WRITE as it is posted: contiguous at both ends.
struct WriteWork {
  std::uint64_t request = 0;  // comes back in its completion
  std::uint64_t remote_address = 0;
  std::uint32_t remote_key = 0;
  bool signalled = true;
  /// Tells the peer so, by the completion of one of its RECVs, once all that was written before has
  /// landed.
  std::optional<std::uint32_t> immediate{};
  LocalPiece piece;
};

/// A reliable connected queue pair. Owned by a channel; goes before the completion queue, and
/// before the keys that its requests use. One thread at a time: the port's, or one that
/// makes its long calls meanwhile. Each step is a call into the kernel; answer() may wait for the
/// network to tell the peer's address, destroy() for the device.
///
/// Once destroy() has succeeded the device touches none of its requests' memory any more.
class QueuePair {
 public:
  /// In state INIT.
  static Result<std::unique_ptr<QueuePair>> make(std::shared_ptr<const ProtectionDomain> pd,
                                                 CompletionQueue& completions,
                                                 const PathTuning& tuning, std::uint8_t port,
                                                 QueueSizes sizes, PeerMay peer_may);
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  std::uint32_t number() const noexcept { return number_; }

  /// INIT → RTR: answers the peer from here on.
  Result<void> answer(const QueuePairPath& path);
  /// RTR → RTS: may post from here on.
  Result<void> send(const QueuePairPath& path);
  /// → ERR: what is posted will be flushed. No fence by itself: wait for the flushes. Of a peer
  /// that may write they are those of a RECV, and destroy() after them.
  Result<void> fail();

  /// At most so many READs are posted in one call.
  static constexpr std::size_t kChain = 16;

  /// Posts the READs as one chain. Returns how many of them the device took: those have
  /// completions to come, the others have not. Fewer than given is a failure, `why` says which.
  std::size_t post(std::span<const ReadWork> reads, Error& why) noexcept;

  /// Posts one WRITE. Where it fails the device has not taken it, and tells nothing of it.
  Result<void> write(const WriteWork& work) noexcept;

  /// Posts a RECV without memory: its completion brings what a peer says with a WRITE.
  Result<void> receive(std::uint64_t request) noexcept;

  /// Once only; a second call does nothing. Fails where the device refuses: then nothing is known.
  Result<void> destroy();

 private:
  QueuePair(std::shared_ptr<const ProtectionDomain> pd, const PathTuning& tuning, ibv_qp* qp,
            std::uint32_t number)
      : pd_(std::move(pd)), tuning_(tuning), qp_(qp), number_(number) {}

  Result<void> take(QueuePairStep step, std::string_view name);

  const std::shared_ptr<const ProtectionDomain> pd_;
  const PathTuning tuning_;
  ibv_qp* qp_;
  const std::uint32_t number_;
};

}  // namespace corail
