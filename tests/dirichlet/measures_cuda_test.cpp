#include <priornet/uncertainty/measure_table.h>
#include <testing/accuracy.h>

#include <array>
#include <vector>

// The kernels for short, medium and long rows, in float32 and in float64, compared with 50 digits and with the CPU.

namespace priornet {
namespace {

const torch::Device kDevice(torch::kCUDA);
constexpr std::array kShapes{Shape::kRandom, Shape::kEqual, Shape::kDominated};

/// The scores, in the order of the table.
std::vector<torch::Tensor> columns(const DirichletMeasures& m) {
  std::vector<torch::Tensor> all;
  for (const auto& [name, values] : measure_columns(m))
    if (is_score(name)) all.push_back(values.cpu());
  return all;
}

std::vector<exact::Real> exact_columns(const exact::Measures& m) {
  std::vector<exact::Real> all;
  for (const auto& measure : measure_table())
    if (measure.dirichlet != nullptr && is_score(measure.name)) all.push_back(m.at(std::string(measure.name)));
  return all;
}

/// Both lie within the promised distance of the exact value, so within twice that distance of each other. Both are NaN
/// in the same places.
void expect_the_cpus(const torch::Tensor& logits, const torch::Tensor& there, const std::string& what) {
  const auto here = dirichlet_measures(logits), other = dirichlet_measures(there);
  EXPECT_TRUE(other.prediction.cpu().equal(here.prediction)) << what;
  const auto wanted = columns(here), found = columns(other);
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(torch::allclose(found[i], wanted[i], 2e-6, 2e-12, /*equal_nan=*/true)) << what << ", measure " << i;
}

TEST(MeasuresOnCuda, AreWithinThePromiseOfTheExactValues) {
  for (const int64_t classes : {2, 3, 7, 8, 9, 10, 16, 31, 32, 33, 100, 257, 1000}) {
    for (const auto shape : kShapes) {
      for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
        const bool single = dtype == torch::kFloat32;
        const auto logits = make_logits(shape, classes >= 100 ? 5 : 50, classes, dtype, 2);
        const auto found = columns(dirichlet_measures(logits.to(kDevice)));
        WorstError worst{single ? 1e-6 : 1e-11, single ? 1e-12 : 1e-13};
        for (int64_t n = 0; n < logits.size(0); ++n) {
          const auto wanted = exact_columns(exact::measures(exact_row(logits, n)));
          for (size_t i = 0; i < found.size(); ++i)
            worst.add(found[i][n].item<double>(), wanted[i], "measure " + std::to_string(i));
        }
        EXPECT_TRUE(within(worst)) << classes << " classes, " << name_of(shape) << ", " << logits.dtype();
      }
    }
  }
}

TEST(MeasuresOnCuda, AreTheCpusForAnyNumberOfRowsAndClasses) {
  for (const int64_t classes : {2, 7, 8, 9, 10, 16, 32, 33, 36, 64, 255, 256, 257, 260, 1000, 1001, 4100})
    for (const int64_t rows : {0, 1, 31, 129, 5001})
      for (const auto shape : kShapes) {
        const auto logits = make_logits(shape, rows, classes, torch::kFloat32, 7, -12, 25);
        expect_the_cpus(logits, logits.to(kDevice), std::to_string(rows) + " x " + std::to_string(classes));
      }
}

TEST(MeasuresOnCuda, TakeRowsThatAreNotAligned) {
  for (const int64_t classes : {8, 10, 40, 1000}) {
    const auto logits = make_logits(Shape::kRandom, 77, classes, torch::kFloat32, 8);
    const auto there = torch::empty({77 * classes + 1}, torch::TensorOptions(kDevice)).slice(0, 1).view({77, classes});
    there.copy_(logits);
    expect_the_cpus(logits, there, "off by one, " + std::to_string(classes));
    expect_the_cpus(logits.slice(1, 0, classes - 1), there.slice(1, 0, classes - 1), "without the last class");
  }
}

// Some rows hold values that float32 cannot hold, others do not.
TEST(MeasuresOnCuda, AreTheCpusForAnyLogit) {
  for (const int64_t classes : {2, 10, 33, 1000}) {
    auto logits = make_logits(Shape::kRandom, 500, classes, torch::kFloat32, 9, -5, 10);
    const std::vector<float> odd{65, -65, 90, -90, 700, -700, 1e5F, -1e5F, 3e38F, -3e38F, -INFINITY, NAN};
    for (size_t i = 0; i < odd.size(); ++i)
      for (const int64_t at : {int64_t{0}, classes / 2, classes - 1}) logits[17 * i + at % 7][at] = odd[i];
    logits[300].fill_(-70);
    logits[301].fill_(80);
    logits[302].fill_(-650);
    logits[303].fill_(-1e5F)[classes / 2] = -700;
    expect_the_cpus(logits, logits.to(kDevice), std::to_string(classes));
  }
}

// So many rows that one warp handles several groups of 32. In a group the first row is left for the slow way, or
// another row, or all rows.
TEST(MeasuresOnCuda, AreTheCpusForOddRowsAmongMany) {
  for (const int64_t classes : {8, 10, 32}) {
    for (const int64_t apart : {1, 32, 37, 4096}) {
      auto logits = make_logits(Shape::kRandom, 300'001, classes, torch::kFloat32, 11, -5, 10);
      logits.slice(0, 0, logits.size(0), apart).select(1, classes - 1).fill_(70);
      expect_the_cpus(logits, logits.to(kDevice), std::to_string(classes) + ", one of " + std::to_string(apart));
    }
  }
}

TEST(MeasuresOnCuda, PredictTheFirstOfEquals) {
  for (const int64_t classes : {3, 10, 64, 1000, 1001}) {
    const auto logits = torch::zeros({40, classes});
    for (int64_t n = 1; n < 40; ++n) logits[n][(7 * n) % classes] = logits[n][(5 * n + 2) % classes] = 3;
    EXPECT_TRUE(dirichlet_measures(logits.to(kDevice)).prediction.cpu().equal(dirichlet_measures(logits).prediction));
  }
}

TEST(MeasuresOnCuda, OfARowDoNotDependOnTheOthers) {
  for (const int64_t classes : {10, 100, 1000}) {
    const auto logits = make_logits(Shape::kRandom, 9000, classes, torch::kFloat32, 10).to(kDevice);
    const auto all = columns(dirichlet_measures(logits));
    const auto few = columns(dirichlet_measures(logits.slice(0, 8123, 8125)));
    for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(all[i].slice(0, 8123, 8125).equal(few[i]));
  }
}

}  // namespace
}  // namespace priornet
