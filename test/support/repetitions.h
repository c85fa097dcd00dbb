#pragma once

namespace corail::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// How often to repeat what takes another random course each time. A sanitizer looks at how code
/// runs, not at what comes out, and makes it fifty times as slow: a fifth of the courses will do.
constexpr int repetitions(int full) { return kSanitized ? (full + 4) / 5 : full; }

}  // namespace corail::test
