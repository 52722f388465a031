#pragma once

#include <gtest/gtest.h>
#include "tool/report/figure.h"

#include <string>

namespace priornet {

/// Width and height from the header of a PNG; fails the test if it is none.
inline std::pair<int, int> png_size(const std::string& png) {
  if (png.size() < 24 || png.compare(0, 8, "\x89PNG\r\n\x1a\n") != 0) {
    ADD_FAILURE() << "no PNG";
    return {};
  }
  const auto number = [&](size_t at) {
    int value = 0;
    for (size_t i = at; i < at + 4; ++i) value = 256 * value + static_cast<unsigned char>(png[i]);
    return value;
  };
  return {number(16), number(20)};
}

/// Both formats come out, of the figure's size.
inline void expect_renders(const Figure& figure) {
  if (!can_render()) GTEST_SKIP() << kNoGnuplot;
  const auto svg = render(figure, FigureFormat::kSvg);
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_NE(svg.find("viewBox=\"0 0 " + std::to_string(figure.width) + " " + std::to_string(figure.height) + "\""),
            std::string::npos);
  EXPECT_EQ(png_size(render(figure, FigureFormat::kPng)), std::pair(2 * figure.width, 2 * figure.height));
}

}  // namespace priornet
