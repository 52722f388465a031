#include <fmt/format.h>
#include <priornet/deploy/open_model.h>
#include <priornet/experiments/run_record.h>

namespace priornet {

ModelFile model_of_run(const std::filesystem::path& folder, const torch::Device& device) {
  ModelFile model;
  model.run = load_run(folder, device);
  const auto whole = std::filesystem::weakly_canonical(folder);
  model.name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  model.preprocessing.shape = model.run.members.at(0)->input_shape();
  model.preprocessing.mean = model.run.preparation.mean;
  model.preprocessing.deviation = model.run.preparation.deviation;
  model.preprocessing.feature_names = model.run.preparation.feature_names;
  const auto record = describe_run();
  model.provenance = {{"priornet", record.priornet},          {"commit", record.commit},
                      {"libtorch", record.libtorch},          {"made", record.finished},
                      {"trained on", model.run.config.train}, {"seed", fmt::format("{}", model.run.config.seed)}};
  return model;
}

ModelFile open_model(const std::filesystem::path& path, const torch::Device& device) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return model_of_run(path, device);
  auto model = read_model_file(path, device);
  if (model.name.empty()) model.name = path.stem().string();
  return model;
}

}  // namespace priornet
