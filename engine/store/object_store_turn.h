#pragma once

// For the sources of ObjectStoreState only.

#include "engine/store/object_store_state.h"

namespace corail::detail {

class ObjectStoreState::Running {
 public:
  explicit Running(ObjectStoreState& store) : store_(store) { ++store_.running_; }
  ~Running() {
    if (--store_.running_ == 0) store_.none_running_.notify();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  ObjectStoreState& store_;
};

/// Whoever has acquired the turn gives it back by this.
class ObjectStoreState::Turn {
 public:
  explicit Turn(ObjectStoreState& store) : store_(store) {}
  ~Turn() { store_.turn_.release(1); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  ObjectStoreState& store_;
};

}  // namespace corail::detail
