// The picture of a sweep.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/rail_sweep/sweep_row.h"

namespace corail::bench {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 400;
constexpr double kMargin = 60;

struct Curve {
  std::string_view name;
  std::string_view colour;
  double SweepRow::*value;
};

constexpr std::array kCurves{Curve{"theoretical", "#999999", &SweepRow::theoretical},
                             Curve{"whole stripes", "#d95f02", &SweepRow::balanced},
                             Curve{"aggregate", "#1b9e77", &SweepRow::aggregate}};

/// Places values in the picture, from 0 to the most of each axis.
struct Axes {
  double most_rails;
  double most_rate;

  double x(double rails) const { return kMargin + (kWidth - 2 * kMargin) * rails / most_rails; }
  double y(double rate) const {
    return kHeight - kMargin - (kHeight - 2 * kMargin) * rate / most_rate;
  }
};

std::string text(double x, double y, std::string_view anchor, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     words);
}

std::string draw(const Axes& axes, std::span<const SweepRow> rows, const Curve& curve,
                 std::size_t number) {
  std::string points, dots;
  for (const SweepRow& row : rows) {
    const double x = axes.x(row.rails);
    const double y = axes.y(row.*curve.value);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y,
                        curve.colour);
  }
  const double y = kMargin + 16 * static_cast<double>(number);
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n{}",
                     points, curve.colour, dots) +
         fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                     kMargin + 10, y - 9, curve.colour) +
         text(kMargin + 26, y, "start", std::string(curve.name));
}

}  // namespace

std::string rows_svg(std::span<const SweepRow> rows) {
  Axes axes{1, 1};
  for (const SweepRow& row : rows) {
    axes.most_rails = std::max(axes.most_rails, static_cast<double>(row.rails));
    axes.most_rate = std::max({axes.most_rate, row.theoretical, row.aggregate});
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, kHeight);
  svg += fmt::format(
      "<path d=\"M{0:.1f},{1:.1f} L{0:.1f},{2:.1f} L{3:.1f},{2:.1f}\" fill=\"none\" "
      "stroke=\"black\"/>\n",
      axes.x(0), axes.y(axes.most_rate), axes.y(0), axes.x(axes.most_rails));
  for (const SweepRow& row : rows) {
    svg += text(axes.x(row.rails), axes.y(0) + 18, "middle", std::to_string(row.rails));
  }
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double rate = part * axes.most_rate;
    svg += text(axes.x(0) - 6, axes.y(rate) + 4, "end", fmt::format("{:.0f}", rate));
  }
  svg += text(kWidth / 2, kHeight - 16, "middle", "rails");
  svg += text(kMargin, kMargin - 24, "middle", "MB/s");
  for (std::size_t i = 0; i < kCurves.size(); ++i) svg += draw(axes, rows, kCurves[i], i);
  return svg + "</svg>\n";
}

}  // namespace corail::bench
