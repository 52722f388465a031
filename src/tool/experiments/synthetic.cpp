#include "tool/experiments/synthetic.h"

#include <fmt/format.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measures.h>
#include <priornet/uncertainty/random.h>
#include <torch/optim/adam.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>
#include <utility>

#include "learning/base/json_text.h"
#include "tool/experiments/experiment.h"
#include "tool/experiments/synthetic_figures.h"
#include "tool/report/figure.h"
#include "tool/report/table.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

void check(const SyntheticOptions& options) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    check_range("run_synthetic", name, value >= least, fmt::format("at least {}", least), static_cast<double>(value));
  };
  at_least("hidden", options.hidden, 1);
  at_least("batch", options.batch, 1);
  at_least("points", options.points, options.batch);
  at_least("epochs", options.epochs, 1);
  at_least("test_points", options.test_points, 2);
  at_least("grid", options.grid, 2);
  at_least("shown_points", options.shown_points, 0);
  check_range("run_synthetic", "alpha0", options.alpha0 > GaussianClasses::kClasses, "above 3", options.alpha0);
}

double fraction(const torch::Tensor& flags) { return flags.to(torch::kFloat64).mean().item<double>(); }

/// The data that every network of one sigma is measured on.
struct TestData {
  LabelledPoints inside;
  torch::Tensor outside;
  torch::Tensor cells;
};

Separation separation(const torch::Tensor& outside, const torch::Tensor& inside) {
  const Ranking ranking({.positive = span_of(outside), .negative = span_of(inside)});
  const auto interval = delong_interval(ranking);
  return {auroc(ranking), interval.low, interval.high};
}

SyntheticModel evaluate(const char* name, const TrainedNetwork& trained, const TestData& test,
                        const SyntheticOptions& options) {
  const torch::NoGradGuard no_grad;
  auto network = trained.network;
  const auto measure = [&](const torch::Tensor& points) {
    // In float64: near the flat Dirichlet float32 leaves too few distinct values to rank by.
    return dirichlet_measures(network->forward(points.to(options.device)).to(torch::kCPU, torch::kFloat64));
  };
  const auto inside = measure(test.inside.points), outside = measure(test.outside), map = measure(test.cells);
  const auto square = [&](const torch::Tensor& values) { return values.view({options.grid, options.grid}); };
  SyntheticModel model;
  model.name = name;
  model.accuracy = fraction(inside.prediction == test.inside.labels);
  model.loss = trained.loss;
  model.entropy = separation(outside.entropy, inside.entropy);
  model.mutual_information = separation(outside.mutual_information, inside.mutual_information);
  model.differential_entropy = separation(outside.differential_entropy, inside.differential_entropy);
  model.entropy_map = square(map.entropy);
  model.expected_entropy_map = square(map.expected_entropy);
  model.mutual_information_map = square(map.mutual_information);
  model.differential_entropy_map = square(map.differential_entropy);
  return model;
}

SyntheticCase run_case(const GaussianClasses& classes, const SyntheticOptions& options, Progress& progress) {
  const auto seed = derive_seed(options.seed, fmt::format("data {}", classes.sigma));
  const auto train = sample(classes, options.points, derive_seed(seed, "train"));
  const TestData test{sample(classes, options.test_points, derive_seed(seed, "test inside")),
                      sample_outside(classes, options.test_points, derive_seed(seed, "test outside")),
                      cell_centres(options.grid, kHalfSide).to(torch::kFloat32)};
  SyntheticCase result;
  result.classes = classes;
  result.bayes_accuracy = 1.0 - bayes_error(classes);
  result.bayes_test_accuracy = fraction(log_posterior(classes, test.inside.points).argmax(1) == test.inside.labels);
  result.outside_share = 1.0 - fraction(in_data_region(classes, test.inside.points));
  const auto shown = std::min(options.shown_points, options.points);
  result.shown = {train.points.narrow(0, 0, shown), train.labels.narrow(0, 0, shown)};
  result.posterior_entropy_map = posterior_entropy(classes, test.cells).view({options.grid, options.grid});
  const auto fit = [&](SyntheticKind kind) { return train_synthetic(kind, classes, train, options, progress); };
  result.dnn = evaluate("DNN", fit(SyntheticKind::kDnn), test, options);
  result.dpn = evaluate("DPN", fit(SyntheticKind::kDpn), test, options);
  return result;
}

}  // namespace

SyntheticResult run_synthetic(const SyntheticOptions& options, Progress& progress) {
  check(options);
  SyntheticResult result{options, {}};
  for (const double sigma : options.sigmas) result.cases.push_back(run_case({.sigma = sigma}, options, progress));
  return result;
}

