#include "rpc/wire_format.h"

namespace corail {

bool WireReader::next() noexcept {
  if (!ok_ || at_ == end_) return false;
  const std::byte* const start = at_;
  ok_ = false;
  std::uint64_t tag = 0;
  if (!read_varint(at_, end_, tag) || tag > 0xFFFFFFFF || tag >> 3 == 0) return false;
  field_ = static_cast<std::uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  const auto left = [this] { return static_cast<std::size_t>(end_ - at_); };
  switch (type_) {
    case WireType::kVarint:
      if (!read_varint(at_, end_, number_)) return false;
      break;
    case WireType::kFixed64:
      if (left() < 8) return false;
      number_ = load_little_endian<std::uint64_t>(at_);
      at_ += 8;
      break;
    case WireType::kFixed32:
      if (left() < 4) return false;
      number_ = load_little_endian<std::uint32_t>(at_);
      at_ += 4;
      break;
    case WireType::kBytes: {
      std::uint64_t size = 0;
      if (!read_varint(at_, end_, size) || size > left()) return false;
      bytes_ = {at_, static_cast<std::size_t>(size)};
      at_ += size;
      break;
    }
    default:
      return false;  // groups, which this protocol does not have
  }
  field_bytes_ = static_cast<std::size_t>(at_ - start);
  ok_ = true;
  return true;
}

}  // namespace corail
