#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/object/object_descriptor.h"
#include "test/sim/journal.h"
#include "test/sim/objects/put_record.h"
#include "test/sim/objects/scenario.h"

namespace corail::sim {

/// What the store of the holder may have, in the model's own words: which puts and deletions there
/// were, what each key's generation was when, and what a crash may make of it. Knows nothing of
/// stores but what their users are promised.
class StoreModel {
 public:
  StoreModel(Journal& journal, const Clock& clock);

  PutRecord& begin_put(PutOrder order, std::span<const std::byte> content);
  /// The home has given it a name, which nothing ever had before.
  void named(PutRecord& put, ObjectGeneration generation);
  void committing(PutRecord& put);
  void committed(PutRecord& put, const ObjectDescriptor& object);
  /// Its call failed, or it was aborted.
  void failed(PutRecord& put, const Error& error);
  void aborted(PutRecord& put);

  DeleteRecord& begin_delete(std::size_t key, std::optional<ObjectGeneration> if_generation);
  void deleted(DeleteRecord& erased, const Result<ObjectGeneration>& outcome);

  /// What the store says that the key's present generation is; null: none. After each step of the
  /// world, so that no change is missed.
  void observe(std::size_t key, const ObjectDescriptor* now);
  /// From now on the store is no more, and by `found` again: what it has of each key. `forgets`:
  /// it was in the memory of the process that died.
  void gone();
  using Found = std::function<const ObjectDescriptor*(std::size_t key)>;
  void back(bool forgets, const Found& found);
  /// A file of the store that is on a disk after a start which could remove everything else.
  void check_file(const std::string& path, const std::string& name);

  PutNumber puts() const noexcept { return static_cast<PutNumber>(puts_.size()); }
  const PutRecord& put(PutNumber number) const { return puts_[number - 1]; }
  std::deque<PutRecord>& records() noexcept { return puts_; }
  /// The put that made a generation which was a key's at some time; null: there is none.
  const PutRecord* put_of(ObjectGeneration generation) const;
  const Era& present(std::size_t key) const { return eras_[key].back(); }
  /// When the generation ceased to be the key's; nothing while it is.
  std::optional<TimePoint> superseded(std::size_t key, ObjectGeneration generation) const;
  /// Whether it was the key's generation at some time between now and then.
  bool current_since(std::size_t key, std::optional<ObjectGeneration> generation,
                     TimePoint from) const;

 private:
  PutRecord* find(std::size_t key, const ObjectDescriptor& object);
  bool may_vanish(std::size_t key) const;
  bool has_vanished(const DeleteRecord& erased, ObjectGeneration generation) const;
  void change(std::size_t key, const ObjectDescriptor* now);
  void begin_era(std::size_t key, std::optional<ObjectGeneration> generation, PutNumber put);

  Journal& journal_;
  const Clock& clock_;
  std::deque<PutRecord> puts_;
  std::deque<DeleteRecord> deletes_;
  std::map<ObjectGeneration, PutNumber> names_;
  std::array<std::vector<Era>, kObjectKeys> eras_;
  bool there_ = false;
};

}  // namespace corail::sim
