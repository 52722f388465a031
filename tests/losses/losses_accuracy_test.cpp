#include <priornet/uncertainty/losses.h>
#include <testing/accuracy.h>
#include <testing/single_rows.h>

#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <vector>

#include "uncertainty/dirichlet/quick_double.h"
#include "uncertainty/losses/loss_row.h"

// Values and gradients of the losses against 50 digits.

namespace priornet {
namespace {

using Loss = std::function<torch::Tensor(const torch::Tensor&, const DirichletTarget&)>;

struct TargetCase {
  std::string name;
  std::function<DirichletTarget(const torch::Tensor&)> make;
};

DirichletTarget smoothed(const torch::Tensor& logits, double alpha0, double epsilon) {
  const auto labels = torch::arange(logits.size(0), torch::kInt64).remainder(logits.size(1));
  return DirichletTarget::smoothed_labels(labels, {alpha0, epsilon});
}

const std::vector<TargetCase> kTargets{
    {"sharp labels", [](const torch::Tensor& z) { return smoothed(z, 1e3, 0.09 / static_cast<double>(z.size(1))); }},
    {"labels with ones elsewhere", [](const torch::Tensor& z) { return smoothed(z, 2e3, 1 / 2e3); }},
    {"flat", [](const torch::Tensor&) { return DirichletTarget::flat(); }},
    {"teacher", [](const torch::Tensor& z) {
       const auto other = make_logits(Shape::kRandom, z.size(0), z.size(1), z.scalar_type(), 7, -3, 3);
       return DirichletTarget::teacher(torch::softmax(other, 1), 50);
     }}};

exact::Row exact_target(const DirichletTarget& target, const torch::Tensor& logits, int64_t n) {
  if (target.kind() == DirichletTarget::Kind::kTeacher) {
    exact::Row row = exact_row(target.probabilities(), n);
    for (auto& beta : row) beta *= target.alpha0();
    return row;
  }
  const auto classes = logits.size(1);
  exact::Row row(classes, exact::Real(target.concentration_elsewhere()));
  if (target.kind() == DirichletTarget::Kind::kSmoothedLabels)
    row[target.labels()[n].item<int64_t>()] = exact::Real(target.concentration_on_label(classes));
  return row;
}

exact::Real exact_loss(bool forward, const exact::Row& logits, const exact::Row& target) {
  const auto alpha = exact::concentrations(logits);
  return forward ? exact::kl_divergence(target, alpha) : exact::kl_divergence(alpha, target);
}

int64_t rows_for(int64_t classes) { return classes >= 1000 ? 1 : classes >= 100 ? 3 : 17; }

class LossAccuracy : public testing::TestWithParam<std::tuple<bool, int64_t, Shape>> {
 protected:
  void expect_values(torch::Dtype dtype, double relative, double absolute) {
    const auto [forward, classes, shape] = GetParam();
    const auto logits = make_logits(shape, rows_for(classes), classes, dtype, 3);
    for (const auto& [name, make] : kTargets) {
      const auto target = make(logits);
      const auto values = (forward ? forward_kl : reverse_kl)(logits, target).to(torch::kFloat64);
      WorstError worst{relative, absolute};
      for (int64_t n = 0; n < logits.size(0); ++n)
        worst.add(values[n].item<double>(), exact_loss(forward, exact_row(logits, n), exact_target(target, logits, n)),
                  name + ", row " + std::to_string(n));
      EXPECT_TRUE(within(worst)) << name;
    }
  }
};

TEST_P(LossAccuracy, Float64IsWithin1e11OfTheExactValue) { expect_values(torch::kFloat64, 1e-11, 1e-13); }

TEST_P(LossAccuracy, Float32IsWithin1e6OfTheExactValue) { expect_values(torch::kFloat32, 1e-6, 1e-12); }

/// The divergence of a row and its gradient, in the arithmetic that a GPU uses for float32.
template <RowDivergence kDivergence>
std::vector<double> quick_loss(const torch::Tensor& logits, double on, double off, double label) {
  const int64_t classes = logits.size(0);
  const auto constants = label_target(on, off, classes);
  const LabelTarget<QuickDouble> target{constants.on, constants.off, constants.sum, label};
  std::vector<KeptClass<QuickDouble>> kept(classes);
  std::vector<double> results(1 + classes);
  const auto values = logits.to(torch::kFloat64).contiguous();
  const ScalarRow<double> load{values.data_ptr<double>()};
  const auto extent = row_extent<QuickDouble>(load, classes);
  const auto store = [&](int64_t c, QuickDouble value) { results[1 + c] = as_double(value); };
  const auto loss = is_wide(extent)
                        ? loss_row<FloatDigits, kDivergence, true>(load, classes, extent, target, QuickDouble(label),
                                                                   {1.0, 0.0}, kept.data(), store)
                        : loss_row<FloatDigits, kDivergence, false>(load, classes, extent, target, QuickDouble(label),
                                                                    {1.0, 0.0}, kept.data(), store);
  results[0] = as_double(loss.divergence);
  return results;
}

TEST_P(LossAccuracy, Float32OfAGpuIsWithin1e6OfTheExactValueAndItsGradientWithin1e6OfFloat64s) {
  const auto [forward, classes, shape] = GetParam();
  const auto logits = make_logits(shape, rows_for(classes), classes, torch::kFloat32, 3);
  for (const auto& [name, make] : kTargets) {
    const auto target = make(logits);
    if (target.kind() == DirichletTarget::Kind::kTeacher) continue;
    const auto graph = logits.to(torch::kFloat64).requires_grad_();
    const auto of_double = (forward ? forward_kl : reverse_kl)(graph, target);
    const auto gradient = torch::autograd::grad({of_double.sum()}, {graph})[0];
    WorstError worst{1e-6, 1e-12};
    for (int64_t n = 0; n < logits.size(0); ++n) {
      const double label = target.kind() == DirichletTarget::Kind::kFlat ? -1.0 : target.labels()[n].item<double>();
      const double on = target.concentration_on_label(classes), off = target.concentration_elsewhere();
      const auto found = forward ? quick_loss<RowDivergence::kForward>(logits[n], on, off, label)
                                 : quick_loss<RowDivergence::kReverse>(logits[n], on, off, label);
      worst.add(found[0], exact_loss(forward, exact_row(logits, n), exact_target(target, logits, n)), name);
      const double largest = gradient[n].abs().max().item<double>();
      for (int64_t c = 0; c < classes; ++c)
        EXPECT_NEAR(found[1 + c], gradient[n][c].item<double>(), 1e-6 * largest + 1e-12) << name << ", class " << c;
    }
    EXPECT_TRUE(within(worst)) << name;
  }
}

/// The forward divergence of rows in the float32 of a GPU, held to the exact value and to float64's gradient; returns
/// how many rows float32 was enough for.
int64_t expect_single_within_1e6(const torch::Tensor& logits, const TargetCase& target_case) {
  const auto target = target_case.make(logits);
  const int64_t classes = logits.size(1);
  const auto graph = logits.to(torch::kFloat64).requires_grad_();
  const auto gradient = torch::autograd::grad({forward_kl(graph, target).sum()}, {graph})[0];
  WorstError worst{1e-6, 1e-12};
  int64_t enough = 0;
  for (int64_t n = 0; n < logits.size(0); ++n) {
    const auto label = target.kind() == DirichletTarget::Kind::kFlat ? -1 : target.labels()[n].item<int64_t>();
    const auto found = single_forward_kl(floats(logits[n]), target.concentration_on_label(classes),
                                         target.concentration_elsewhere(), label);
    if (!found.loss.enough) continue;
    ++enough;
    worst.add(found.loss.divergence, exact_loss(true, exact_row(logits, n), exact_target(target, logits, n)),
              target_case.name);
    const auto values = gradient[n].contiguous();
    const std::vector<double> wanted(values.data_ptr<double>(), values.data_ptr<double>() + classes);
    double largest = 0;
    for (const double element : wanted) largest = std::max(largest, std::abs(element));
    for (int64_t c = 0; c < classes; ++c) {
      EXPECT_NEAR(found.gradient[c], wanted[c], 1e-6 * largest + 1e-12) << target_case.name << ", class " << c;
      EXPECT_NEAR(found.gradient[c], wanted[c], 1e-6 * std::max(1.0, std::abs(wanted[c])))
          << target_case.name << ", class " << c;
    }
  }
  EXPECT_TRUE(within(worst)) << target_case.name;
  return enough;
}

TEST(SingleLoss, IsWithin1e6OfTheExactValueAndItsGradientWithin1e6OfFloat64s) {
  for (const auto& target : kTargets) {
    if (target.name == "teacher") continue;
    for (const int64_t classes : {16, 131, 1000}) {
      const int64_t rows = std::max<int64_t>(2, 300 / classes);
      const auto random = make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 3);
      EXPECT_EQ(expect_single_within_1e6(random, target), rows);
      const auto usual = make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 4, -5, 10);
      EXPECT_EQ(expect_single_within_1e6(usual, target), rows);
      const auto dominated = make_logits(Shape::kDominated, rows, classes, torch::kFloat32, 5);
      EXPECT_EQ(expect_single_within_1e6(dominated, target), rows);
      expect_single_within_1e6(make_logits(Shape::kEqual, rows, classes, torch::kFloat32, 6), target);
      expect_single_within_1e6(make_logits(Shape::kEqual, rows, classes, torch::kFloat32, 7, -2, 2), target);
    }
  }
}

