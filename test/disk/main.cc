#define BOOST_TEST_MODULE disk
#include <boost/test/unit_test.hpp>
