// What the model makes of a store that died and started again.
#include <fmt/core.h>

#include <algorithm>

#include "engine/store/store_names.h"
#include "test/sim/objects/store_model.h"

namespace corail::sim {

void StoreModel::gone() { there_ = false; }

void StoreModel::back(bool forgets, const Found& found) {
  there_ = true;
  for (std::size_t key = 0; key < kObjectKeys; ++key) {
    const Era before = present(key);
    const ObjectDescriptor* const now = found(key);
    if (forgets) {
      if (now != nullptr) {
        journal_.violate(0, fmt::format("{} was in memory, and outlived it", object_key(key)));
      }
      if (before.generation) begin_era(key, std::nullopt, 0);
      continue;
    }
    const bool same = now != nullptr && before.generation == now->generation;
    if (same || (now == nullptr && !before.generation)) continue;
    const bool later =
        now != nullptr && (!before.generation || *before.generation < now->generation);
    if (before.generation && !later && !(now == nullptr && may_vanish(key))) {
      journal_.violate(0,
                       fmt::format("generation {} of {} did not survive a start, there is {} now",
                                   before.generation->value(), object_key(key),
                                   now == nullptr ? 0 : now->generation.value()));
      continue;
    }
    // A commit, or a deletion, whose outcome nobody knew.
    change(key, now);
  }
}

void StoreModel::check_file(const std::string& path, const std::string& name) {
  const bool temporary = detail::is_temporary(name);
  const auto generation = detail::generation_of(name);
  if (!temporary && !generation) return;
  const bool needed = generation && std::any_of(eras_.begin(), eras_.end(), [&](const auto& eras) {
                        return eras.back().generation == *generation;
                      });
  if (needed) return;
  journal_.violate(0, fmt::format("no key has a generation that needs {}/{}, and after a start it "
                                  "is left of it",
                                  path, name));
}

}  // namespace corail::sim
