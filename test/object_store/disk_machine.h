#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/object/object_descriptor.h"
#include "test/object_store/content.h"
#include "test/object_store/store_kinds.h"
#include "test/object_store/store_rig.h"

namespace corail::test {

/// The size of the objects here: four stripes, two of them on the first of three devices.
inline constexpr std::uint64_t kSize = 7 * kGranuleBytes + 9;
/// Their files: a manifest, and stripes on each device.
inline constexpr std::size_t kFiles = 4;

/// A store on a simulated disk, started.
struct DiskMachine : OnSimulatedDisk, StoreRig {
  explicit DiskMachine(std::uint64_t seed = 1) : OnSimulatedDisk(seed) {
    BOOST_REQUIRE(start(medium(executor())).ok());
  }
  RecoveryReport restart() {
    auto report = start(medium(executor()));
    BOOST_REQUIRE_MESSAGE(report.ok(), text_of(report));
    return *report;
  }
  bool holds(const std::string& key, std::uint64_t seed, std::uint64_t size = kSize) {
    const auto found = get(key);
    return found.ok() && is_content(*found, seed, size);
  }
  std::string file_with(std::string_view end) {
    for (const std::string& name : files()) {
      if (name.ends_with(end)) return name.substr(path(0).size() + 1);
    }
    return "";
  }
};

inline bool says(const Error& error, std::string_view part) {
  return error.to_string().find(part) != std::string::npos;
}

}  // namespace corail::test
