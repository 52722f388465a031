#include <priornet/core/input_file.h>
#include <priornet/experiments/finished_run.h>
#include <priornet/train/run_folder.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace priornet {

bool is_finished_run(const std::filesystem::path& folder, const TrainConfig& config, int64_t rows) {
  const auto file = folder / "config.toml";
  if (!std::filesystem::exists(file) || InputFile(file).read_rest() != to_toml(config)) return false;
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
