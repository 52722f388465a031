#include <priornet/uncertainty/errors.h>
#include <testing/pictures.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include "tool/report/figure.h"

#include <cmath>

namespace priornet {
namespace {

Panel panel() {
  const auto points = cell_centres(20, 5.0);
  Panel panel;
  panel.title = "Distance, 'quoted' {braced}";
  panel.values = points.norm(2, 1).view({20, 20});
  panel.scale = {ColourMap::kViridis, {0.0, 7.0}, 1.0, "m"};
  return panel;
}

TEST(Panels, RenderWithPointsAndOutline) {
  auto decorated = panel();
  decorated.clouds = {{torch::rand({10, 2}), "#ff0000"}};
  decorated.outline = rows({{0, 0}, {NAN, NAN}, {1, 1}});
  expect_renders(draw_panels({{"one", {panel(), decorated}}, {"two", {panel(), panel()}}}, 5.0));
}

TEST(Panels, ShowTheirTitlesLiterally) {
  if (!can_render()) GTEST_SKIP() << kNoGnuplot;
  const auto svg = render(draw_panels({{"row", {panel()}}}, 5.0), FigureFormat::kSvg);
  EXPECT_NE(svg.find("Distance, 'quoted' {braced}"), std::string::npos);
}

// Row 0 is the lowest, columns run from left to right, and cells tile the square.
TEST(CellCentres, RunUpwardsFromTheLowerLeft) {
  const auto centres = cell_centres(4, 2.0).view({4, 4, 2});
  EXPECT_TRUE(centres[0][0].equal(torch::tensor({-1.5, -1.5}, torch::kFloat64)));
  EXPECT_TRUE(centres[0][3].equal(torch::tensor({1.5, -1.5}, torch::kFloat64)));
  EXPECT_TRUE(centres[3][0].equal(torch::tensor({-1.5, 1.5}, torch::kFloat64)));
}

TEST(Panels, RejectRaggedRowsAndOblongMaps) {
  EXPECT_THROWS(ArgumentError, draw_panels({{"one", {panel(), panel()}}, {"two", {panel()}}}, 5.0),
                "draw_panels: the number of panels of a row should be 2, found 1");
  auto oblong = panel();
  oblong.values = torch::zeros({3, 4});
  EXPECT_THROWS(ArgumentError, draw_panels({{"one", {oblong}}}, 5.0),
                "draw_panels: the second size of values should be 3, found 4");
}

}  // namespace
}  // namespace priornet
