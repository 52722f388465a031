#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/tensor_file.h>
#include <priornet/data/files/content_hash.h>
#include <priornet/runs/scoring.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace priornet {
namespace {

constexpr const char* kVersion = "1";
constexpr const char* kProbabilities = "probabilities";
constexpr const char* kColumn = "column.";
constexpr const char* kOrder = "columns";

using Facts = std::map<std::string, std::string>;

uint64_t hash_of(const torch::Tensor& values) {
  const auto bytes = values.to(torch::kCPU).contiguous();
  return content_hash({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
}

// Everything the scores depend on.
Facts facts_of(const TrainedRun& run, const Dataset& set, const ScoringOptions& options) {
  const auto odin = options.odin ? fmt::format("{} {}", options.odin->temperature, options.odin->step) : "none";
  return {{"scores", kVersion},
          {"weights", run.identity},
          {"kind", run.gives_dirichlet() ? "dirichlet" : "softmax"},
          {"set", set.name},
          {"inputs", fmt::format("[{}] {:016x}", fmt::join(set.inputs.sizes(), ", "), hash_of(set.inputs))},
          {"device", run.device().is_cpu() ? "cpu" : "cuda"},
          {"dropout_samples", fmt::format("{}", options.dropout_samples)},
          {"batch", options.dropout_samples > 0 ? fmt::format("{}", batch_on(run.device(), options)) : "any"},
          {"noise", fmt::format("{}", options.noise)},
          {"seed", fmt::format("{}", options.seed)},
          {"bfloat16", options.bfloat16 ? "yes" : "no"},
          {"mu_theta_samples", fmt::format("{}", options.mu_theta_samples)},
          {"odin", odin}};
}

// One file a set and way of scoring: what later weights say replaces what earlier ones said.
std::filesystem::path file_of(const std::filesystem::path& cache, Facts facts) {
  const auto name = facts["set"];
  facts.erase("weights");
  facts.erase("inputs");
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
  } catch (const std::filesystem::filesystem_error&) {  // a run that may only be read is evaluated all the same
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
