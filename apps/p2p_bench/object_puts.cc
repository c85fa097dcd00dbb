#include "apps/p2p_bench/object_puts.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "apps/p2p_bench/content.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/object_work.h"
#include "engine/base/units.h"

namespace corail::bench {
namespace {

void fill_object(std::span<std::byte> object, const Shape& shape, std::uint32_t set) {
  const std::uint64_t stripe_size = shape.block_bytes();
  for (std::uint32_t stripe = 0; stripe < shape.blocks; ++stripe) {
    fill_content(object.subspan(stripe * stripe_size, stripe_size),
                 CellId{shape.seed, set, stripe, 0});
  }
}

}  // namespace

Result<std::vector<double>> put_objects(Node& node, Peer& peer, const Shape& shape, Clock& clock,
                                        const CancelToken& cancel) {
  std::vector<double> gib_s;
  std::vector<std::byte> object(shape.payload_bytes());
  for (std::uint32_t set = 0; set < shape.sets; ++set) {
    fill_object(object, shape, set);
    PutOptions options;
    options.size = object.size();
    options.stripe_size = shape.block_bytes();
    options.cancel = cancel;
    const TimePoint begin = clock.now();
    const auto put =
        await_on(node.executor(), peer.put_object(object_key(shape, set), object, options));
    if (!put.ok()) return put.error();
    const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
    const double gib = static_cast<double>(object.size()) / static_cast<double>(kGiB);
    if (seconds > 0) gib_s.push_back(gib / seconds);
  }
  return gib_s;
}

}  // namespace corail::bench
