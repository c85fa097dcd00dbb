#pragma once

#include <string>
#include <string_view>

namespace corail {

/// Text of a stranger, fit for a log line: bytes that are no printable ASCII become '?'. Names and
/// sentences of peers pass through here before anybody sees them.
inline std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    if (c < ' ' || c > '~') c = '?';
  }
  return clean;
}

}  // namespace corail
