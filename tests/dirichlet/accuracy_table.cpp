#include <fmt/format.h>
#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/measure_table.h>
#include <testing/logits.h>

#include <map>

// Prints the accuracy table of docs/math.md: the worst relative error against 50 digits over logits in [-20, 40],
// random, all equal and one dominating, of all values above the absolute bound.

namespace priornet {
namespace {

struct Case {
  torch::Dtype dtype;
  WorstError bound;
};

using Worst = std::map<std::string, WorstError>;

void add_measures(Worst& worst, const torch::Tensor& logits) {
  const auto m = dirichlet_measures(logits);
  for (int64_t n = 0; n < logits.size(0); ++n) {
    const auto wanted = exact::measures(exact_row(logits, n));
    for (const auto& [name, values] : measure_columns(m))
      if (is_score(name)) worst.at(name).add(values[n].item<double>(), wanted.at(name), name);
  }
}

void add_divergence(Worst& worst, const torch::Tensor& p, const torch::Tensor& q) {
  const auto forward = kl_divergence(p, q), reverse = kl_divergence(q, p);
  for (int64_t n = 0; n < p.size(0); ++n) {
    const auto alpha = exact::concentrations(exact_row(p, n)), beta = exact::concentrations(exact_row(q, n));
    worst.at("KL").add(forward[n].item<double>(), exact::kl_divergence(alpha, beta), "KL");
    worst.at("KL").add(reverse[n].item<double>(), exact::kl_divergence(beta, alpha), "KL");
  }
}

Worst measure(const Case& kind, int64_t classes) {
  Worst worst;
  worst.emplace("KL", kind.bound);
  for (const auto& measure : measure_table())
    if (measure.dirichlet != nullptr && is_score(measure.name)) worst.emplace(measure.name, kind.bound);
  const int64_t rows = classes >= 1000 ? 4 : classes >= 100 ? 40 : 400;
  const auto shapes = {Shape::kRandom, Shape::kEqual, Shape::kDominated};
  for (const auto shape : shapes) {
    const auto logits = make_logits(shape, rows, classes, kind.dtype, 1);
    add_measures(worst, logits);
    for (const auto other : shapes) add_divergence(worst, logits, make_logits(other, rows, classes, kind.dtype, 2));
  }
  return worst;
}

}  // namespace
}  // namespace priornet

int main() {
  using namespace priornet;
  const std::vector<int64_t> classes{2, 3, 10, 100, 1000};
  for (const auto& kind : {Case{torch::kFloat64, {1e-11, 1e-13}}, Case{torch::kFloat32, {1e-6, 1e-12}}}) {
    std::map<std::string, std::string> lines;
    double share = 0;
    for (const auto K : classes) {
      for (const auto& [name, worst] : measure(kind, K)) {
        lines[name] += fmt::format(" {:.1e} |", worst.relative);
        share = std::max(share, worst.share);
      }
    }
    fmt::print("| {} | K = 2 | 3 | 10 | 100 | 1000 |\n|---|---|---|---|---|---|\n",
               kind.dtype == torch::kFloat64 ? "float64" : "float32");
    for (const auto& [name, line] : lines) fmt::print("| {} |{}\n", name, line);
    fmt::print("Worst share of the promised bound: {:.3f}\n\n", share);
  }
}
