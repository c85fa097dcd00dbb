#define BOOST_TEST_MODULE object
#include <boost/test/unit_test.hpp>
