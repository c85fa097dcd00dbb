#define BOOST_TEST_MODULE rail
#include <boost/test/unit_test.hpp>
