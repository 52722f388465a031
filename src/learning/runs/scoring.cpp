#include <priornet/learning/scoring.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>
#include <priornet/uncertainty/random.h>
#include <torch/utils.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "learning/base/file_io.h"
#include "learning/base/kept_random_state.h"

namespace priornet {
namespace {

// ln sum_k e^z_k of each row of logits [..., K], float64. On a CPU by hand: for one row, LibTorch's own function takes
// an eighth of the time that a small network needs for a prediction.
torch::Tensor log_sums(const torch::Tensor& logits) {
  if (!logits.is_cpu()) return torch::logsumexp(logits, -1);
  const auto rows = logits.contiguous();
  const auto classes = rows.size(-1);
  auto sums = torch::empty(rows.sizes().slice(0, rows.dim() - 1), rows.options());
  const auto* row = rows.data_ptr<double>();
  auto* sum = sums.data_ptr<double>();
  for (int64_t n = 0; n < sums.numel(); ++n, row += classes) {
    const auto largest = *std::max_element(row, row + classes);
    double total = 0;
    for (int64_t k = 0; k < classes; ++k) total += std::exp(row[k] - largest);
    sum[n] = std::isfinite(largest) ? largest + std::log(total) : largest;
  }
  return sums;
}

torch::Tensor mean_over_members(const torch::Tensor& values, const torch::Tensor& logits) {
  return logits.dim() == 3 ? values.mean(0) : values;
}

}  // namespace

const torch::Tensor* SetScores::find(std::string_view column) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == column; });
  return found == columns.end() ? nullptr : &found->values;
}

SetScores scores_of_logits(const torch::Tensor& logits, bool dirichlet, int64_t mu_theta_samples, uint64_t seed) {
  const torch::NoGradGuard no_gradient;
  const auto exact = logits.to(torch::kFloat64);
  SetScores scores;
  scores.probabilities = mean_over_members(torch::softmax(exact, -1), exact).to(torch::kCPU);
  for (const auto& [name, values] :
       measure_columns(exact, dirichlet ? LogitKind::kDirichlet : LogitKind::kSoftmax, {mu_theta_samples, seed}))
    if (is_score(name)) scores.columns.push_back({name, values.to(torch::kCPU)});
  scores.columns.push_back({"energy", mean_over_members(log_sums(exact).neg_(), exact).to(torch::kCPU)});
  return scores;
}

namespace {

void check(const TrainedRun& run, const Dataset& set, const ScoringOptions& options) {
  if (options.batch < 0)
    throw ArgumentError(fmt::format("run_logits: batch should be at least 0, found {}", options.batch));
  if (options.dropout_samples < 0)
    throw ArgumentError(
        fmt::format("run_logits: dropout_samples should be at least 0, found {}", options.dropout_samples));
  if (options.dropout_samples > 0 && !run.members.at(0)->has_dropout())
    throw ArgumentError("run_logits: the network has no dropout, so its dropout samples would all be the same");
  if (set.size() == 0) throw DataError(fmt::format("{}: is empty: there is nothing to score", set.name));
}

torch::Tensor dropout_passes(Classifier& network, const torch::Tensor& fixed, int64_t samples, uint64_t seed) {
  // Dropout draws from LibTorch's own generator.
  const KeptRandomState kept;
  torch::manual_seed(seed);
  std::vector<torch::Tensor> passes;
  for (int64_t s = 0; s < samples; ++s) passes.push_back(network.from_dropout(fixed).to(torch::kFloat32));
  return torch::stack(passes);
}

InferenceOptions inference_of(const TrainedRun& run, const Dataset& set, const ScoringOptions& options) {
  InferenceOptions inference{batch_on(run.device(), options), options.bfloat16, options.noise,
                             derive_seed(options.seed, set.name + ": noise")};
  inference.rows = set.rows;
  return inference;
}

}  // namespace

int64_t batch_on(const torch::Device& device, const ScoringOptions& options) {
  return options.batch != 0 ? options.batch : batch_suiting(device);
}

