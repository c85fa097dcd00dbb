#include "engine/exec/when_all.h"

#include <asio/error.hpp>
#include <new>
#include <string>
#include <system_error>

namespace corail {

Error error_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return Error(Errc::kOutOfMemory, "the process ran out of memory while a task ran");
  } catch (const std::system_error& error) {
    const bool cancelled = error.code() == asio::error::operation_aborted;
    return Error(cancelled ? Errc::kCancelled : Errc::kUnset,
                 std::string("a task ended with an exception: ") + error.what());
  } catch (const std::exception& error) {
    return Error(Errc::kUnset, std::string("a task ended with an exception: ") + error.what());
  } catch (...) {
    return Error(Errc::kUnset, "a task ended with an exception of unknown type");
  }
}

}  // namespace corail
