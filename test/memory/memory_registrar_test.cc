#include "engine/memory/memory_registrar.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "engine/base/units.h"
#include "engine/memory/slab.h"
#include "engine/memory/slab_pool.h"

namespace corail {
namespace {

/// A device that counts what it knows, and touches it when it is told to forget: unmapped memory
/// would end the process.
class FakeDevice final : public MemoryRegistrar {
 public:
  explicit FakeDevice(std::uint64_t key) : key_(key) {}

  Result<std::unique_ptr<const MemoryRegistration>> add(std::span<std::byte> bytes,
                                                        MemoryUse use) override {
    last_use = use;
    if (refuse) return Error(Errc::kOutOfMemory, "no memory is locked any more");
    ++known;
    longest = std::max<std::uint64_t>(longest, bytes.size());
    total += bytes.size();
    return std::unique_ptr<const MemoryRegistration>(new Registration(*this, bytes));
  }

  std::uint64_t max_served_bytes() const noexcept override { return most; }

  std::uint64_t most = kNoServedLimit;
  std::uint64_t longest = 0;  // piece, of those that were ever registered
  std::uint64_t total = 0;    // their bytes
  std::atomic<int> known{0};
  std::atomic<bool> refuse{false};
  std::function<void()> when_forgetting;
  std::atomic<MemoryUse> last_use{MemoryUse::kLanding};

 private:
  class Registration final : public MemoryRegistration {
   public:
    Registration(FakeDevice& device, std::span<std::byte> bytes) : device_(device), bytes_(bytes) {}
    ~Registration() override {
      bytes_.front() = bytes_.back() = std::byte{1};
      --device_.known;
      if (device_.when_forgetting) device_.when_forgetting();
    }
    std::uint64_t key() const noexcept override { return device_.key_; }

   private:
    FakeDevice& device_;
    const std::span<std::byte> bytes_;
  };

  const std::uint64_t key_;
};

SlabOptions small() {
  SlabOptions options;
  options.bytes = 64 * kKiB;
  return options;
}

BOOST_AUTO_TEST_SUITE(memory_registrar)

BOOST_AUTO_TEST_CASE(a_slab_is_known_to_every_device_until_it_is_unmapped) {
  const auto first = std::make_shared<FakeDevice>(7);
  const auto second = std::make_shared<FakeDevice>(8);
  {
    auto slab = *Slab::create(small());
    BOOST_TEST(slab->keys().empty());
    BOOST_TEST(slab->register_with({first, nullptr, second}, MemoryUse::kServed).ok());
    BOOST_TEST(slab->keys() == (std::vector<std::uint64_t>{7, 0, 8}),
               boost::test_tools::per_element());
    BOOST_TEST((second->last_use == MemoryUse::kServed));
    BOOST_TEST(first->known == 1);
  }
  BOOST_TEST(first->known == 0);
  BOOST_TEST(second->known == 0);
}

BOOST_AUTO_TEST_CASE(one_device_that_refuses_undoes_the_others) {
  const auto first = std::make_shared<FakeDevice>(7);
  const auto second = std::make_shared<FakeDevice>(8);
  for (const auto& refusing : {first, second}) {
    refusing->refuse = true;
    auto slab = *Slab::create(small());
    const auto registered = slab->register_with({first, second}, MemoryUse::kLanding);
    BOOST_TEST_REQUIRE(!registered.ok());
    BOOST_TEST((registered.error().code() == Errc::kOutOfMemory));
    BOOST_TEST(first->known == 0);
    BOOST_TEST(second->known == 0);
    refusing->refuse = false;
  }
}

BOOST_AUTO_TEST_CASE(a_slab_is_known_in_pieces_that_each_device_takes) {
  const auto device = std::make_shared<FakeDevice>(7);
  BOOST_TEST((max_served_bytes({nullptr, device}) == MemoryRegistrar::kNoServedLimit));
  device->most = 24 * kKiB;
  const auto larger = std::make_shared<FakeDevice>(8);
  larger->most = 32 * kKiB;
  BOOST_TEST(max_served_bytes({larger, nullptr, device}) == 24 * kKiB);
  {
    auto slab = *Slab::create(small());
    const MemoryRegistrars both = {device, larger};
    BOOST_TEST(slab->register_with(both, MemoryUse::kServed, 24 * kKiB).ok());
    BOOST_TEST(device->known == 3);
    BOOST_TEST(device->longest == 24 * kKiB);
    BOOST_TEST(device->total == 64 * kKiB);
    BOOST_TEST(slab->keys(2) == (std::vector<std::uint64_t>{7, 8}),
               boost::test_tools::per_element());
    BOOST_TEST(slab->keys(3).empty());
  }
  BOOST_TEST(device->known == 0);
}

BOOST_AUTO_TEST_CASE(what_stays_mapped_stays_registered) {
  static const auto device = std::make_shared<FakeDevice>(7);
  auto slab = *Slab::create(small());
  BOOST_TEST(slab->register_with({device}, MemoryUse::kLanding).ok());
  slab->keep_mapped_for_ever();
  slab.reset();
  BOOST_TEST(device->known == 1);
}

BOOST_AUTO_TEST_CASE(every_slab_of_a_pool_is_registered) {
  const auto device = std::make_shared<FakeDevice>(7);
  SlabPoolOptions options;
  options.slab_bytes = 64 * kKiB;
  options.capacity_bytes = 128 * kKiB;
  options.registrars = {device};
  SlabChunk last;
  {
    SlabPool pool(options);
    auto first = pool.allocate(64 * kKiB, kAnyNumaNode);
    auto second = pool.allocate(64 * kKiB, kAnyNumaNode);
    BOOST_TEST_REQUIRE((first.ok() && second.ok()));
    BOOST_TEST(device->known == 2);
    BOOST_TEST((device->last_use == MemoryUse::kLanding));
    last = *second;
  }
  BOOST_TEST(device->known == 2);
  last.reset();
  BOOST_TEST(device->known == 0);
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_device_that_forgets_a_slab) {
  const auto device = std::make_shared<FakeDevice>(7);
  SlabPoolOptions options;
  options.slab_bytes = options.capacity_bytes = 64 * kKiB;
  options.numa_nodes = {0, 1};  // the second one need not exist: then it is a label
  options.registrars = {device};
  SlabPool pool(options);
  BOOST_TEST(pool.allocate(64 * kKiB, 0).ok());
  std::future<std::uint64_t> asked;
  bool answered = false;
  device->when_forgetting = [&] {
    asked = std::async(std::launch::async, [&pool] { return pool.outstanding_bytes(); });
    answered = asked.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  };
  BOOST_TEST(pool.allocate(64 * kKiB, 1).ok());
  device->when_forgetting = nullptr;
  BOOST_TEST(asked.valid());
  BOOST_TEST(answered);
  BOOST_TEST(device->known == 1);
}

BOOST_AUTO_TEST_CASE(a_pool_without_a_device_s_consent_gives_nothing) {
  const auto device = std::make_shared<FakeDevice>(7);
  device->refuse = true;
  SlabPoolOptions options;
  options.registrars = {device};
  SlabPool pool(options);
  BOOST_TEST(!pool.allocate(4096, kAnyNumaNode).ok());
  BOOST_TEST(pool.mapped_bytes() == 0U);
  device->refuse = false;
  BOOST_TEST(pool.allocate(4096, kAnyNumaNode).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
