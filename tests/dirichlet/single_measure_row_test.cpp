#include <priornet/uncertainty/measure_table.h>
#include <testing/accuracy.h>
#include <testing/single_rows.h>

#include <vector>

namespace priornet {
namespace {

void expect_within_1e6(const torch::Tensor& logits, const std::string& what) {
  std::vector<WorstError> worst(kDirichletMeasures, WorstError{1e-6, 1e-12});
  std::vector<std::string> names;  // in the order of the kernels, which is the order of the table
  for (const auto& measure : measure_table())
    if (measure.dirichlet != nullptr && is_score(measure.name)) names.emplace_back(measure.name);
  ASSERT_EQ(names.size(), worst.size());
  for (int64_t n = 0; n < logits.size(0); ++n) {
    const auto exact = exact::measures(exact_row(logits, n));
    const auto found = single_row(floats(logits[n]), lanes_for(logits.size(1)));
    EXPECT_TRUE(found.enough);
    for (size_t m = 0; m < names.size(); ++m)
      worst[m].add(static_cast<double>(found.measures[m]), exact.at(names[m]), names[m]);
  }
  for (const auto& error : worst) EXPECT_TRUE(within(error)) << what;
}

TEST(SingleMeasureRow, IsWithin1e6OfTheExactValue) {
  for (const int64_t classes : {8, 10, 32, 100, 1000})
    for (const auto shape : {Shape::kRandom, Shape::kEqual, Shape::kDominated})
      expect_within_1e6(make_logits(shape, std::max<int64_t>(1, 300 / classes), classes, torch::kFloat32, 3),
                        std::to_string(classes) + " classes, " + name_of(shape));
}

// Here one kind of polynomial takes over from the other, and all values are close to 1.
TEST(SingleMeasureRow, IsWithin1e6AroundTheFlatDirichlet) {
  for (const int64_t classes : {8, 10, 33}) {
    const int64_t rows = 200 / classes;
    expect_within_1e6(make_logits(Shape::kEqual, rows, classes, torch::kFloat32, 4, -0.5, 0.5), "equal");
    expect_within_1e6(make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 5, -2, 2), "random");
  }
}

TEST(SingleMeasureRow, SaysWhenFloat32DoesNotDo) {
  const std::vector<float> usual{1, 2, 3, -4, 5, -60, 60};
  EXPECT_TRUE(single_row(usual, 1).enough);
  for (const float odd : {65.0f, -65.0f, 1e4f, -1e4f, INFINITY, -INFINITY, NAN}) {
    for (const size_t at : {0, 3, 6}) {
      auto row = usual;
      row[at] = odd;
      EXPECT_FALSE(single_row(row, 1).enough) << odd << " at " << at;
    }
  }
}

TEST(SingleExp, IsWithin1e7OfTheExactValue) {
  double worst = 0;
  for (float z = -80; z <= 80; z += 0.00731f) {
    const double exact = std::exp(static_cast<double>(z));
    worst = std::max(worst, std::abs(static_cast<double>(single_exp(z)) - exact) / exact);
  }
  EXPECT_LT(worst, 1.1e-7);
}

// The last steps of a row need these: exponentials of logits, their sums and products.
TEST(QuickDouble, DividesAndTakesExponentialsAndLogarithmsAsFloatDigitsDo) {
  double inverse = 0, exponential = 0, logarithm = 0;
  for (double z = -75; z <= 75; z += 0.000731) {
    const double x = std::exp(z), above_1 = 1 + x;
    inverse = std::max(inverse, std::abs((1.0 / QuickDouble(x)).value * x - 1));
    exponential = std::max(exponential, std::abs(exp_of<FloatDigits>(QuickDouble(z)).value / x - 1));
    logarithm = std::max(logarithm, std::abs(log_of(QuickDouble(x)).value / std::log(x) - 1));
    logarithm = std::max(logarithm,
                         std::abs(log_of(QuickDouble(above_1)).value - std::log(above_1)) / (1e-4 + std::log(above_1)));
  }
  EXPECT_LT(inverse, 1e-15);
  EXPECT_LT(exponential, 6e-13);
  EXPECT_LT(logarithm, 6e-13);
}

}  // namespace
}  // namespace priornet
