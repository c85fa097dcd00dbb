#include <boost/test/unit_test.hpp>

#include "apps/p2p_bench/bench_options.h"
#include "engine/base/units.h"
#include "test/bench/parsed_options.h"

namespace corail::bench {
namespace {

BOOST_AUTO_TEST_SUITE(object_options)

BOOST_AUTO_TEST_CASE(objects_have_the_shape_of_their_stripes) {
  const BenchOptions options = accept({"--objects", "3"});
  BOOST_TEST(options.objects.count == 3U);
  BOOST_TEST(options.objects.in_memory());
  BOOST_TEST((options.objects.transfer == ObjectTransfer::kPull));
  BOOST_TEST(options.shape.sets == 3U);
  BOOST_TEST(options.shape.blocks == 16U);
  BOOST_TEST(options.shape.payload_bytes() == 64 * kMiB);
  BOOST_TEST(accept({"--objects", "1", "--object-mib", "2"}).shape.blocks == 1U);
}

BOOST_AUTO_TEST_CASE(what_lies_in_directories_is_pushed) {
  const BenchOptions options = accept({"--objects", "1", "--store", "/a,/b"});
  BOOST_TEST((options.objects.transfer == ObjectTransfer::kPush));
  BOOST_TEST(options.objects.directories().size() == 2U);
  BOOST_TEST(
      mentions(refuse({"--objects", "1", "--store", "/a", "--mode", "pull"}), "--mode pull"));
}

BOOST_AUTO_TEST_CASE(every_scheduler_has_a_name) {
  for (const char* name : {"least_loaded", "round_robin", "locality"}) {
    const BenchOptions options = accept({"--objects", "1", "--scheduler", name});
    BOOST_TEST(to_string(options.objects.scheduler) == name);
  }
}

BOOST_AUTO_TEST_CASE(nonsense_is_refused_in_one_sentence) {
  BOOST_TEST(mentions(refuse({"--objects", "0"}), "--objects"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--stripe-mib", "3"}), "multiple"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--stripe-mib", "2048"}), "--stripe-mib"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--object-mib", "4000000"}), "--object-mib"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--store", "/a,,/b"}), "--store"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--lane-range", "1"}), "--lane-range"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--encoding", "runs"}), "--encoding"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--blocks", "4"}), "--blocks"));
  BOOST_TEST(mentions(refuse({"--objects", "1", "--trace", "file"}), "--trace"));
  BOOST_TEST(mentions(refuse({"--stripe-mib", "4"}), "--stripe-mib is for --objects"));
}

BOOST_AUTO_TEST_CASE(the_child_that_holds_gets_the_objects) {
  const BenchOptions parent = accept({"--objects", "2", "--object-mib", "12", "--stripe-mib", "3",
                                      "--store", "/a,/b", "--seed", "9"});
  const BenchOptions child = accept(holder_arguments(parent));
  BOOST_TEST((child.role == Role::kHolder));
  BOOST_TEST((child.shape == parent.shape));
  BOOST_TEST(child.objects.store == "/a,/b");
  BOOST_TEST((child.objects.transfer == ObjectTransfer::kPush));
}

BOOST_AUTO_TEST_CASE(keys_differ_with_shape_and_number) {
  const Shape shape = accept({"--objects", "2"}).shape;
  const Shape other = accept({"--objects", "2", "--seed", "2"}).shape;
  BOOST_TEST(object_key(shape, 0) != object_key(shape, 1));
  BOOST_TEST(object_key(shape, 0) != object_key(other, 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
