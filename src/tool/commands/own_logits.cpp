#include "tool/commands/own_logits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/logits.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/base/run_record.h"
#include "tool/commands/terminal.h"

namespace priornet::tool {

std::vector<Option> unlabelled_logits_options(LogitsSource& source, const std::string& what) {
  return {{.name = "--logits",
           .to = &source.files,
           .help = what + ": logits of your own network as .npy, .npz, .safetensors or .csv, [N, K], or [M, N, K] for "
                          "an ensemble; several files are the members of one"},
          {.name = "--features",
           .to = &source.features,
           .help = "Features of the same inputs, [N, F], for detectors that look at them",
           .needs = "--logits"},
          {.name = "--array",
           .to = &source.array,
           .help = "The array of logits in an .npz or .safetensors file; by default the only one, or the one with the "
                   "name logits",
           .needs = "--logits"}};
}

std::vector<Option> logits_options(LogitsSource& source, const std::string& what) {
  auto options = unlabelled_logits_options(source, what);
  options.push_back({.name = "--labels",
                     .to = &source.labels,
                     .help = "The labels of --logits, numbers from 0: .npy or .csv",
                     .needs = "--logits"});
  options.push_back(
      {.name = "--kind",
       .to = &source.kind,
       .help = "What --logits are: softmax, dirichlet (alpha = exp logits), or ensemble (of softmax members)",
       .choices = {"softmax", "dirichlet", "ensemble"},
       .needs = "--logits"});
  return options;
}

void refuse_without_run(const char* option, bool given, const char* in_place) {
  if (given) throw Misuse(fmt::format("{}: is for a RUN, but {} was given instead", option, in_place));
}

OwnOutputs OwnOutputs::select(const torch::Tensor& inputs) const {
  return {name, logits.index_select(-2, inputs),
          features.defined() ? features.index_select(0, inputs) : torch::Tensor()};
}

OwnOutputs own_outputs(const LogitsSource& source) {
  if (source.kind.empty())
    throw Misuse("--logits: give --kind too: what the logits are, softmax, dirichlet or ensemble");
  const auto& files = source.files;
  OwnOutputs outputs;
  outputs.name = files.front();
  outputs.logits =
      read_logits({files.begin(), files.end()}, {.array = source.array, .takes_any_value = source.takes_any_value})
          .to(torch::kFloat64);
  for (const auto& doubt : doubts_about_logits(outputs.logits)) warn(fmt::format("{}: {}", outputs.name, doubt));
  const bool several = outputs.logits.dim() == 3;
  if ((source.kind == "softmax" && several) || (source.kind == "ensemble" && !several))
    throw DataError(fmt::format("{}: --kind {} needs {}, found shape [{}]", outputs.name, source.kind,
                                several ? "[N, K] of one model (for [M, N, K] use --kind ensemble)"
                                        : "[M, N, K], or one file [N, K] per member",
                                fmt::join(outputs.logits.sizes(), ", ")));
  if (!source.features.empty()) outputs.features = read_features(source.features, outputs.rows());
  return outputs;
}

OwnOutputs other_outputs(const LogitsSource& source, const std::string& file, const std::string& features) {
  auto other = source;
  other.files = {file};
  other.features = features;
  return own_outputs(other);
}

std::string kind_of(const ModelFile& model) {
  return model.run.gives_dirichlet() ? "dirichlet" : model.asks_several() ? "ensemble" : "softmax";
}

ModelFile model_of_logits(const LogitsSource& source, const OwnOutputs& outputs, int64_t features) {
  ModelFile model;
  const auto members = outputs.logits.dim() == 3 ? outputs.logits.size(0) : 1;
  model.own_logits = OwnLogits{members, features};
  model.run.config.method.name = source.kind == "dirichlet" ? "dpn" : "dnn";
  model.run.config.train = outputs.name;
  for (int64_t c = 0; c < outputs.classes(); ++c) model.run.class_names.push_back(fmt::format("{}", c));
  auto& names = model.preprocessing.feature_names;
  for (int64_t m = 1; m <= members; ++m)
    for (const auto& name : model.run.class_names)
      names.push_back(members == 1 ? "logit " + name : fmt::format("member {}: logit {}", m, name));
  for (int64_t f = 0; f < features; ++f) names.push_back(fmt::format("feature {}", f));
  model.preprocessing.shape = {static_cast<int64_t>(names.size())};
  const auto record = describe_run();
  model.provenance = {{"priornet", record.priornet},
                      {"commit", record.commit},
                      {"made", record.finished},
                      {"logits", fmt::format("{}", fmt::join(source.files, ", "))},
                      {"kind", source.kind}};
  return model;
}

Predictions judged(const ModelFile& model, const OwnOutputs& outputs) {
  try {
    return judge_logits(model, outputs.logits, outputs.features);
  } catch (const ArgumentError& error) {
    throw DataError(fmt::format("{}: does not fit {}", outputs.name, error.what()));
  }
}

}  // namespace priornet::tool
