#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "test/rpc/bytes.h"

namespace corail::test {

template <typename Message>
Bytes bytes_of_message(const Message& message) {
  return bytes_of(message.SerializeAsString());
}

/// A refusal for breaking the protocol, whose sentence names the field.
template <typename T>
void check_names(const Result<T>& result, std::string_view field) {
  BOOST_TEST_CONTEXT(field) {
    BOOST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kProtocol));
    BOOST_TEST(result.error().detail().find(field) != std::string::npos);
  }
}

}  // namespace corail::test
