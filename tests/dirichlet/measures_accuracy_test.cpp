#include <priornet/uncertainty/measure_table.h>
#include <testing/accuracy.h>
#include "uncertainty/dirichlet/measure_kernels.h"

#include <functional>

namespace priornet {
namespace {

class Accuracy : public testing::TestWithParam<std::tuple<int64_t, Shape>> {};

void expect_accurate(const torch::Tensor& logits, double relative_bound, double absolute_bound) {
  const auto measures = dirichlet_measures(logits);
  std::vector<exact::Measures> references;
  for (int64_t n = 0; n < logits.size(0); ++n) references.push_back(exact::measures(exact_row(logits, n)));
  for (const auto& [name, column] : measure_columns(measures)) {
    if (!is_score(name)) continue;
    WorstError worst{relative_bound, absolute_bound};
    const auto values = column.to(torch::kFloat64);
    for (int64_t n = 0; n < logits.size(0); ++n)
      worst.add(values[n].item<double>(), references[n].at(name), name + " of row " + std::to_string(n));
    EXPECT_TRUE(within(worst)) << name;
    testing::Test::RecordProperty(name, std::to_string(worst.relative));
  }
}

int64_t rows_for(int64_t classes) { return classes >= 1000 ? 8 : classes >= 100 ? 31 : 101; }

TEST_P(Accuracy, Float64IsWithin1e11OfTheExactValue) {
  const auto [classes, shape] = GetParam();
  expect_accurate(make_logits(shape, rows_for(classes), classes, torch::kFloat64, 1), 1e-11, 1e-13);
}

TEST_P(Accuracy, Float32IsWithin1e6OfTheExactValue) {
  const auto [classes, shape] = GetParam();
  expect_accurate(make_logits(shape, rows_for(classes), classes, torch::kFloat32, 2), 1e-6, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Grid, Accuracy,
                         testing::Combine(testing::Values(2, 3, 10, 100, 1000),
                                          testing::Values(Shape::kRandom, Shape::kEqual, Shape::kDominated)));

}  // namespace
}  // namespace priornet
