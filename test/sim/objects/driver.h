#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/exec/task_scope.h"
#include "rpc/put_stream.h"
#include "test/sim/objects/guarded_bytes.h"
#include "test/sim/objects/node.h"
#include "test/sim/seed_result.h"
#include "test/support/canary.h"

namespace corail::sim {

/// The users of the user node, and whoever pulls cables and kills the holder. Everything they do is
/// drawn from one source of randomness. Home executor only.
class ObjectDriver {
 public:
  explicit ObjectDriver(const ObjectSetup& setup);
  ObjectDriver(const ObjectDriver&) = delete;
  ObjectDriver& operator=(const ObjectDriver&) = delete;

  /// Starts the two nodes, and their users.
  Task<bool> start();
  bool done() const noexcept { return scope_.running() == 0; }
  /// Closes everything, and looks at what is left. Then the holder starts once more, has what was
  /// committed and nothing else, and is closed.
  Task<bool> shut_down();

  /// After each step of the world: tells the model what the store has.
  void observe();
  /// What users hold of their own must be what they left there.
  void check_memory();

  const SeedCounts& counts() const noexcept { return counts_; }

 private:
  struct HeldView {
    const ObjectReadRecord* read = nullptr;
    const ObjectView* view = nullptr;
  };
  /// Memory for a copy that its read must not have written.
  struct LeftAlone {
    std::vector<std::byte> memory;
    std::unique_ptr<test::Canary> canary;
    std::uint64_t read = 0;
  };

  Task<void> pause();
  Task<void> sleep(Duration time);
  TimePoint draw_deadline();
  CancelToken cancel_some_time(std::unique_ptr<Timer>& canceller, std::optional<TimePoint>& when,
                               std::string what);
  /// What a call about objects may say although nothing goes wrong: somebody else was faster.
  void count_failure(const Error& error, ObjectLink& link);

  // driver_links.cc
  Task<ObjectLink*> any_link();
  ObjectLink& new_link();
  void retire(ObjectLink& link);
  Task<void> close_link(ObjectLink* link);
  Task<void> unstick_later(std::size_t link, Duration after);

  // driver_puts.cc
  Task<void> writer();
  Task<void> put_once(ObjectLink* link);
  Task<void> put_bytes(PutRecord* put, const GuardedBytes* memory, ObjectLink* link,
                       PutOptions options);
  Task<void> put_stream(PutRecord* put, const GuardedBytes* memory, ObjectLink* link,
                        PutOptions options);
  Task<Result<void>> write_pieces(PutStream* stream, std::span<const std::byte> bytes);
  Task<void> abort(PutRecord* put, std::unique_ptr<PutStream> stream);
  void ended(PutRecord& put, const Result<ObjectDescriptor>& outcome, ObjectLink& link);
  PutOrder draw_put();
  Task<void> delete_once(ObjectLink* link);

  // driver_reads.cc
  Task<void> reader();
  Task<bool> read_once(ObjectLink* link);
  Task<std::optional<ObjectDescriptor>> look_up(std::size_t key, ObjectLink* link);
  Task<void> list_once(ObjectLink* link);
  ReadObjectOptions draw_read(ObjectReadOrder& order, const ObjectLink& link);
  Task<void> hold(ObjectReadRecord* read, ObjectView view);
  void check_copy(const LeftAlone& copy, const ObjectReadRecord& read, const ObjectView& view);
  void keep_alone(std::unique_ptr<LeftAlone> copy, const ObjectReadRecord& read);

  // driver_life.cc
  Task<void> mischief();
  void break_link(std::uint64_t kind);
  void break_disk();
  Task<void> die_and_return();
  Task<void> revive();
  void recovered(bool checked);
  Task<bool> last_start();
  Task<void> janitor();

  const ObjectSetup setup_;
  Random& random_;
  /// Every life that it has had; the last one is the present one.
  std::deque<std::unique_ptr<ObjectNode>> holders_;
  std::unique_ptr<ObjectNode> user_;
  bool holder_up_ = false;
  bool winding_up_ = false;
  std::deque<ObjectLink> links_;
  ObjectLink* current_ = nullptr;
  bool connecting_ = false;
  std::deque<std::unique_ptr<GuardedBytes>> put_memory_;
  std::map<const ObjectView*, HeldView> held_;
  std::deque<std::unique_ptr<LeftAlone>> left_alone_;
  SeedCounts counts_;
  TaskScope scope_;
  TaskScope janitors_;
};

}  // namespace corail::sim
