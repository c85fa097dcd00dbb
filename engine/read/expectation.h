#pragma once

#include <memory>
#include <variant>

#include "engine/base/result.h"
#include "engine/plan/read_plan.h"
#include "engine/read/integrity.h"
#include "engine/read/object_integrity.h"
#include "engine/read/read_integrity.h"

namespace corail {

/// What a read's bytes must hash to, by what it reads.
using Expectation = std::variant<BlockExpectation, ObjectExpectation>;

/// Fails with kInvalidArgument where the expectation is not of the plan's kind, or does not suffice
/// for it; and as ObjectIntegrity::make().
Result<std::unique_ptr<const ReadIntegrity>> make_integrity(
    const std::shared_ptr<const ReadPlan>& plan, Expectation expectation);

}  // namespace corail
