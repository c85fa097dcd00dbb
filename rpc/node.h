#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/region_registry.h"
#include "engine/memory/slab_pool.h"
#include "engine/store/block_store.h"
#include "engine/store/object_store.h"
#include "rpc/options.h"
#include "rpc/peer.h"
#include "rpc/registered_memory.h"

namespace corail {

/// One process's part in a cluster: its ports, its memory, its blocks and objects, and its
/// connections to others. The public face of the library; every node can hold and request.
///
/// Owned by the embedder. The home executor runs on the caller's io_context, or on a thread of the
/// node's own; rail executors are the node's. Coroutines of this class run on executor(). close()
/// must have been awaited before destruction, and stop() after it when the node has its own
/// threads.
class Node {
 public:
  /// Checks options and creates executors; nothing is bound or allocated yet. With `callers` the
  /// home executor is that io_context, which must run until close() has returned. `clock` and
  /// `random` outlive the node.
  static Result<std::unique_ptr<Node>> create(NodeOptions options, Clock& clock, Random& random,
                                              asio::io_context* callers);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  asio::any_io_executor executor() const;

  /// Opens the ports and, where a listen address was given, starts to accept peers.
  Task<Result<void>> start();

  /// The control address that is really bound, "ip:port"; empty for a requester.
  std::string listen_address() const;

  /// Connects to another node's control address and opens a rail to it from every local port. The
  /// peer is closed, and forgotten here, when its connection ends.
  ///
  /// Two nodes that connect to each other, at once or after each other, share one control
  /// connection; each has a peer and rails of its own over it. Closing one peer leaves the other
  /// alone; the connection ends with the last of them. A node that connects to the same node once
  /// more gets a further peer with a session of its own, unless the other node has one that this
  /// side does not use. A node may connect to itself. Where this one does not listen, the other
  /// calls back only for what is put there.
  ///
  /// Fails with kInvalidArgument (the address), kConnectFailed, kConnectionLost, kDeadline,
  /// kIncompatible (something else listens there), what the peer says, or kClosed when this node is
  /// closing.
  Task<Result<std::shared_ptr<Peer>>> connect(std::string address);

  /// The blocks this node holds. Used on executor() only; exists from start() to close() where
  /// NodeOptions::store gives it memory.
  BlockStore& blocks();

  /// The objects this node holds. Used on executor() only; exists from start() to close() where
  /// NodeOptions::objects gives it memory or directories.
  ObjectStore& objects();

  /// The memory that reads land in. Any thread.
  SlabPool& memory();

  /// Lets reads of objects land in memory of the caller's own (ReadObjectOptions::destination): the
  /// devices of all ports get to know it, which takes as long as the kernel needs to pin its pages;
  /// the node goes on meanwhile. The bytes stay valid until the handle was closed, which comes
  /// before stop(). Fails with kInvalidArgument (no bytes, or some that are registered already),
  /// kOutOfMemory or kTooLarge, as a device says. Not cancellable.
  Task<Result<RegisteredMemory>> register_memory(std::span<std::byte> bytes);

  /// What requesters are told of this node's memory; a change is told to those that are connected.
  /// The store publishes its own. Any thread.
  RegionRegistry& regions();

  /// Closes peers, sessions, doors and ports, in that order, and waits for all of it, connects
  /// under way included: those fail with kClosed, at the latest after the call deadline.
  Task<void> close();

  /// Stops and joins the node's own threads. Called from outside of them, after close().
  /// Idempotent.
  void stop();

 private:
  class Impl;
  explicit Node(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace corail
