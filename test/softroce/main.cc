#define BOOST_TEST_MODULE softroce
#include <boost/test/unit_test.hpp>
