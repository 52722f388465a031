#include "tool/experiments/planned_networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/run_folder.h>
#include <priornet/learning/training.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/training/metric_files.h"

namespace priornet {
namespace {

/// Empty if there is no run.
std::string config_of(const std::filesystem::path& folder) {
  const auto file = folder / "config.toml";
  return std::filesystem::exists(file) ? InputFile(file).read_rest() : std::string();
}

/// Whether the last components of a path are those of the run.
bool is_path_of_run(const std::filesystem::path& path, const std::filesystem::path& run) {
  const std::vector<std::string> there(path.begin(), path.end()), wanted(run.begin(), run.end());
  return there.size() >= wanted.size() && std::equal(wanted.rbegin(), wanted.rend(), there.rbegin());
}

// An experiment also fixes the keys that may change when a run goes on (first_difference).
bool is_of(const std::string& found, const TrainConfig& config) {
  if (found.empty()) return false;
  const auto before = read_config(TomlText{"config.toml", found});
  auto wanted = config;
  if (!config.teacher.empty() && is_path_of_run(before.teacher, config.teacher)) wanted.teacher = before.teacher;
  return first_difference(found, to_toml(wanted)).empty() && before.epochs == config.epochs &&
         before.patience == config.patience && before.train == config.train;
}

bool is_finished_in(const std::filesystem::path& folder, const PlannedModel& plan, int64_t rows) {
  const auto& config = plan.config;
  if (config.members == 1) return is_finished_run(folder, config, rows);
  if (!is_of(config_of(folder), config)) return false;
  for (int64_t member = 1; member <= config.members; ++member)
    if (!is_finished_run(member_folder(folder, member), member_config(config, member), rows)) return false;
  return true;
}

std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> pieces;
  std::istringstream text(list);
  for (std::string piece; std::getline(text, piece, ',');) {
    const auto first = piece.find_first_not_of(' ');
    pieces.push_back(first == std::string::npos ? "" : piece.substr(first, piece.find_last_not_of(' ') - first + 1));
  }
  return pieces;
}

}  // namespace

std::vector<std::string> chosen_models(const std::string& list, const std::vector<std::string>& known) {
  const auto pieces = split_at_commas(list);
  std::vector<std::string> chosen;
  for (size_t i = 0; i < pieces.size();) {
    // The longest name that begins here: "DPN, 500 images" has a comma of its own.
    std::string name, found;
    size_t end = i;
    for (size_t last = i; last < pieces.size(); ++last) {
      name += (last == i ? "" : ", ") + pieces[last];
      if (std::find(known.begin(), known.end(), name) == known.end()) continue;
      found = name;
      end = last + 1;
    }
    if (found.empty())
      throw ConfigError(fmt::format("unknown model '{}'; known: {}", pieces[i], fmt::join(known, "; ")));
    chosen.push_back(found);
    i = end;
  }
  return chosen;
}

TrainConfig config_on_disk(const PlannedModel& plan, const std::filesystem::path& folder,
                           const std::filesystem::path& teacher) {
  auto config = plan.config;
  if (!plan.teacher) return config;
  const auto found = config_of(folder);
  config.teacher = found.empty() ? teacher.generic_string() : read_config(TomlText{"config.toml", found}).teacher;
  return config;
}

void refuse_other_run(const std::filesystem::path& folder, const TrainConfig& config) {
  const auto found = config_of(folder);
  if (!found.empty() && !is_of(found, config))
    throw DataError(
        fmt::format("{}: holds a run of another configuration (profile, --set): choose another --out, or remove it",
                    folder.string()));
}

bool is_finished_run(const std::filesystem::path& folder, const TrainConfig& config, int64_t rows) {
  if (!is_of(config_of(folder), config)) return false;
  const auto steps = RunFolder(folder, RunFolder::Start::kResume).steps();
  return !steps.empty() && steps.back() == config.epochs * (rows / config.batch);
}

double training_seconds(const std::filesystem::path& folder) {
  double seconds = 0.0;
  for (const auto& epoch : epochs_in(folder / "metrics.jsonl")) seconds += epoch.value("seconds", 0.0);
  return seconds;
}

