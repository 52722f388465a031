#include <priornet/core/checks.h>
#include <priornet/experiments/seed_statistics.h>

#include <array>
#include <cmath>

namespace priornet {

double student_t(int64_t degrees) {
  check_range("student_t", "degrees", degrees >= 1, "at least 1", static_cast<double>(degrees));
  constexpr std::array<double, 9> kFew = {12.706205, 4.302653, 3.182446, 2.776445, 2.570582,
                                          2.446912,  2.364624, 2.306004, 2.262157};
  if (degrees <= static_cast<int64_t>(kFew.size())) return kFew[static_cast<size_t>(degrees - 1)];
  // Cornish-Fisher: the normal quantile z, corrected in powers of 1 / degrees.
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(degrees), square = z * z;
  const double first = z * (square + 1) / 4;
  const double second = z * ((5 * square + 16) * square + 3) / 96;
  const double third = z * (((3 * square + 19) * square + 17) * square - 15) / 384;
  return z + first / n + second / (n * n) + third / (n * n * n);
}

Estimate over_seeds(const std::vector<Estimate>& seeds) {
  check_range("over_seeds", "seeds", !seeds.empty(), "at least 1", 0.0);
  if (seeds.size() == 1) return seeds.front();
  const auto count = static_cast<double>(seeds.size());
  double mean = 0.0, squares = 0.0;
  for (const auto& seed : seeds) mean += seed.value / count;
  for (const auto& seed : seeds) squares += std::pow(seed.value - mean, 2);
  const double margin = student_t(static_cast<int64_t>(seeds.size()) - 1) * std::sqrt(squares / (count - 1) / count);
  return {mean, mean - margin, mean + margin};
}

}  // namespace priornet
