#include <priornet/train/ensemble.h>

#include <fmt/format.h>
#include <priornet/core/seeds.h>

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
  const RunFolder whole(folder, options.start);
  if (config.members == 1) {
    train(config, sets, whole, options.trainer, progress);
    return;
  }
  // One that is there is held to member by member, and changed only once all agree.
  if (!std::filesystem::exists(whole.config())) whole.write_config(to_toml(config));
  for (int64_t member = 1; member <= config.members; ++member) {
    if (options.on_member) options.on_member(member);
    const RunFolder own(member_folder(folder, member), options.start);
    train(member_config(config, member), sets, own, options.trainer, progress);
  }
  whole.write_config(to_toml(config));
}

}  // namespace priornet
