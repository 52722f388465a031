#include <priornet/uncertainty/errors.h>
#include <testing/pictures.h>
#include <testing/throws.h>
#include "tool/report/figure.h"

namespace priornet {
namespace {

TEST(Simplex, RendersPointsAndDensities) {
  expect_renders(draw_simplexes({{"(a) Ensemble", {}, torch::full({5, 3}, 1.0 / 3)},
                                 {"(b) Flat", torch::zeros({3}), {}},
                                 {"(c) Sharp", torch::full({3}, 8.0), {}}}));
}

// Sides of length 1: the triangle is equilateral.
TEST(ToPlane, PutsClassesAtEqualDistances) {
  const auto corners = to_plane(torch::eye(3, torch::kFloat64));
  for (int64_t i = 0; i < 3; ++i) EXPECT_NEAR((corners[i] - corners[(i + 1) % 3]).norm().item<double>(), 1.0, 1e-15);
}

TEST(ToSimplex, UndoesToPlane) {
  const auto categoricals = torch::rand({50, 3}, torch::kFloat64).softmax(1);
  EXPECT_TRUE(to_simplex(to_plane(categoricals)).allclose(categoricals, 1e-14, 1e-14));
}

TEST(ToSimplex, IsNegativeOutsideTheTriangle) {
  const auto outside = torch::tensor({{0.5, -0.1}, {0.0, 0.5}, {1.0, 0.5}, {0.5, 0.9}}, torch::kFloat64);
  EXPECT_TRUE((std::get<0>(to_simplex(outside).min(1)) < 0).all().item<bool>());
}

TEST(Simplex, RejectsOtherNumbersOfClasses) {
  EXPECT_THROWS(ArgumentError, to_plane(torch::zeros({2, 4})),
                "to_plane: the second size of categoricals should be 3, found 4");
}

}  // namespace
}  // namespace priornet
