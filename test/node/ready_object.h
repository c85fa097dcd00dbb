#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <future>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "test/node/object_nodes.h"
#include "test/node/support.h"

namespace corail::test {

/// How an object gets from its owner to its reader.
struct Kind {
  std::string_view name;
  bool on_disks = false;
  ObjectMode mode = ObjectMode::kAuto;

  friend std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }
};

inline const std::vector<Kind> kKinds = {{"pulled from memory", false, ObjectMode::kAuto},
                                         {"pushed from memory", false, ObjectMode::kPush},
                                         {"pushed from disks", true, ObjectMode::kAuto}};

/// Nine stripes of 1 MiB, and a short one.
inline constexpr std::uint64_t kObjectBytes = 9 * kMiB + 300 * kKiB + 5;

/// An owner with an object "a" whose bytes are those of seed 1, and a reader that is connected and
/// has looked it up.
struct ReadyObject {
  explicit ReadyObject(const Kind& of, std::uint64_t size = kObjectBytes,
                       ObjectNodes::Shape shape = {})
      : kind(of), nodes(on(of, shape)) {
    const auto generation = nodes.put("a", 1, size);
    BOOST_REQUIRE_MESSAGE(generation.ok(), describe(generation));
    auto connected = nodes.connect();
    BOOST_REQUIRE_MESSAGE(connected.ok(), describe(connected));
    peer = std::move(*connected);
    look_up();
  }
  static ObjectNodes::Shape on(const Kind& kind, ObjectNodes::Shape shape) {
    shape.on_disks = kind.on_disks;
    return shape;
  }
  void look_up() {
    const auto found = nodes.lookup(*peer, "a");
    BOOST_REQUIRE_MESSAGE(found.ok(), describe(found));
    object = *found;
  }
  ReadObjectOptions options(std::vector<ObjectRange> ranges = {}) const {
    ReadObjectOptions options;
    options.mode = kind.mode;
    options.ranges = std::move(ranges);
    return options;
  }
  Result<ObjectView> read(ReadObjectOptions options) {
    return nodes.read(*peer, object, std::move(options));
  }
  /// Begins, and returns when the read has its memory, hence its lease, and is under way.
  std::future<Result<ObjectView>> start(ReadObjectOptions options) {
    auto running = nodes.start(*peer, object, std::move(options));
    const auto over = [&running] {
      return running.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    BOOST_REQUIRE(
        comes_true([&] { return nodes.reader().memory().outstanding_bytes() > 0 || over(); }));
    BOOST_REQUIRE(!over());
    return running;
  }

  Kind kind;
  ObjectNodes nodes;
  std::shared_ptr<Peer> peer;
  ObjectDescriptor object;
};

/// A read that takes thousands of round trips: there is time for something in its middle.
inline ObjectNodes::Shape slow_objects() {
  ObjectNodes::Shape shape;
  shape.max_read_bytes = 4 * kKiB;
  shape.window_bytes = 4 * kKiB;
  return shape;
}

}  // namespace corail::test
