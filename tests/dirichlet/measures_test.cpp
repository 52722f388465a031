#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>
#include <testing/accuracy.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include "uncertainty/dirichlet/measure_kernels.h"

#include <torch/csrc/autograd/autograd.h>

#include <functional>

namespace priornet {
namespace {

// Dir(1,1,1) is uniform on a simplex of area 1/2. For whole alpha, digamma is a harmonic number less Euler's constant,
// so Dir(2,3,5) gives 2689/360 - ln 7560.
TEST(DifferentialEntropy, MatchesClosedForms) {
  const auto logits = rows({{1, 1, 1}, {2, 3, 5}}).log();
  EXPECT_TRUE(near(differential_entropy(logits), vector({-std::log(2.0), 2689.0 / 360.0 - std::log(7560.0)})));
}

// E H of Dir(1,1) is the mean of -m ln m - (1-m) ln(1-m) over [0, 1]: 1/2.
TEST(ExpectedEntropy, OfTheUniformOverTwoClassesIsOneHalf) {
  EXPECT_TRUE(near(expected_entropy(torch::zeros({1, 2}, torch::kFloat64)), vector({0.5})));
  EXPECT_TRUE(near(mutual_information(torch::zeros({1, 2}, torch::kFloat64)), vector({std::log(2.0) - 0.5})));
}

TEST(Entropy, OfEqualLogitsIsTheLogarithmOfTheirNumber) {
  EXPECT_TRUE(
      near(entropy(torch::full({3, 7}, 2.5, torch::kFloat64)), vector({std::log(7), std::log(7), std::log(7)})));
}

TEST(MaxProbability, IsTheLargestOfTheExpectedCategorical) {
  const auto logits = make_logits(Shape::kRandom, 9, 5, torch::kFloat64, 1, -3, 3);
  EXPECT_TRUE(near(max_probability(logits), expected_categorical(logits).amax(1)));
  EXPECT_TRUE(dirichlet_measures(logits).prediction.equal(logits.argmax(1)));
}

TEST(Prediction, IsTheFirstOfEquals) {
  EXPECT_EQ(dirichlet_measures(rows({{1, 3, 3, 2}})).prediction.item<int64_t>(), 1);
}

// As alpha grows with p fixed, M.I. goes to (K - 1) / (2 alpha0), and as it shrinks, to the entropy of p.
TEST(MutualInformation, HasItsLimits) {
  const auto p = rows({{0.2, 0.3, 0.5}});
  EXPECT_TRUE(near(mutual_information((p * 1e15).log()) * 1e15, vector({1.0}), 1e-9));
  EXPECT_TRUE(near(mutual_information((p * 1e-15).log()), entropy(p.log())));
}

// (K - 1) / alpha0: 2 / 10 of Dir(2, 3, 5). As alpha grows with p fixed, it goes to twice the mutual information.
TEST(ExpectedPairwiseKl, HasItsValueAndItsLimit) {
  EXPECT_TRUE(near(dirichlet_measures(rows({{2, 3, 5}}).log()).expected_pairwise_kl, vector({0.2})));
  const auto precise = dirichlet_measures((rows({{0.2, 0.3, 0.5}}) * 1e12).log());
  EXPECT_TRUE(near(precise.expected_pairwise_kl, 2 * precise.mutual_information, 1e-9));
}

// Dir(2, 3, 5): sum alpha (10 - alpha) = 16 + 21 + 25 = 62, over 100 * 11 and 10 * 11; together 1 - 0.38.
TEST(VarianceMeasures, HaveTheirValuesAndAddUpToTheTotalVariance) {
  const auto known = dirichlet_measures(rows({{2, 3, 5}}).log());
  EXPECT_TRUE(near(known.epistemic_variance, vector({62.0 / 1100})));
  EXPECT_TRUE(near(known.aleatoric_variance, vector({62.0 / 110})));
  const auto logits = make_logits(Shape::kRandom, 40, 10, torch::kFloat64, 12, -5, 10);
  const auto m = dirichlet_measures(logits);
  EXPECT_TRUE(near(m.epistemic_variance + m.aleatoric_variance, 1 - expected_categorical(logits).pow(2).sum(1), 1e-12));
}

TEST(Measures, AreTheSumOfTheirParts) {
  const auto m = dirichlet_measures(make_logits(Shape::kRandom, 50, 10, torch::kFloat64, 2, -5, 10));
  EXPECT_TRUE(near(m.entropy, m.expected_entropy + m.mutual_information));
  EXPECT_TRUE(m.mutual_information.ge(0).all().item<bool>());
  EXPECT_TRUE(m.expected_entropy.ge(0).all().item<bool>());
}

TEST(Measures, DoNotChangeWithTheOrderOfClasses) {
  const auto logits = make_logits(Shape::kRandom, 20, 6, torch::kFloat64, 3);
  const auto flipped = logits.flip({1});
  EXPECT_TRUE(near(differential_entropy(logits), differential_entropy(flipped), 1e-12));
  EXPECT_TRUE(near(mutual_information(logits), mutual_information(flipped), 1e-12));
}

// Logits over the whole range of float32, positive and negative.
TEST(Measures, NeverOverflow) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    auto values = vector({-3.4e38, -1e10, -1000, -88, -20, 0, 40, 80, 89, 709, 1e5, 3.4e38}).to(dtype);
    const auto n = values.size(0);
    const auto logits = torch::stack({values.repeat_interleave(n), values.repeat({n})}, 1);
    const auto m = dirichlet_measures(logits);
    for (const auto& [name, column] : measure_columns(m))
      EXPECT_TRUE(column.isfinite().all().item<bool>()) << name << column;
    EXPECT_TRUE(near(m.entropy, m.expected_entropy + m.mutual_information, 1e-6));
  }
}

