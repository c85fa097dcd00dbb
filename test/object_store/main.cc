#define BOOST_TEST_MODULE object_store
#include <boost/test/unit_test.hpp>