// Around the target the divergence is small beside the terms that it is made of.
TEST(SingleLoss, LeavesRowsNearTheirTarget) {
  for (const auto& target : kTargets) {
    if (target.name == "teacher") continue;
    for (const int64_t classes : {16, 131}) {
      const auto noise = make_logits(Shape::kRandom, 8, classes, torch::kFloat64, 8, -1, 1);
      const auto around = target.make(noise).concentrations(noise).log();
      int64_t enough = 0;
      for (const double distance : {0.0, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0}) {
        const auto logits = (around + distance * noise).to(torch::kFloat32);
        const auto single = expect_single_within_1e6(logits, target);
        if (distance <= 0.1) EXPECT_EQ(single, 0) << target.name << " at " << distance;
        enough += single;
      }
      EXPECT_GE(enough, 16) << target.name;  // those that are farthest away
    }
  }
}

TEST(SingleLoss, SaysWhenFloat32DoesNotDo) {
  std::vector<float> usual(20, 1.0f);
  usual[2] = -60.0f;
  usual[3] = 60.0f;
  EXPECT_TRUE(single_forward_kl(usual, 10, 1, 0).loss.enough);
  for (const float odd : {65.0f, -65.0f, 1e4f, -1e4f, INFINITY, -INFINITY, NAN}) {
    for (const size_t at : {0, 4, 19}) {
      auto row = usual;
      row[at] = odd;
      EXPECT_FALSE(single_forward_kl(row, 10, 1, 0).loss.enough) << odd << " at " << at;
    }
  }
}

