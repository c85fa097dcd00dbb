#include "test/support/threaded_rig.h"

#include "engine/base/check.h"
#include "engine/rail/retire.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

Task<Result<void>> run_read(RigRead* read) {
  auto result = co_await read->run();
  co_return result;
}

}  // namespace

ThreadedRig::ThreadedRig(const HeldShape& shape, FaultScript bad)
    : held(shape, 12),
      pool_(SlabPoolOptions{}),
      owner(home.executor(), clock),
      holder_(net_, "holder") {
  census_.add("pins", [this] { return held.pins(); });
  census_.add("bytes of chunks", [this] { return pool_.outstanding_bytes(); });
  CORAIL_CHECK(holder_.open(), "the address is free");
  const RailEndpoint endpoint = holder_.admit_session(SessionId(1), ChannelToken{}, held);
  for (std::size_t i = 0; i < kRails; ++i) {
    MockOptions options;
    options.link.bytes_per_second = 400'000'000;
    options.link.packet_bytes = 16 * kKiB;
    options.link.jitter = microseconds(20);
    options.shared_fence = i != 0;
    const asio::any_io_executor executor = ports_[i].executor();
    auto transport = std::make_unique<MockTransport>(executor, clock, randoms_[i], net_, options,
                                                     i == 1 ? bad : FaultScript());
    RailWindow window;
    window.bytes = kMiB;
    window.max_slice_bytes = 256 * kKiB;
    rails_.push_back(std::make_unique<Rail>("mock", executor, clock, std::move(transport), window));
    const auto connected =
        ports_[i].run(rails_.back()->connect(endpoint, clock.now() + seconds(30)));
    CORAIL_CHECK(connected, "a mock rail connects");
  }
}

ThreadedRig::~ThreadedRig() {
  for (std::size_t i = 0; i < kRails; ++i) {
    CORAIL_CHECK(ports_[i].run(retire(std::move(rails_[i]))), "no device of the rig hangs");
  }
  CORAIL_CHECK(owner.leases() == 0, "every read gives its lease back");
}

std::unique_ptr<RigRead> ThreadedRig::make(CancelToken token, bool retry) {
  PlanLimits limits;
  limits.max_read_bytes = 256 * kKiB;
  ReadRequest request;
  request.read = ReadId(next_read_++);
  request.plan = held.plan(held.all(), limits);
  for (const ChunkSpec& spec : request.plan->chunks()) {
    auto chunk = pool_.allocate(spec.bytes, 0);
    CORAIL_CHECK(chunk, "the rig's pool is large enough");
    request.chunks.push_back(std::move(*chunk));
  }
  for (const auto& rail : rails_) request.rails.push_back(rail.get());
  request.max_slice_bytes = limits.max_read_bytes;
  request.expectation = held.expectation(held.all());
  request.deadline = clock.now() + seconds(60);
  request.fence_deadline = seconds(20);
  request.cancel = std::move(token);
  request.retry_on_survivors = retry;
  return std::make_unique<RigRead>(home.executor(), clock, owner, held.all(), std::move(request));
}

Result<void> ThreadedRig::run(RigRead& read) { return home.run(run_read(&read)); }

}  // namespace corail::test
