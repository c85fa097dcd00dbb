#include "engine/rail/verbs/write_grants.h"

#include <iterator>
#include <utility>

namespace corail {
namespace {

void append(WriteKeys& to, WriteKeys from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void WriteGrants::add(const SliceSink& sink, WriteKeys keys) {
  append(keys_[&sink], std::move(keys));
}

const WriteKey* WriteGrants::find(const SliceSink& sink, const std::byte* destination,
                                  std::uint64_t length) const {
  const auto granted = keys_.find(&sink);
  if (granted == keys_.end()) return nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(destination);
  for (const WriteKey& key : granted->second) {
    const bool inside =
        address >= key.base && length <= key.length && address - key.base <= key.length - length;
    if (inside) return &key;
  }
  return nullptr;
}

WriteKeys WriteGrants::take(const SliceSink& sink) {
  auto taken = keys_.extract(&sink);
  return taken ? std::move(taken.mapped()) : WriteKeys();
}

WriteKeys WriteGrants::take_all() {
  WriteKeys all;
  for (auto& [sink, keys] : keys_) append(all, std::move(keys));
  keys_.clear();
  return all;
}

}  // namespace corail
