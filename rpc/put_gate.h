#pragma once

#include <cstdint>

#include "engine/rail/rail_door.h"
#include "rpc/put_messages.h"
#include "rpc/put_sources.h"

namespace corail {

/// Tells homes that pull what this node puts from requesters that read what it holds: the former
/// have read ids of their own. Owned by the node, next to what it refers to. Any thread.
class PutGate final : public LeaseGate {
 public:
  /// `held`: of what the node holds; null where it holds nothing.
  PutGate(PutSources& sources, LeaseGate* held) : sources_(sources), held_(held) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override {
    LeaseGate* const gate = is_put_read(context.read) ? &sources_ : held_;
    if (gate != nullptr) return gate->admit(session, context, region, offset, length);
    return Error(Errc::kRefused, Stage::kServe, "this node holds nothing that can be leased");
  }

 private:
  PutSources& sources_;
  LeaseGate* const held_;
};

}  // namespace corail