namespace {

/// Share of the peak learning rate at `step` of `steps`.
double schedule(int64_t step, int64_t steps) {
  constexpr double kWarmUp = 0.1;
  const double done = (static_cast<double>(step) + 0.5) / static_cast<double>(steps);
  if (done < kWarmUp) return done / kWarmUp;
  return 0.5 * (1.0 + std::cos(std::numbers::pi * (done - kWarmUp) / (1.0 - kWarmUp)));
}

class Trainer {
 public:
  Trainer(SyntheticKind kind, const GaussianClasses& classes, const SyntheticOptions& options)
      : kind_(kind),
        classes_(classes),
        options_(options),
        seed_(derive_seed(options.seed, fmt::format("{} {}", name(), classes.sigma))),
        network_(MLPOptions{.inputs = 2,
                            .hidden = {options.hidden},
                            .classes = GaussianClasses::kClasses,
                            .input_scale = options.input_scale},
                 make_generator(derive_seed(seed_, "weights"))) {
    network_->to(options.device);
    loss_options_.divergence = options.divergence;
    loss_options_.target = {.alpha0 = options.alpha0, .epsilon = 1.0 / options.alpha0};
  }

  TrainedNetwork train(const LabelledPoints& data, Progress& progress) {
    torch::optim::Adam optimiser(network_->parameters());
    const auto steps_per_epoch = options_.points / options_.batch;
    const auto steps = steps_per_epoch * options_.epochs;
    const auto task = fmt::format("{}, sigma {:g}", name(), classes_.sigma);
    auto order_generator = make_generator(derive_seed(seed_, "order"));
    int64_t step = 0;
    double mean = 0.0;
    for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      progress.report(task, epoch, options_.epochs);
      const auto order = torch::randperm(options_.points, order_generator);
      const auto points = data.points.index_select(0, order).to(options_.device);
      const auto labels = data.labels.index_select(0, order).to(options_.device);
      const auto outside = draw_outside(epoch);
      auto sum = torch::zeros({}, torch::TensorOptions(options_.device).dtype(torch::kFloat64));
      for (int64_t i = 0; i < steps_per_epoch; ++i, ++step) {
        static_cast<torch::optim::AdamOptions&>(optimiser.param_groups()[0].options())
            .lr(options_.learning_rate * schedule(step, steps));
        const auto first = i * options_.batch;
        const auto loss = loss_of(points.narrow(0, first, options_.batch), labels.narrow(0, first, options_.batch),
                                  outside.defined() ? outside.narrow(0, first, options_.batch) : outside);
        optimiser.zero_grad();
        loss.backward();
        optimiser.step();
        sum += loss.detach();
      }
      mean = sum.item<double>() / static_cast<double>(steps_per_epoch);
      if (!std::isfinite(mean)) throw Error(fmt::format("training the {} diverged in epoch {}", task, epoch + 1));
    }
    progress.report(task, options_.epochs, options_.epochs);
    return {network_, mean};
  }

 private:
  const char* name() const { return kind_ == SyntheticKind::kDnn ? "DNN" : "DPN"; }

  torch::Tensor draw_outside(int64_t epoch) const {
    if (kind_ == SyntheticKind::kDnn) return {};
    const auto seed = derive_seed(seed_, fmt::format("outside {}", epoch));
    return sample_outside(classes_, options_.points, seed).to(options_.device);
  }

  torch::Tensor loss_of(const torch::Tensor& points, const torch::Tensor& labels, const torch::Tensor& outside) {
    if (kind_ == SyntheticKind::kDnn) return cross_entropy(network_->forward(points), labels).mean();
    return prior_network_loss(network_->forward(torch::cat({points, outside})), labels, loss_options_).total;
  }

  SyntheticKind kind_;
  GaussianClasses classes_;
  SyntheticOptions options_;
  uint64_t seed_;
  MLP network_;
  PriorNetworkLossOptions loss_options_;
};

}  // namespace

TrainedNetwork train_synthetic(SyntheticKind kind, const GaussianClasses& classes, const LabelledPoints& train,
                               const SyntheticOptions& options, Progress& progress) {
  return Trainer(kind, classes, options).train(train, progress);
}

namespace {

using Json = nlohmann::ordered_json;

struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
};

