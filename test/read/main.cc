#define BOOST_TEST_MODULE read
#include <boost/test/unit_test.hpp>
