#define BOOST_TEST_MODULE plan
#include <boost/test/unit_test.hpp>
