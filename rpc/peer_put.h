#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "rpc/connected_peer.h"
#include "rpc/put_stream.h"
#include "rpc/put_writer.h"

namespace corail {

/// The PutStream behind the public face: shares the peer, and what the peer knows of the put.
class PeerPut final : public PutStream {
 public:
  PeerPut(std::shared_ptr<ConnectedPeer> peer, std::shared_ptr<PutWriter> put);
  ~PeerPut() override;

  ObjectGeneration generation() const noexcept override { return generation_; }
  Task<Result<void>> write(std::span<const std::byte> bytes) override;
  Task<Result<ObjectDescriptor>> commit() override;
  Task<void> abort() override;

 private:
  const std::shared_ptr<ConnectedPeer> peer_;
  std::shared_ptr<PutWriter> put_;
  const ObjectGeneration generation_;
};

}  // namespace corail