// Concentrations near 0 are corners of the simplex, -(K - 1) / alpha in float64; logits beyond -600 count as that.
TEST(DifferentialEntropy, IsLowForConcentrationsTooSmallToTell) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const auto logits = rows({{-600, -600, -600}, {-1e4, -1e4, -1e4}, {-700, -650, -640}, {-3e38, -1e4, -601}});
    const auto m = dirichlet_measures(logits.to(dtype));
    const auto wanted = dtype == torch::kFloat32 ? -3.4028234663852886e38 : -2 * std::exp(600.0);
    EXPECT_TRUE(near(m.differential_entropy, torch::full({4}, wanted, dtype), 1e-11));
  }
}

TEST(Precision, AddsUpWhatCountsAs600) {
  const auto large = precision(rows({{600, -600, 600}, {1e4, 1e4, 1e4}})) * std::exp(-600.0);
  EXPECT_TRUE(near(large, vector({2, 3}), 1e-11));
  const auto small = precision(rows({{-600, -600, -600}, {-1e4, -1e4, -1e4}})) * std::exp(600.0);
  EXPECT_TRUE(near(small, vector({3, 3}), 1e-11));
}

TEST(Measures, PassOnNaN) {
  auto logits = torch::zeros({3, 4});
  logits[1][2] = NAN;
  const auto m = dirichlet_measures(logits);
  for (const auto& [name, column] : measure_columns(m))
    if (is_score(name) && name != "expected_entropy") {
      EXPECT_TRUE(column.isnan().equal(torch::tensor({false, true, false}))) << name;
    }
  const auto wide = dirichlet_measures(vector({200, NAN, -1e4}).unsqueeze(0));
  for (const auto& measure : {wide.entropy, wide.mutual_information, wide.differential_entropy, wide.precision})
    EXPECT_TRUE(measure.isnan().item<bool>());
}

TEST(Measures, TakeNoRowsAndStridedRows) {
  EXPECT_EQ(dirichlet_measures(torch::zeros({0, 3})).entropy.numel(), 0);
  const auto logits = make_logits(Shape::kRandom, 3, 17, torch::kFloat64, 4, -3, 3);
  EXPECT_TRUE(near(entropy(logits.t()), entropy(logits.t().contiguous())));
}

