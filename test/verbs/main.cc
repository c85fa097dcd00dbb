#define BOOST_TEST_MODULE verbs
#include <boost/test/unit_test.hpp>
