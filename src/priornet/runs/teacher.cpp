#include <priornet/runs/teacher.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/runs/scoring.h>

#include <limits>

namespace priornet {

void add_teacher(TrainingSets& sets, const TrainConfig& config, const torch::Device& device, Progress& progress) {
  if (config.method.method != Method::kDistil) return;
  auto run = load_run(config.teacher, device);
  if (run.class_names != sets.train.class_names)
    throw DataError(fmt::format("{}: knows the classes {}, {} has {}", config.teacher, fmt::join(run.class_names, ", "),
                                sets.train.name, fmt::join(sets.train.class_names, ", ")));
  ScoringOptions options;
  options.noise = config.noise;
  options.mu_theta_samples = 0;
  // A sure teacher rounds to 0, of which no Dirichlet is made; and next to it the loss is beyond a float32.
  constexpr double kLeast = std::numeric_limits<float>::epsilon();
  sets.teacher = score(run, sets.train, options, progress).probabilities.to(torch::kFloat32).clamp_min(kLeast);
}

}  // namespace priornet
