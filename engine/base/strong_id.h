#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace corail {

/// A number that names something. Ids of different tags do not mix, convert or add.
template <typename Tag, typename Rep>
class StrongId {
 public:
  using rep = Rep;
  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(value) {}
  constexpr Rep value() const noexcept { return value_; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  Rep value_{};
};

}  // namespace corail

template <typename Tag, typename Rep>
struct std::hash<corail::StrongId<Tag, Rep>> {
  std::size_t operator()(corail::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
