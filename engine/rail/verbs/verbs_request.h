#pragma once

#include <cstdint>

#include "engine/exec/op_table.h"
#include "engine/rail/slice.h"
#include "engine/verbs/completion.h"

namespace corail {

/// Whoever has requests under way on a port. Called on the port's thread, for one batch of
/// completions at a time: first each completion, then once deliver().
class CompletionOwner {
 public:
  virtual ~CompletionOwner() = default;

  /// Must call nobody above: others of the batch wait.
  virtual void on_completion(OpKey key, const Completion& completion) noexcept = 0;
  /// May call sinks, which may do anything.
  virtual void deliver() noexcept = 0;
  /// The device is broken: no completions come any more.
  virtual void on_broken(const Error& why) noexcept = 0;
};

class ServedPush;

enum class VerbsRequestKind : std::uint8_t {
  kRead,     // a slice of ours
  kReceive,  // for what a peer says with its WRITEs
  kWrite     // a part of an order of a peer's
};

/// What is posted, or waits to be, on a queue pair of a verbs port.
struct VerbsRequest {
  VerbsRequestKind kind = VerbsRequestKind::kRead;
  Slice slice;
  ReadContext context;
  SliceSink* sink = nullptr;
  CompletionOwner* owner = nullptr;
  std::uint32_t channel = 0;  // while it is posted
  std::uint32_t reposts = 0;
  bool fenced = false;         // its sink gives it up: flushed, it is not posted again
  ServedPush* push = nullptr;  // whose part it is; a WRITE's only
};

}  // namespace corail
