#pragma once

#include <cstddef>
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
  MockTransport& transport(std::size_t index) { return *transports_[index]; }
  MockHolder& holder() { return holder_; }

 private:
  VirtualWorld& world_;
  MockNet net_;
  MockHolder holder_;
  std::vector<std::unique_ptr<SeededRandom>> randoms_;
  std::vector<MockTransport*> transports_;  // owned by the rails
  std::vector<std::unique_ptr<Rail>> rails_;
};

}  // namespace corail::test
