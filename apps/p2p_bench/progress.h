#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace corail::bench {

/// One line on standard error that replaces itself; silent unless that is a terminal. One thread.
class Progress {
 public:
  Progress() : shown_(::isatty(STDERR_FILENO) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& text) { write(text); }
  void clear() { write(""); }

 private:
  void write(const std::string& text) const {
    if (shown_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }

  const bool shown_;
};

}  // namespace corail::bench
