#include "learning/training/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/config.h>
#include <priornet/uncertainty/errors.h>

#include <charconv>

namespace priornet {
namespace {

constexpr const char* kVersion = "1";
constexpr const char* kWeights = "network.";
constexpr const char* kOptimiser = "optimiser.";
constexpr const char* kSums = "sums";
constexpr const char* kTrained = "trained.";  // the plain weights, if the file's network is an average
constexpr const char* kRestart = "restart";
constexpr const char* kSinceBest = "since_best";

// All tensors of a file; they share memory with the network, the optimiser and the rest.
std::vector<NamedTensor> tensors_of(const CheckpointedState& state) {
  auto tensors = weights_of(state.network);
  const auto add = [&](const char* prefix, std::vector<NamedTensor> part) {
    for (auto& item : part) tensors.push_back({prefix + item.name, std::move(item.values)});
  };
  add(kOptimiser, state.optimiser.state());
  if (state.average != nullptr) add(kTrained, state.average->state());
  tensors.push_back({kSums, state.sums});
  return tensors;
}

// Pairs of a tensor to fill and its new values; throws before anything is filled.
void fill(const TensorFile& file, const std::vector<NamedTensor>& wanted) {
  for (const auto& [name, values] : wanted)
    if (const auto& found = file.at(name); found.sizes() != values.sizes() || found.dtype() != values.dtype())
      throw DataError(fmt::format("{}: belongs to another network: {} has shape [{}], wanted [{}]", file.path, name,
                                  fmt::join(found.sizes(), ", "), fmt::join(values.sizes(), ", ")));
  const torch::NoGradGuard no_gradient;
  for (const auto& [name, values] : wanted) torch::Tensor(values).copy_(file.at(name));
}

const std::string& text_of(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw DataError(fmt::format("{}: is not a checkpoint: it does not give its {}", file.path, key));
  return found->second;
}

template <class T>
T number_of(const TensorFile& file, const std::string& key) {
  const auto& text = text_of(file, key);
  T value{};
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    throw DataError(fmt::format("{}: its {} is not a number: {}", file.path, key, text));
  return value;
}

}  // namespace

std::vector<NamedTensor> weights_of(const Classifier& network) {
  std::vector<NamedTensor> weights;
  for (const auto& item : network.named_parameters()) weights.push_back({kWeights + item.key(), item.value().detach()});
  for (const auto& item : network.named_buffers()) weights.push_back({kWeights + item.key(), item.value().detach()});
  return weights;
}

void write_checkpoint(const std::filesystem::path& path, const CheckpointedState& state, const CheckpointFacts& facts) {
  const AveragedWeights averaged(state.average);
  write_tensor_file(path, tensors_of(state),
                    {{"checkpoint", kVersion},
                     {"step", std::to_string(facts.step)},
                     {"config", facts.config},
                     {"class_names", facts.class_names},
                     {"input_shape", fmt::format("[{}]", fmt::join(state.network.input_shape(), ", "))},
                     {"best", fmt::format("{}", facts.best)},
                     {kRestart, std::to_string(facts.restart)},
                     {kSinceBest, std::to_string(facts.since_best)}});
}

CheckpointFacts checkpoint_facts(const TensorFile& file) {
  if (const auto& version = text_of(file, "checkpoint"); version != kVersion)
    throw DataError(
        fmt::format("{}: is a checkpoint of version {}; this program reads version {}", file.path, version, kVersion));
  const auto later = [&](const char* key) {  // a key that the first files lack
    return file.metadata.contains(key) ? number_of<int64_t>(file, key) : 0;
  };
  return {number_of<int64_t>(file, "step"),
          text_of(file, "config"),
          text_of(file, "class_names"),
          number_of<double>(file, "best"),
          text_of(file, "input_shape"),
          later(kRestart),
          later(kSinceBest)};
}

void load_weights(const TensorFile& file, Classifier& network) { fill(file, weights_of(network)); }

WholeCheckpoint newest_whole_checkpoint(const RunFolder& folder) {
  WholeCheckpoint found;
  auto steps = folder.steps();
  for (; !steps.empty(); steps.pop_back()) {
    try {
      read_tensor_file(folder.checkpoint(steps.back()));
      found.step = steps.back();
      return found;
    } catch (const DataError& error) {
      found.damaged.emplace_back(steps.back(), error.what());
    }
  }
  if (!found.damaged.empty())
    throw DataError(
        fmt::format("{}; no checkpoint of the run is intact: --force starts it again", found.damaged.front().second));
  return found;
}

CheckpointFacts resume_checkpoint(const std::filesystem::path& path, const CheckpointedState& state,
                                  const std::string& config) {
  const auto file = read_tensor_file(path);
  auto facts = checkpoint_facts(file);
  if (const auto difference = first_difference(facts.config, config); !difference.empty())
    throw DataError(fmt::format("{}: has another configuration: {}", file.path, difference));
  facts.config = config;  // the comments may be newer
  fill(file, tensors_of(state));
  if (state.average != nullptr) state.average->exchange();  // the file's network is the average
  return facts;
}

}  // namespace priornet