torch::Tensor run_logits(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress,
                         std::vector<NamedTensor>* columns) {
  check(run, set, options);
  const auto fitted = fit_to_run(set, run);
  const auto inputs = run.split.standardised(fitted.inputs);
  const auto task = "scores of " + set.name;
  AskOptions ask;
  ask.on_batch = [&](int64_t rows) { progress.report(task, rows, fitted.size()); };
  if (options.dropout_samples > 0)
    ask.dropout = [&](Classifier& network, const DropoutBatch& batch) {
      const auto seed = derive_seed(
          options.seed, fmt::format("{}: dropout of member {} from row {}", set.name, batch.member, batch.first));
      return dropout_passes(network, batch.fixed, options.dropout_samples, seed);
    };
  const std::vector<NamedDetector> none;
  DetectorPass pass(columns == nullptr ? none : options.detectors, run.members, run.gives_dirichlet());
  pass.join(ask);
  const auto logits = logits_of_networks(run.members, inputs, inference_of(run, fitted, options), ask);
  check_finite(logits, set.name);
  progress.report(task, fitted.size(), fitted.size());
  if (columns != nullptr) *columns = pass.columns();
  return run.members.size() == 1 && options.dropout_samples == 0 ? logits[0] : logits;
}

namespace {

torch::Tensor odin_column(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress) {
  const auto task = "ODIN of " + set.name;
  std::vector<torch::Tensor> parts;
  const auto inputs = run.split.standardised(set.inputs);
  for_each_batch(inputs, run.device(), inference_of(run, set, options), [&](const torch::Tensor& batch, int64_t first) {
    progress.report(task, first, set.size());
    parts.push_back(odin_score(run.members, batch, *options.odin));
  });
  progress.report(task, set.size(), set.size());
  return torch::cat(parts);
}

}  // namespace

SetScores score(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress) {
  const auto fitted = fit_to_run(set, run);
  std::vector<NamedTensor> columns;
  auto scores = scores_of_logits(run_logits(run, fitted, options, progress, &columns), run.gives_dirichlet(),
                                 options.mu_theta_samples, derive_seed(options.seed, set.name + ": mu theta"));
  if (options.odin) scores.columns.push_back({"odin", odin_column(run, fitted, options, progress)});
  scores.columns.insert(scores.columns.end(), columns.begin(), columns.end());
  return scores;
}

