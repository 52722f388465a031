#include <priornet/train/ensemble.h>

#include <fmt/format.h>
#include <priornet/core/seeds.h>
#include <priornet/train/processes/shared_run_folder.h>

namespace priornet {

std::filesystem::path member_folder(const std::filesystem::path& run, int64_t member) {
  return run / fmt::format("member-{}", member);
}

TrainConfig member_config(const TrainConfig& config, int64_t member) {
  auto alone = config;
  alone.members = 1;
  const auto seed = derive_seed(static_cast<uint64_t>(config.seed), fmt::format("member {}", member));
  alone.seed = static_cast<int64_t>(seed >> 1);  // TOML knows no more than 63 bits
  return alone;
}

void train_run(const TrainConfig& config, const TrainingSets& sets, const std::filesystem::path& folder,
               const EnsembleOptions& options, Progress& progress) {
  auto* const processes = options.trainer.processes;
  const bool writes = processes == nullptr || processes->is_first();
  const auto whole = open_run_folder(folder, options.start, processes);
  if (config.members == 1) {
    train(config, sets, whole, options.trainer, progress);
    return;
  }
  // One that is there is held to member by member, and changed only once all agree.
  if (writes && !std::filesystem::exists(whole.config())) whole.write_config(to_toml(config));
  for (int64_t member = 1; member <= config.members; ++member) {
    if (options.on_member) options.on_member(member);
    const auto own = open_run_folder(member_folder(folder, member), options.start, processes);
    train(member_config(config, member), sets, own, options.trainer, progress);
  }
  if (writes) whole.write_config(to_toml(config));
}

}  // namespace priornet
