#include "engine/base/result.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "test/base/aborts.h"

namespace corail {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error(Errc::kInvalidArgument, "odd");
  return value / 2;
}

BOOST_AUTO_TEST_SUITE(result)

BOOST_AUTO_TEST_CASE(holds_a_value_or_an_error) {
  for (int i = -10; i <= 10; ++i) {
    const Result<int> answer = half(i);
    BOOST_TEST(answer.ok() == (i % 2 == 0));
    BOOST_TEST(static_cast<bool>(answer) == answer.ok());
    if (answer.ok()) {
      BOOST_TEST(*answer * 2 == i);
    } else {
      BOOST_TEST(answer.error().detail() == "odd");
    }
  }
}

BOOST_AUTO_TEST_CASE(unset_is_a_failure) {
  BOOST_TEST((Result<int>().error().code() == Errc::kUnset));
  BOOST_TEST((Result<void>().error().code() == Errc::kUnset));
  BOOST_TEST(ok_result().ok());
}

BOOST_AUTO_TEST_CASE(moves_what_cannot_be_copied) {
  Result<std::unique_ptr<std::string>> answer(std::make_unique<std::string>("moved"));
  BOOST_TEST((*answer)->size() == 5U);
  BOOST_TEST(answer->get() == answer.value().get());
  const std::unique_ptr<std::string> taken = *std::move(answer);
  BOOST_TEST(*taken == "moved");
}

BOOST_AUTO_TEST_CASE(an_error_can_be_handed_on) {
  Result<int> inner = half(1);
  const Result<std::string> outer = std::move(inner).error().on_peer("P");
  BOOST_TEST(outer.error().peer() == "P");
  Result<void> plain = Error(Errc::kBusy, "full");
  const Result<int> other = std::move(plain).error();
  BOOST_TEST((other.error().code() == Errc::kBusy));
}

BOOST_AUTO_TEST_CASE(asking_for_what_is_not_there_ends_the_process) {
  using test::aborts;
  BOOST_TEST(aborts([] { static_cast<void>(half(1).value()); }));
  BOOST_TEST(aborts([] { static_cast<void>(half(2).error()); }));
  BOOST_TEST(aborts([] { static_cast<void>(ok_result().error()); }));
  BOOST_TEST(!aborts([] { static_cast<void>(half(2).value()); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
