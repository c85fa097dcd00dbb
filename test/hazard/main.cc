#define BOOST_TEST_MODULE hazard
#include <boost/test/unit_test.hpp>
