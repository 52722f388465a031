#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/experiments/finished_run.h>
#include <priornet/train/run_folder.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace priornet {
namespace {

/// Empty if there is no run.
std::string config_of(const std::filesystem::path& folder) {
  const auto file = folder / "config.toml";
  return std::filesystem::exists(file) ? InputFile(file).read_rest() : std::string();
}

}  // namespace

void refuse_other_run(const std::filesystem::path& folder, const TrainConfig& config) {
  const auto found = config_of(folder);
  if (!found.empty() && found != to_toml(config))
    throw DataError(
        fmt::format("{}: holds a run of another configuration (profile, --set): choose another --out, or remove it",
                    folder.string()));
}

bool is_finished_run(const std::filesystem::path& folder, const TrainConfig& config, int64_t rows) {
  if (config_of(folder) != to_toml(config)) return false;
  const auto steps = RunFolder(folder, RunFolder::Start::kResume).steps();
  return !steps.empty() && steps.back() == config.epochs * (rows / config.batch);
}

double training_seconds(const std::filesystem::path& folder) {
  double seconds = 0.0;
  std::istringstream lines(InputFile(folder / "metrics.jsonl").read_rest());
  for (std::string line; std::getline(lines, line);) seconds += nlohmann::json::parse(line).value("seconds", 0.0);
  return seconds;
}

}  // namespace priornet
