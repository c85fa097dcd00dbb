#define BOOST_TEST_MODULE compiler
#include <boost/test/unit_test.hpp>
