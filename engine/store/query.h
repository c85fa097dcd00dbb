#pragma once

#include "engine/base/result.h"
#include "engine/store/store_state.h"
#include "engine/store/store_types.h"

namespace corail::detail {

/// BlockStore::query_for_transfer.
Result<QueryAnswer> query_for_transfer(StoreState& store, const QueryRequest& request);

}  // namespace corail::detail
