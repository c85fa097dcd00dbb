#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "engine/base/random.h"
#include "engine/rail/mock/mock_holder.h"
#include "engine/rail/mock/mock_transport.h"
#include "engine/rail/rail.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// How one rail of a test is made: small, so that little data makes many slices.
struct RailPlan {
  RailPlan() {
    options.link.packet_bytes = 16 * kKiB;
    window.bytes = kMiB;
    window.max_slice_bytes = 256 * kKiB;
  }

  MockOptions options;
  FaultScript faults;
  RailWindow window;
  /// Whether the rail is rebuilt when it is lost, over a link with the next one of these scripts,
  /// and over one without faults after the last.
  bool rebuilt = false;
  std::vector<FaultScript> later;
  RailOptions rail_options;
  /// Puts something between the rail and its link, if set.
  std::function<std::unique_ptr<Transport>(std::unique_ptr<Transport>)> around;
};

/// Connected mock rails to one holder, in virtual time. Closes them when it goes.
class MockRails {
 public:
  MockRails(VirtualWorld& world, LeaseGate& gate, std::vector<RailPlan> plans, std::uint64_t seed);
  ~MockRails();
  MockRails(const MockRails&) = delete;
  MockRails& operator=(const MockRails&) = delete;

  std::vector<Rail*> rails() const;
  Rail& rail(std::size_t index) { return *rails_[index]; }
  /// Of the rail's present generation.
  MockTransport& transport(std::size_t index) { return *transports_[index]; }
  /// How many links the rail has had.
  std::size_t generations(std::size_t index) const { return made_[index]; }
  MockHolder& holder() { return holder_; }

 private:
  std::unique_ptr<Transport> make_link(std::size_t index, const RailPlan& plan);
  std::unique_ptr<Rail> make_rail(std::size_t index, RailPlan plan);

  VirtualWorld& world_;
  MockNet net_;
  MockHolder holder_;
  std::vector<std::unique_ptr<SeededRandom>> randoms_;
  std::vector<MockTransport*> transports_;  // owned by the rails
  std::vector<std::size_t> made_;           // links, per rail
  std::vector<std::unique_ptr<Rail>> rails_;
};

}  // namespace corail::test