namespace {

/// Names the columns: scores that were stored before a measure was added to the table are computed again. Raise the
/// number when a formula gives other values under the same name.
std::string columns_version() {
  std::string names;
  for (const auto& measure : measure_table()) names += fmt::format("{}\n", measure.name);
  return fmt::format("1 {:016x}", content_hash(names));
}

constexpr const char* kProbabilities = "probabilities";
constexpr const char* kColumn = "column.";
constexpr const char* kOrder = "columns";

using Facts = std::map<std::string, std::string>;

uint64_t hash_of(const torch::Tensor& values) {
  const auto bytes = values.to(torch::kCPU).contiguous();
  return content_hash({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
}

std::string names_of(const std::vector<NamedDetector>& detectors) {
  std::string names;
  for (const auto& one : detectors) names += one.name + " ";
  return names;
}

// What they learnt.
std::string hash_of(const std::vector<NamedDetector>& detectors) {
  std::string text;
  for (const auto& one : detectors)
    for (const auto& [part, values] : one.detector->state()) text += fmt::format("{:016x}", hash_of(values));
  return fmt::format("{:016x}", content_hash(text));
}

std::string scale_text(const FeatureScale& scale) {
  if (!scale.defined()) return "none";  // of images
  return fmt::format("{:016x} {:016x} {}", hash_of(scale.mean), hash_of(scale.deviation), scale.drawn_in);
}

// Everything that the scores depend on.
Facts facts_of(const TrainedRun& run, const Dataset& set, const ScoringOptions& options) {
  const auto odin = options.odin ? fmt::format("{} {}", options.odin->temperature, options.odin->step) : "none";
  return {{"scores", columns_version()},
          {"weights", run.identity},
          {"kind", run.gives_dirichlet() ? "dirichlet" : "softmax"},
          {"set", set.name},
          {"inputs", fmt::format("[{}] {:016x}", fmt::join(set.inputs.sizes(), ", "), hash_of(set.inputs))},
          {"scale", scale_text(run.split.scale)},
          {"device", run.device().is_cpu() ? "cpu" : "cuda"},
          {"dropout_samples", fmt::format("{}", options.dropout_samples)},
          {"batch", options.dropout_samples > 0 ? fmt::format("{}", batch_on(run.device(), options)) : "any"},
          {"noise", fmt::format("{}", options.noise)},
          {"seed", fmt::format("{}", options.seed)},
          {"bfloat16", options.bfloat16 ? "yes" : "no"},
          {"mu_theta_samples", fmt::format("{}", options.mu_theta_samples)},
          {"odin", odin},
          {"detectors", names_of(options.detectors)},
          {"detectors_learnt", hash_of(options.detectors)}};
}

// One file per set and way of scoring: scores of new weights replace those of old ones.
std::filesystem::path file_of(const std::filesystem::path& cache, Facts facts) {
  const auto name = facts["set"];
  facts.erase("weights");
  facts.erase("inputs");
  facts.erase("detectors_learnt");
  std::string text;
  for (const auto& [key, value] : facts) text += key + "=" + value + "\n";
  std::string readable;
  for (const char c : name.substr(0, 60)) readable += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return cache / fmt::format("{}-{:016x}.safetensors", readable, content_hash(text));
}

std::optional<SetScores> read(const std::filesystem::path& path, const Facts& facts, int64_t rows) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    const auto file = read_tensor_file(path);
    auto found = file.metadata;
    const auto order = found[kOrder];
    found.erase(kOrder);
    if (!std::includes(found.begin(), found.end(), facts.begin(), facts.end())) return std::nullopt;
    SetScores scores;
    scores.probabilities = file.at(kProbabilities).clone();
    if (scores.probabilities.dim() != 2 || scores.probabilities.size(0) != rows) return std::nullopt;
    for (size_t begin = 0; begin < order.size();) {
      const auto end = std::min(order.find(' ', begin), order.size());
      const auto name = order.substr(begin, end - begin);
      scores.columns.push_back({name, file.at(kColumn + name).clone()});
      if (scores.columns.back().values.sizes() != torch::IntArrayRef({rows})) return std::nullopt;
      begin = end + 1;
    }
    return scores;
  } catch (const DataError&) {
    return std::nullopt;  // damaged: computed again
  }
}

void write(const std::filesystem::path& path, Facts facts, const SetScores& scores) {
  std::vector<NamedTensor> tensors{{kProbabilities, scores.probabilities}};
  std::vector<std::string> names;
  for (const auto& [name, values] : scores.columns) {
    tensors.push_back({kColumn + name, values});
    names.push_back(name);
  }
  facts[kOrder] = fmt::format("{}", fmt::join(names, " "));
  try {
    std::filesystem::create_directories(path.parent_path());
    write_tensor_file(path, tensors, facts);
  } catch (const std::filesystem::filesystem_error&) {  // a read-only run can still be evaluated
  } catch (const DataError&) {
  }
}

}  // namespace

SetScores cached_score(TrainedRun& run, const Dataset& set, const ScoringOptions& options,
                       const std::filesystem::path& cache, Progress& progress) {
  const auto fitted = fit_to_run(set, run);
  if (cache.empty() || run.identity.empty()) return score(run, fitted, options, progress);
  const auto facts = facts_of(run, fitted, options);
  const auto path = file_of(cache, facts);
  if (auto kept = read(path, facts, fitted.size())) return *std::move(kept);
  const auto scores = score(run, fitted, options, progress);
  write(path, facts, scores);
  return scores;
}

}  // namespace priornet
