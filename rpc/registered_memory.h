#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/exec/task.h"
#include "engine/memory/callers_memory.h"
#include "rpc/destination_piece.h"

namespace corail {

/// Memory of a caller's own that the devices of all of a node's ports know, so that reads of
/// objects land in it without a copy (Node::register_memory, ReadObjectOptions::destination).
///
/// The caller keeps the bytes valid until close() has returned, and the node running. Each read
/// that lands in it holds a pin from before it sends anything until it returns, quiescent; no
/// device forgets the memory before the last of them is gone (contract 5). Movable, one thread at a
/// time.
class RegisteredMemory {
 public:
  RegisteredMemory() = default;
  /// For the node: its home executor, and where registering may take its time.
  RegisteredMemory(std::shared_ptr<CallersMemory> memory, asio::any_io_executor home,
                   asio::any_io_executor mapping);
  RegisteredMemory(RegisteredMemory&& other) noexcept = default;
  RegisteredMemory& operator=(RegisteredMemory&& other) noexcept;
  /// Where close() was not awaited the devices forget the memory here, which blocks the thread. A
  /// read that still lands in it ends the process: its bytes would be the next owner's.
  ~RegisteredMemory();

  /// Empty once closed.
  std::span<std::byte> bytes() const noexcept;

  /// A part of it; what does not lie inside is refused by the read.
  DestinationPiece piece(std::uint64_t offset, std::uint64_t length) const;
  DestinationPiece whole() const { return piece(0, bytes().size()); }

  /// Waits for the reads that land in it, ending none, then for the devices to forget it. When this
  /// returns, the bytes are the caller's alone. Not cancellable: Asio's cancellation is felt
  /// afterwards. A read that is stuck (contract 4) keeps it from returning.
  Task<void> close();

 private:
  std::shared_ptr<CallersMemory> memory_;  // null: none, or closed
  asio::any_io_executor home_;
  asio::any_io_executor mapping_;
};

}  // namespace corail
