#include <fmt/format.h>
#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/measure_table.h>
#include <testing/accuracy.h>
#include <testing/single_rows.h>

#include <map>

// Prints the accuracy tables of docs/math.md: the worst relative error against 50 digits over logits in [-20, 40],
// random, all equal and one dominating, of all values above the absolute bound; and for float32 rows as a GPU computes
// them, measures and losses, the worst share of the bound, against float64, over many more rows.

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

/// The scores of a Dirichlet, in the order of the table and of the kernels.
std::vector<std::string> score_names() {
  std::vector<std::string> names;
  for (const auto& measure : measure_table())
    if (measure.dirichlet != nullptr && is_score(measure.name)) names.emplace_back(measure.name);
  return names;
}

/// Adds to the worst share of the bound of each score.
void add_single_rows(std::vector<double>& worst, const torch::Tensor& logits) {
  const auto wanted = measure_columns(dirichlet_measures(logits.to(torch::kFloat64)));
  std::vector<torch::Tensor> columns;
  for (const auto& [name, values] : wanted)
    if (is_score(name)) columns.push_back(values);
  for (int64_t n = 0; n < logits.size(0); ++n) {
    const auto row = single_row(floats(logits[n]), lanes_for(logits.size(1)));
    for (size_t m = 0; m < columns.size(); ++m) {
      const double exact = columns[m].data_ptr<double>()[n];
      const double error = std::abs(static_cast<double>(row.measures[m]) - exact);
      worst[m] = std::max(worst[m], error / std::max(1e-6 * std::abs(exact), 1e-12));
    }
  }
}

std::vector<double> single_row_errors(int64_t classes) {
  std::vector<double> worst(score_names().size());
  const int64_t rows = (classes >= 1000 ? 20'000 : classes >= 100 ? 60'000 : 400'000) / 5;
  for (const auto shape : {Shape::kRandom, Shape::kEqual, Shape::kDominated})
    add_single_rows(worst, make_logits(shape, rows, classes, torch::kFloat32, 3));
  // Around the flat Dirichlet.
  add_single_rows(worst, make_logits(Shape::kEqual, rows, classes, torch::kFloat32, 4, -0.5, 0.5));
  add_single_rows(worst, make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 5, -2, 2));
  return worst;
}

struct LossErrors {
  double value = 0, gradient = 0;  ///< as a share of the bounds
};

/// Adds the forward divergence of rows from labels or, with off = on, from one concentration for all classes.
void add_single_losses(LossErrors& worst, const torch::Tensor& logits, double on, double off) {
  const int64_t classes = logits.size(1);
  const auto constants = label_target(on, off, classes);
  const auto exact_logits = logits.to(torch::kFloat64);
  std::vector<KeptClass<double>> kept(classes);
  std::vector<double> gradient(classes);
  for (int64_t n = 0; n < logits.size(0); ++n) {
    const int64_t label = n % classes;
    const auto row = single_forward_kl(floats(logits[n]), on, off, label);
    if (!row.loss.enough) continue;
    const ScalarRow<double> load{exact_logits.data_ptr<double>() + n * classes};
    const auto exact = loss_row<DoubleDigits, RowDivergence::kForward, false>(
        load, classes, row_extent<double>(load, classes),
        LabelTarget<double>{constants.on, constants.off, constants.sum, static_cast<double>(label)}, -1.0, {1.0, 0.0},
        kept.data(), [&](int64_t c, double value) { gradient[c] = value; });
    worst.value =
        std::max(worst.value, std::abs(row.loss.divergence - exact.divergence) / (1e-6 * std::abs(exact.divergence)));
    for (int64_t c = 0; c < classes; ++c)
      worst.gradient = std::max(
          worst.gradient, std::abs(row.gradient[c] - gradient[c]) / (1e-6 * std::max(1.0, std::abs(gradient[c]))));
  }
}

LossErrors single_loss_errors(int64_t classes) {
  LossErrors worst;
  const int64_t rows = 200'000 / classes;
  std::vector<torch::Tensor> kinds{make_logits(Shape::kEqual, rows, classes, torch::kFloat32, 4, -2, 2),
                                   make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 5, -2, 2),
                                   make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 6, -5, 10)};
  for (const auto shape : {Shape::kRandom, Shape::kEqual, Shape::kDominated})
    kinds.push_back(make_logits(shape, rows, classes, torch::kFloat32, 3));
  for (const double beta0 : {0.0, 1e2, 1e3, 1e6}) {  // 0: flat
    const double off = beta0 == 0 ? 1.0 : 0.1 * beta0 / static_cast<double>(classes);
    const double on = beta0 == 0 ? 1.0 : beta0 - static_cast<double>(classes - 1) * off;
    for (const auto& logits : kinds) add_single_losses(worst, logits, on, off);
    const auto around = make_logits(Shape::kRandom, rows, classes, torch::kFloat32, 7, -1.5, 1.5) + std::log(off);
    for (int64_t n = 0; n < rows; ++n) around[n][n % classes] += static_cast<float>(std::log(on / off));
    add_single_losses(worst, around, on, off);
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
    auto names = score_names();
    names.emplace_back("KL");
    for (const auto& name : names) fmt::print("| {} |{}\n", name, lines.at(name));
    fmt::print("\nWorst error of all as a share of its bound: {:.3f}\n\n", share);
  }
  std::vector<std::string> lines(score_names().size());
  for (const int64_t K : {8, 10, 32, 100, 1000}) {
    const auto worst = single_row_errors(K);
    for (size_t m = 0; m < lines.size(); ++m) lines[m] += fmt::format(" {:.2f} |", worst[m]);
  }
  fmt::print("| | K = 8 | 10 | 32 | 100 | 1000 |\n|---|---|---|---|---|---|\n");
  for (size_t m = 0; m < lines.size(); ++m) fmt::print("| {} |{}\n", score_names()[m], lines[m]);
  std::string values, gradients;
  for (const int64_t K : {16, 32, 100, 1000}) {
    const auto worst = single_loss_errors(K);
    values += fmt::format(" {:.2f} |", worst.value);
    gradients += fmt::format(" {:.2f} |", worst.gradient);
  }
  fmt::print("\n| | K = 16 | 32 | 100 | 1000 |\n|---|---|---|---|---|\n");
  fmt::print("| forward KL |{}\n| its gradient |{}\n", values, gradients);
}