TEST(Measures, RejectWhatIsNotLogits) {
  EXPECT_THROWS(ArgumentError, differential_entropy(torch::zeros({3})),
                "differential_entropy: logits should be [N, K] with at least 2 classes, found shape [3]");
  EXPECT_THROWS(ArgumentError, entropy(torch::zeros({3, 1})),
                "entropy: logits should be [N, K] with at least 2 classes, found shape [3, 1]");
  EXPECT_THROWS(ArgumentError, precision(torch::zeros({3, 2}, torch::kInt64)),
                "precision: logits should be float32 or float64, found Long");
}

// Vectorised equals looped, for every instruction set, at sizes that leave lanes over, within the rounding of a sum.
TEST(MeasureKernels, AgreeAcrossInstructionSets) {
  for (const auto set : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (!is_supported(set)) continue;
    for (const int64_t classes : {2, 3, 64, 65, 200}) {
      const auto logits = make_logits(Shape::kRandom, 13, classes, torch::kFloat64, 5);
      const auto whole = dirichlet_measures(logits);
      auto out = torch::full({kDirichletMeasures, 13}, NAN, torch::kFloat64);
      auto prediction = torch::full({13}, -1, torch::kInt64);
      MeasureRows<double> work{logits.data_ptr<double>(), 13, classes, prediction.data_ptr<int64_t>(), {}};
      for (int m = 0; m < kDirichletMeasures; ++m) work.measures[m] = out[m].data_ptr<double>();
      for (int64_t n = 0; n < 13; n += 5) measure_rows(work, n, std::min<int64_t>(n + 5, 13), set);
      EXPECT_TRUE(prediction.equal(whole.prediction)) << name_of(set);
      int64_t m = 0;
      for (const auto& [name, column] : measure_columns(whole))
        if (is_score(name)) {
          EXPECT_TRUE(near(out[m++], column)) << name << ", " << name_of(set);
        }
    }
  }
}

TEST(MeasureGradients, AreWithin1e9OfExactDifferences) {
  for (const auto shape : {Shape::kRandom, Shape::kEqual, Shape::kDominated}) {
    for (const int64_t classes : {2, 3, 10}) {
      const auto logits = make_logits(shape, 5, classes, torch::kFloat64, 6).requires_grad_();
      const auto weights = torch::arange(1, 6, torch::kFloat64);
      std::map<exact::Row, exact::Measures>
          known;  // exact measures of the shifted rows, which the differences of all measures share
      for (const auto& [name, column] : measure_columns(dirichlet_measures(logits))) {
        if (!is_score(name)) continue;
        if (name == "max_prob" && shape == Shape::kEqual) continue;  // it has no derivative there
        const auto gradient = torch::autograd::grad({column}, {logits}, {weights}, true)[0];
        WorstError worst{1e-9, 1e-13};
        const auto value = [&, key = name](const exact::Row& z) {
          const auto [place, is_new] = known.try_emplace(z);
          if (is_new) place->second = exact::measures(z);
          return place->second.at(key);
        };
        for (int64_t n = 0; n < 5; ++n)
          for (int64_t c = 0; c < classes; ++c)
            worst.add(gradient[n][c].item<double>(),
                      weights[n].item<double>() * exact::derivative(value, exact_row(logits.detach(), n), c),
                      "row " + std::to_string(n) + ", class " + std::to_string(c));
        EXPECT_TRUE(within(worst)) << name << ", " << classes << " classes, " << name_of(shape);
      }
    }
  }
}

TEST(MeasureGradients, AddUpOverMeasures) {
  const auto logits = make_logits(Shape::kRandom, 4, 5, torch::kFloat32, 7, -2, 5).requires_grad_();
  const auto m = dirichlet_measures(logits);
  const auto both = torch::autograd::grad({(2 * m.entropy + m.differential_entropy).sum()}, {logits})[0];
  const auto first = torch::autograd::grad({entropy(logits).sum()}, {logits})[0];
  const auto second = torch::autograd::grad({differential_entropy(logits).sum()}, {logits})[0];
  EXPECT_TRUE(near(both, 2 * first + second, 1e-5));
}

}  // namespace
}  // namespace priornet
