#define BOOST_TEST_MODULE mock
#include <boost/test/unit_test.hpp>