int64_t restarts_of(const std::filesystem::path& folder) {
  int64_t restarts = 0;
  for (const auto& epoch : epochs_in(folder / "metrics.jsonl")) restarts = whole_number_of(epoch, "restart", 0);
  return restarts;
}

std::optional<std::filesystem::path> NetworkFolders::finished(const PlannedModel& plan) const {
  const auto own = runs / plan.run;
  if (plan.config.members == 1) refuse_other_run(own, plan.config);
  const auto of_training = rows(plan.config.train);
  if (is_finished_in(own, plan, of_training)) return own;
  for (const auto& other : other_runs)
    if (is_finished_in(other / plan.run, plan, of_training)) return other / plan.run;
  return std::nullopt;
}

std::vector<PlannedNetwork> NetworkFolders::networks(const PlannedModel& plan) const {
  if (plan.config.members == 1) return {{plan, runs / plan.run}};
  std::vector<PlannedNetwork> members;
  for (int64_t member = 1; member <= plan.config.members; ++member) {
    auto alone = plan;
    alone.run = member_folder(plan.run, member).generic_string();
    alone.config = member_config(plan.config, member);
    members.push_back({std::move(alone), member_folder(runs / plan.run, member)});
  }
  return members;
}

namespace {

class NetworksLeft {
 public:
  explicit NetworksLeft(const NetworkFolders& folders) : folders_(folders) {}

  /// Where its networks lie, or will lie, and the last stage that trains one of them; 0: they exist.
  std::pair<std::filesystem::path, int64_t> add(const PlannedModel& plan) {
    if (const auto found = folders_.finished(plan)) return {*found, 0};
    std::pair<std::filesystem::path, int64_t> teacher;
    if (plan.teacher) teacher = add(*plan.teacher);
    int64_t last = 0;
    for (const auto& [network, folder] : folders_.networks(plan)) {
      refuse_other_run(folder, network.config);
      if (is_finished_run(folder, network.config, folders_.rows(network.config.train))) continue;
      const auto stage = teacher.second + 1;
      if (stages_.emplace(folder, stage).second)
        networks_.push_back({folder, config_on_disk(network, folder, teacher.first), stage});
      last = std::max(last, stages_.at(folder));
    }
    return {folders_.runs / plan.run, last};
  }

  std::vector<NetworkToTrain> networks() && {
    std::stable_sort(networks_.begin(), networks_.end(),
                     [](const auto& a, const auto& b) { return a.stage < b.stage; });
    return std::move(networks_);
  }

 private:
  const NetworkFolders& folders_;
  std::map<std::filesystem::path, int64_t> stages_;  ///< by folder
  std::vector<NetworkToTrain> networks_;
};

void write_ensemble(const PlannedModel& plan, const NetworkFolders& folders) {
  if (plan.teacher) write_ensemble(*plan.teacher, folders);
  if (plan.config.members == 1 || folders.finished(plan)) return;
  const RunFolder folder(folders.runs / plan.run, RunFolder::Start::kResume);
  folder.write_config(to_toml(plan.config));
}

}  // namespace

std::vector<NetworkToTrain> networks_to_train(const std::vector<PlannedModel>& models, const NetworkFolders& folders) {
  NetworksLeft left(folders);
  for (const auto& model : models) left.add(model);
  return std::move(left).networks();
}

std::vector<std::filesystem::path> write_plan(const std::filesystem::path& out,
                                              const std::vector<NetworkToTrain>& networks,
                                              const std::vector<PlannedModel>& models, const NetworkFolders& folders) {
  for (const auto& model : models) write_ensemble(model, folders);
  std::vector<std::filesystem::path> files;
  for (const auto& network : networks) {
    auto name = network.folder.lexically_relative(folders.runs).generic_string();
    std::replace(name.begin(), name.end(), '/', '-');
    std::filesystem::create_directories(out / "plan");
    AtomicFile file(out / "plan" / (name + ".toml"));
    file.write(to_toml(network.config));
    file.commit();
    files.push_back(out / "plan" / (name + ".toml"));
  }
  return files;
}

}  // namespace priornet
