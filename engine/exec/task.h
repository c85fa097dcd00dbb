#pragma once

#include <asio/awaitable.hpp>

namespace corail {

/// The only coroutine type: asio::awaitable survives long loops of synchronously completing awaits,
/// which an own task with symmetric transfer does not under GCC 12. Await or spawn it at once,
/// exactly once, and never assign over it.
template <typename T>
using Task = asio::awaitable<T>;

}  // namespace corail
