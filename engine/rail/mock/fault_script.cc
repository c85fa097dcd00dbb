#include "engine/rail/mock/fault_script.h"

#include <utility>

namespace corail {

FaultScript& FaultScript::add(Fault fault) {
  faults_.push_back(std::move(fault));
  return *this;
}

const Fault* FaultScript::find(FaultKind kind, std::uint64_t slice) const noexcept {
  for (const Fault& fault : faults_) {
    if (fault.kind == kind && fault.slice == slice) return &fault;
  }
  return nullptr;
}

const Fault* FaultScript::find(FaultKind kind) const noexcept {
  for (const Fault& fault : faults_) {
    if (fault.kind == kind) return &fault;
  }
  return nullptr;
}

}  // namespace corail