template <typename Value>
Spread spread_of(const std::vector<SyntheticResult>& results, size_t index, Value&& value) {
  const auto count = static_cast<double>(results.size());
  Spread spread;
  for (const auto& result : results) spread.mean += value(result.cases[index]) / count;
  for (const auto& result : results)
    spread.deviation += std::pow(value(result.cases[index]) - spread.mean, 2) / std::max(1.0, count - 1);
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

using ModelOf = SyntheticModel SyntheticCase::*;
using MeasureOf = Separation SyntheticModel::*;

Cell separation_cell(const std::vector<SyntheticResult>& results, size_t index, ModelOf model, MeasureOf measure) {
  const auto [mean, deviation] =
      spread_of(results, index, [&](const SyntheticCase& entry) { return (entry.*model.*measure).auroc; });
  const auto& only = results.front().cases[index].*model.*measure;
  const bool is_one = results.size() == 1;
  const double margin = is_one ? (only.high - only.low) / 2 : deviation;
  const CellContext context{is_one ? only.low : mean - margin, is_one ? only.high : mean + margin, std::nullopt, false};
  // Training does not set the precision of a plain network: see the note.
  const bool flagged = model == &SyntheticCase::dnn && measure != &SyntheticModel::entropy;
  return Cell::number(mean, fmt::format("{}{:.4f} ± {:.4f}", flagged ? "* " : "", mean, margin), context);
}

Json to_json(const Separation& separation) {
  return {{"auroc", separation.auroc}, {"low", separation.low}, {"high", separation.high}};
}

Json to_json(const SyntheticModel& model) {
  return {{"accuracy", model.accuracy},
          {"final_loss", model.loss},
          {"entropy", to_json(model.entropy)},
          {"mutual_information", to_json(model.mutual_information)},
          {"differential_entropy", to_json(model.differential_entropy)}};
}

Json to_json(const SyntheticOptions& options) {
  return {{"sigmas", options.sigmas},
          {"hidden", options.hidden},
          {"points", options.points},
          {"batch", options.batch},
          {"epochs", options.epochs},
          {"learning_rate", options.learning_rate},
          {"input_scale", options.input_scale},
          {"divergence", options.divergence == Divergence::kForward ? "forward" : "reverse"},
          {"alpha0", options.alpha0},
          {"epsilon", 1.0 / options.alpha0},
          {"test_points", options.test_points},
          {"grid", options.grid}};
}

Json to_json(const SyntheticResult& result) {
  Json cases = Json::array();
  for (const auto& entry : result.cases)
    cases.push_back({{"sigma", entry.classes.sigma},
                     {"bayes_accuracy", entry.bayes_accuracy},
                     {"bayes_test_accuracy", entry.bayes_test_accuracy},
                     {"test_points_outside_region", entry.outside_share},
                     {"dnn", to_json(entry.dnn)},
                     {"dpn", to_json(entry.dpn)}});
  return {{"seed", result.options.seed}, {"cases", cases}};
}

}  // namespace

Table detection_table(const std::vector<SyntheticResult>& results) {
  Table table{"AUROC: in-distribution test points against points outside the data region",
              {"sigma", "model", "Entropy", "M.I.", "Diff. entropy"},
              {},
              {}};
  for (size_t i = 0; i < results.front().cases.size(); ++i) {
    for (const auto model : {&SyntheticCase::dnn, &SyntheticCase::dpn}) {
      const auto& entry = results.front().cases[i];
      table.add({Cell(fmt::format("{:g}", entry.classes.sigma)), Cell((entry.*model).name),
                 separation_cell(results, i, model, &SyntheticModel::entropy),
                 separation_cell(results, i, model, &SyntheticModel::mutual_information),
                 separation_cell(results, i, model, &SyntheticModel::differential_entropy)});
    }
  }
  const auto points = results.front().options.test_points;
  table.notes.push_back(results.size() == 1
                            ? fmt::format("± half a 95 % interval (DeLong); {} test points of each kind.", points)
                            : fmt::format("Mean ± standard deviation over {} seeds; {} test points of each kind.",
                                          results.size(), points));
  table.notes.emplace_back(
      "* The DNN's logits read as a Dirichlet's. Its precision is arbitrary: a constant added to the logits leaves "
      "every prediction as it is and changes these numbers.");
  return table;
}

Table accuracy_table(const std::vector<SyntheticResult>& results) {
  Table table{"Accuracy on in-distribution test points, in %",
              {"sigma", "Bayes-optimal", "Bayes, same points", "DNN", "DPN"},
              {},
              {}};
  for (size_t i = 0; i < results.front().cases.size(); ++i) {
    const auto percent = [&](auto&& value) { return Cell::number(100 * spread_of(results, i, value).mean, 2); };
    table.add({Cell(fmt::format("{:g}", results.front().cases[i].classes.sigma)),
               percent([](const SyntheticCase& entry) { return entry.bayes_accuracy; }),
               percent([](const SyntheticCase& entry) { return entry.bayes_test_accuracy; }),
               percent([](const SyntheticCase& entry) { return entry.dnn.accuracy; }),
               percent([](const SyntheticCase& entry) { return entry.dpn.accuracy; })});
  }
  table.notes.emplace_back(
      "Bayes-optimal: the exact accuracy of the best possible classifier; beside it, its accuracy on the same points "
      "that the networks are tested on.");
  return table;
}