TEST(QuickLoss, OfANumberThatIsNoneIsNone) {
  auto logits = torch::tensor({1.0f, 2.0f, 0.5f});
  logits[1] = std::numeric_limits<float>::quiet_NaN();
  const auto found = quick_loss<RowDivergence::kForward>(logits, 10, 1, 0);
  EXPECT_TRUE(std::isnan(found[0]) && std::isnan(found[1]));
}

class LossGradient : public LossAccuracy {};

TEST_P(LossGradient, IsWithin1e9OfExactDifferences) {
  const auto [forward, classes, shape] = GetParam();
  const auto logits = make_logits(shape, 7, classes, torch::kFloat64, 4).requires_grad_();
  for (const auto& [name, make] : kTargets) {
    const auto target = make(logits);
    const auto weights = torch::arange(1, 8, torch::kFloat64);
    const auto gradient =
        torch::autograd::grad({(forward ? forward_kl : reverse_kl)(logits, target)}, {logits}, {weights})[0];
    WorstError worst{1e-9, 1e-13};
    for (int64_t n = 0; n < logits.size(0); ++n) {
      const auto beta = exact_target(target, logits, n);
      const auto loss = [&](const exact::Row& z) { return exact_loss(forward, z, beta); };
      for (int64_t c = 0; c < classes; ++c)
        worst.add(gradient[n][c].item<double>(),
                  weights[n].item<double>() * exact::derivative(loss, exact_row(logits.detach(), n), c),
                  name + ", row " + std::to_string(n) + ", class " + std::to_string(c));
    }
    EXPECT_TRUE(within(worst)) << name;
  }
}

const auto kShapes = testing::Values(Shape::kRandom, Shape::kEqual, Shape::kDominated);
INSTANTIATE_TEST_SUITE_P(Grid, LossAccuracy,
                         testing::Combine(testing::Bool(), testing::Values(2, 3, 10, 100, 1000), kShapes));
INSTANTIATE_TEST_SUITE_P(Grid, LossGradient, testing::Combine(testing::Bool(), testing::Values(2, 3, 10), kShapes));

}  // namespace
}  // namespace priornet
