// Every message of the control channel: a stranger's bytes are refused or taken, and what was taken
// of an answer can be planned or is refused then.
#include <memory>

#include "engine/plan/block_plan.h"
#include "rpc/codec.h"
#include "test/fuzz/fuzz_input.h"

namespace corail::fuzz {
namespace {

const std::shared_ptr<const Layout>& layout() {
  static const auto made =
      std::make_shared<const Layout>(Layout::make({{4096, 4096, 0}, {300, 0, 1}}).value());
  return made;
}

const RegionTable& regions() {
  static const RegionTable made = [] {
    Region region;
    region.id = RegionId(1);
    region.base = 0x1000;
    region.length = 64 * kMiB;
    return RegionTable::make(TableGeneration(1), {region}).value();
  }();
  return made;
}

void answer(AnswerEncoding encoding, std::span<const std::byte> body) {
  QueryExpectation expected;
  expected.asked_blocks = 16;
  expected.boot = BootId(7);
  expected.layout = layout();
  expected.encoding = encoding;
  const auto decoded = decode_query_answer(body, expected);
  if (!decoded.ok() || decoded->blocks.block_count == 0) return;
  const QueryAnswer& blocks = decoded->blocks;
  const auto planned =
      blocks.encoding == AnswerEncoding::kParts
          ? plan_block_read(blocks.parts, layout(), blocks.block_count, regions(), PlanLimits())
          : plan_block_read(blocks.runs, layout(), blocks.block_count, regions(), PlanLimits());
  if (planned.ok() && planned->total_bytes() != blocks.block_count * layout()->block_bytes()) {
    std::abort();
  }
}

// Messages of the same shape share a number, so that the corpus keeps its meaning.
void message(std::uint32_t kind, std::span<const std::byte> body) {
  switch (kind) {
    case 0:
      decode_error(body);
      break;
    case 1:
      static_cast<void>(decode_hello(body));
      break;
    case 2:
      static_cast<void>(decode_hello_answer(body, HelloRequest()));
      break;
    case 3:
      static_cast<void>(decode_open_rails(body));
      break;
    case 4:
      static_cast<void>(decode_open_rails_answer(body));
      break;
    case 5:
      static_cast<void>(decode_get_regions_answer(body));
      break;
    case 6:
      static_cast<void>(decode_regions_changed(body));
      break;
    case 7:
      static_cast<void>(decode_query(body));
      break;
    case 8:
      static_cast<void>(decode_read_id(Method::kReleaseLease, body));
      static_cast<void>(decode_goodbye(body));
      break;
    case 9:
      answer(AnswerEncoding::kRuns, body);
      break;
    case 10:
      answer(AnswerEncoding::kParts, body);
      break;
    case 11:
      static_cast<void>(decode_get_regions(body));
      break;
    case 12:
      static_cast<void>(decode_renew(body));
      static_cast<void>(decode_lane_sums(body));
      break;
    case 13:
      static_cast<void>(decode_renew_answer(body));
      static_cast<void>(decode_lane_sums_answer(body, 16));
      break;
    case 14:
      static_cast<void>(decode_greet_door(body));
      break;
    case 15:
      static_cast<void>(decode_greet_door_answer(body));
      break;
    default:
      answer(AnswerEncoding::kSegments, body);
      break;
  }
}

}  // namespace
}  // namespace corail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corail::fuzz::FuzzInput input(data, size);
  const std::uint32_t kind = input.below(17);
  corail::fuzz::message(kind, input.rest());
  return 0;
}
