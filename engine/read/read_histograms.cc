#include "engine/read/read_histograms.h"

#include <cstdint>

namespace corail {
namespace {

constexpr Duration kNone(0);

void add_if_any(LogHistogram& to, Duration value) noexcept {
  if (value > kNone) to.add(value);
}

}  // namespace

void ReadHistograms::add(const ReadReport& report) noexcept {
  total.add(report.stages.total());
  wait.add(report.stages.wait);
  add_if_any(verify, report.stages.verify);
  add_if_any(commit, report.stages.commit);
  add_if_any(cancel, report.cancel);
  for (const RailReport& rail : report.rails) {
    if (rail.reads == 0) continue;
    const auto slices = static_cast<std::int64_t>(rail.reads);
    post.add(rail.times.post);
    queue.add(rail.times.queue);
    add_if_any(hash, rail.times.verify);
    slice.add(rail.times.slices / slices);
    add_if_any(disk, rail.times.disk / slices);
    add_if_any(send, rail.times.send / slices);
  }
}

void ReadHistograms::merge(const ReadHistograms& other) noexcept {
  for (const auto member : {&ReadHistograms::total, &ReadHistograms::wait, &ReadHistograms::verify,
                            &ReadHistograms::commit, &ReadHistograms::cancel, &ReadHistograms::post,
                            &ReadHistograms::queue, &ReadHistograms::hash, &ReadHistograms::slice,
                            &ReadHistograms::disk, &ReadHistograms::send}) {
    (this->*member).merge(other.*member);
  }
}

}  // namespace corail
