#pragma once

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <span>
#include <string>

#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec.h"
#include "test/rpc/bytes.h"

namespace corail::test {

using AnswerMessage = v1::QueryBlocksForTransferAnswer;

inline Bytes encoded(const QueryAnswer& answer) {
  TemplateCache templates;
  return body_of(encode_query_answer(answer, templates));
}

/// The answer as generated code reads it.
inline AnswerMessage generated(const QueryAnswer& answer) {
  AnswerMessage message;
  const Bytes body = encoded(answer);
  BOOST_REQUIRE(message.ParseFromArray(body.data(), static_cast<int>(body.size())));
  return message;
}

inline Result<TransferAnswer> decoded(const AnswerMessage& message,
                                      const QueryExpectation& expected) {
  const std::string text = message.SerializeAsString();
  return decode_query_answer(std::as_bytes(std::span(text)), expected);
}

}  // namespace corail::test
