#pragma once

#include <asio/any_io_executor.hpp>
#include <type_traits>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/exec/task.h"

namespace corail::detail {

template <typename F>
Task<std::invoke_result_t<F>> run_here(F work) {
  co_return work();
}

/// Runs `work`, a function object without parameters that takes long (hashes, copies, encodes), on
/// the workers, and resumes the caller with what it returns: an executor that answers others must
/// not compute (R8). Without workers it runs where the caller is. What the work refers to must live
/// until this returns.
template <typename F>
Task<std::invoke_result_t<F>> run_apart(asio::any_io_executor workers, F work) {
  if (!workers) return run_here(std::move(work));
  return run_on(std::move(workers), run_here(std::move(work)));
}

}  // namespace corail::detail
