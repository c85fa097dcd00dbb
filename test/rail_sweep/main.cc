#define BOOST_TEST_MODULE rail_sweep
#include <boost/test/unit_test.hpp>