namespace {

Json headlines_of(const std::vector<SyntheticResult>& results) {
  auto json = Json::array();
  const auto add = [&](size_t i, const char* label, ModelOf model, MeasureOf measure) {
    const auto spread =
        spread_of(results, i, [&](const SyntheticCase& entry) { return (entry.*model.*measure).auroc; });
    json.push_back(
        {{"text", fmt::format("{:.4f}", spread.mean)},
         {"label", fmt::format("AUROC of the {}, σ = {:g}", label, results.front().cases[i].classes.sigma)}});
  };
  for (size_t i = 0; i < results.front().cases.size(); ++i) {
    add(i, "DPN’s differential entropy", &SyntheticCase::dpn, &SyntheticModel::differential_entropy);
    add(i, "DPN’s entropy", &SyntheticCase::dpn, &SyntheticModel::entropy);
  }
  return json;
}

}  // namespace

std::string to_json(const std::vector<SyntheticResult>& results, const RunRecord& record) {
  Json seeds = Json::array();
  for (const auto& result : results) seeds.push_back(to_json(result));
  Json tables = Json::array();
  for (const auto& table : {detection_table(results), accuracy_table(results)})
    tables.push_back(parse_json(store_table(table)));
  const Json json{{"experiment", "synthetic"},
                  {"title", "Ambiguous or unfamiliar?"},
                  {"lead",
                   "Three Gaussian classes in the plane, apart and overlapping: which uncertainty knows where the data "
                   "is? The synthetic experiment of the paper, section 5.1."},
                  {"headlines", headlines_of(results)},
                  {"tables", tables},
                  {"options", to_json(results.front().options)},
                  {"seeds", seeds},
                  {"run", parse_json(to_json(record))}};
  return json_text(json) + "\n";
}

namespace {

void save_figures(OutputFolder& out, const SyntheticResult& result, Progress& progress) {
  const std::pair<const char*, Figure> figures[] = {{"figure1", draw_figure1(result.options.seed)},
                                                    {"figure2", draw_figure2()},
                                                    {"figure3", draw_figure3(result)},
                                                    {"comparison", draw_comparison(result)}};
  int64_t done = 0;
  for (const auto& [name, figure] : figures) {
    progress.report("figures", done++, 4);
    out.write(std::string(name) + ".svg", render(figure, FigureFormat::kSvg));
    out.write(std::string(name) + ".png", render(figure, FigureFormat::kPng));
  }
  progress.report("figures", 4, 4);
}

}  // namespace

SyntheticOptions synthetic_options(Profile profile) {
  SyntheticOptions options;
  if (profile == Profile::kQuick) options.epochs = 5;
  if (profile == Profile::kModern) {
    options.divergence = Divergence::kReverse;
    options.alpha0 = 10.0;  // the reverse divergence grows with alpha0; more would drown the out-of-distribution part
  }
  return options;
}

ExperimentSummary reproduce_synthetic(const ExperimentOptions& options, Progress& progress) {
  check_range("reproduce_synthetic", "seeds", options.seeds >= 1, "at least 1", static_cast<double>(options.seeds));
  if (!options.overrides.empty())
    throw ConfigError("the synthetic experiment has no configuration file, so there is nothing for --set to change");
  if (!options.only.empty()) throw ConfigError("the synthetic experiment is not made in parts: leave --only out");
  const auto start = std::chrono::steady_clock::now();
  OutputFolder out(options.out);
  std::vector<SyntheticResult> results;
  for (int64_t i = 0; i < options.seeds; ++i) {
    auto run = synthetic_options(options.profile);
    run.seed = options.seed + static_cast<uint64_t>(i);
    run.device = options.device.value_or(torch::kCPU);
    results.push_back(run_synthetic(run, progress));
  }
  ExperimentSummary summary;
  if (can_render())
    save_figures(out, results.front(), progress);
  else
    summary.remarks.emplace_back(kNoGnuplot);
  auto record = describe_run();
  record.command = options.command;
  record.device = results.front().options.device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.tables = {detection_table(results), accuracy_table(results)};
  out.write("results.json", to_json(results, record));
  out.write("maps.json", maps_json(results.front()));
  out.write("table.csv", to_csv(summary.tables[0]));
  write_report(out);
  summary.files = out.files();
  return summary;
}

}  // namespace priornet
