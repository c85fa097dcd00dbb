#pragma once

#include <cstdint>
#include <memory>

#include "rpc/block_lease.h"
#include "rpc/connected_peer.h"
#include "rpc/leased_blocks.h"

namespace corail {

/// The BlockLease behind the public face: shares the peer, and what the peer knows of the lease.
class PeerLease final : public BlockLease {
 public:
  PeerLease(std::shared_ptr<ConnectedPeer> peer, std::shared_ptr<LeasedBlocks> lease);
  ~PeerLease() override;

  std::uint32_t block_count() const noexcept override { return block_count_; }
  const ReadReport& query_report() const noexcept override { return lease_->query_report(); }
  Task<Result<BlockView>> read(LaneRange lanes, FetchOptions options) override;
  Task<void> close() override;

 private:
  const std::shared_ptr<ConnectedPeer> peer_;
  const std::shared_ptr<LeasedBlocks> lease_;
  const std::uint32_t block_count_;
};

}  // namespace corail
