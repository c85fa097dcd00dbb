#include "engine/read/expectation.h"

#include <utility>

#include "engine/plan/block_plan.h"
#include "engine/plan/object_plan.h"

namespace corail {
namespace {

using Made = Result<std::unique_ptr<const ReadIntegrity>>;

struct Maker {
  const std::shared_ptr<const ReadPlan>& plan;

  Made operator()(BlockExpectation expected) const {
    auto blocks = std::dynamic_pointer_cast<const BlockPlan>(plan);
    if (!blocks) return Error(Errc::kInvalidArgument, "checksums of blocks for a read of others");
    return Made(std::make_unique<const BlockIntegrity>(std::move(blocks), std::move(expected)));
  }
  Made operator()(ObjectExpectation expected) const {
    auto object = std::dynamic_pointer_cast<const ObjectPlan>(plan);
    if (!object)
      return Error(Errc::kInvalidArgument, "checksums of an object for a read of others");
    return ObjectIntegrity::make(std::move(object), std::move(expected));
  }
};

}  // namespace

Made make_integrity(const std::shared_ptr<const ReadPlan>& plan, Expectation expectation) {
  return std::visit(Maker{plan}, std::move(expectation));
}

}  // namespace corail
