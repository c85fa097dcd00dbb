#pragma once

#include <string>
#include <utility>

#include "apps/p2p_bench/descriptor.h"
#include "engine/base/result.h"

namespace corail::bench {

/// Where the report of a run goes. Opened before the run, so that a path that cannot be written is
/// an error then and not after minutes of measuring. Used on one thread at a time.
class ReportFile {
 public:
  /// Creates the file, or opens an existing one whose content stays until write(). An empty path is
  /// no file; "-" is standard output. Fails with kInvalidArgument naming the path.
  static Result<ReportFile> open(const std::string& path);

  ReportFile() = default;  // no file
  ReportFile(ReportFile&&) noexcept = default;
  ReportFile& operator=(ReportFile&&) = delete;
  ~ReportFile() { discard(); }

  bool wanted() const noexcept { return static_cast<bool>(file_); }

  /// Replaces the content. Fails with kInvalidArgument naming the path.
  Result<void> write(const std::string& text);

  /// Removes the file if open() created it and nothing was written to it.
  void discard() const noexcept;

 private:
  ReportFile(std::string path, Descriptor file, bool created)
      : path_(std::move(path)), file_(std::move(file)), created_(created) {}

  std::string path_;
  Descriptor file_;
  bool created_ = false;
  bool written_ = false;
};

}  // namespace corail::bench
