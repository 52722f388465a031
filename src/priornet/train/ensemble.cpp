#include <priornet/train/ensemble.h>

#include <fmt/format.h>
#include <priornet/core/seeds.h>
#include <priornet/train/processes/shared_run_folder.h>

#include <optional>

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
  const auto start = start_without_removal(options.start);
  const auto whole = open_run_folder(folder, start, processes);
  auto trainer = options.trainer;
  if (options.start == RunFolder::Start::kForce) {
    trainer.replace = true;
    trainer.on_begin = [&] {
      static_cast<void>(RunFolder(folder, RunFolder::Start::kForce));
      if (config.members > 1) {
        whole.write_config(to_toml(config));
        static_cast<void>(RunFolder(member_folder(folder, 1), RunFolder::Start::kNew));
      }
      if (options.trainer.on_begin) options.trainer.on_begin();
    };
  }
  if (config.members == 1) {
    train(config, sets, whole, trainer, progress);
    return;
  }
  std::optional<RunLock> lock;
  if (writes) lock.emplace(whole);
  // One that is there is held to member by member, and changed only once all agree.
  if (writes && !std::filesystem::exists(whole.config())) whole.write_config(to_toml(config));
  for (int64_t member = 1; member <= config.members; ++member) {
    if (options.on_member) options.on_member(member);
    const auto own = open_run_folder(member_folder(folder, member), start, processes);
    train(member_config(config, member), sets, own, member == 1 ? trainer : options.trainer, progress);
  }
  if (writes) whole.write_config(to_toml(config));
}

}  // namespace priornet
