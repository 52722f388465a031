#include <fmt/format.h>
#include <priornet/experiments/colour_plan.h>

namespace priornet {
namespace {

/// What profile quick changes of both configurations of a family: a small network that a CPU trains in minutes.
std::vector<std::string> quick_changes(const std::string& family) {
  return {fmt::format("data.train={}:train,subset=10000", family),
          "data.rotation=0.0",
          "model.blocks=[[16, 16], [32, 32], [64, 64]]",
          "model.dense=[128]",
          "model.batch_norm=true",
          "model.keep_convolution=1.0",
          "training.epochs=6",
          "training.rate=4e-3",
          "training.schedule=cosine",
          "training.warm_up=0.2",
          "training.last_rate=1e-5"};
}

}  // namespace

std::vector<PlannedSet> photograph_sets(const ImagePlanOptions& options) {
  const auto tiny = evaluated("tinyimagenet:test", 10'000, options);
  return {{"TinyImageNet, bilinear", tiny + ",size=32,antialias=off", "TinyImageNet"},
          {"TinyImageNet, antialiased", tiny + ",size=32", ""},
          {"LSUN, bilinear", evaluated("lsun:test", 10'000, options) + ",size=32,antialias=off", "LSUN"},
          {"Scenes of Places, antialiased", evaluated("places-scenes", 9'000, options), "", "images of scenes, 32x32"}};
}

void add_colour_models(ImageExperiment& experiment, const std::string& family, const ImagePlanOptions& options) {
  if (options.profile == Profile::kModern) {
    const auto of_family = [&](const char* name) {
      return PlannedRecipe{fmt::format("{}-modern-{}", family, name), {}};
    };
    add_modern_models(experiment, {of_family("dnn"), of_family("oe"), of_family("dpn")}, options);
    return;
  }
  PaperRecipes recipes{{family + "-dnn", {}}, {family + "-dpn", {}}, ""};
  if (options.profile == Profile::kQuick) {
    recipes.dnn.changes = recipes.dpn.changes = quick_changes(family);
    // In a few epochs the divergence alone teaches little of the classes: as profile modern weighs it.
    for (const auto* change : {"method.alpha0=100", "method.divergence_weight=0.1", "method.outside_weight=0.1"})
      recipes.dpn.changes.emplace_back(change);
  }
  add_paper_models(experiment, recipes, options);
}

void add_colour_remarks(ImageExperiment& experiment, const ImagePlanOptions& options) {
  experiment.remarks.emplace_back(
      "The paper's M.I. of the DPN is probably its entropy: the authors' code returns that, and the two columns agree "
      "within 0.1 in every row. Ours is the mutual information, which is lower for a network trained with the forward "
      "KL.");
  experiment.remarks.emplace_back(
      "Resampling is part of a result: TinyImageNet is 64x64. Bilinear without antialiasing is the paper's reading and "
      "is held to its cells; aliasing makes the set easier to tell apart, antialiased is the harder test.");
  experiment.remarks.emplace_back(
      "Scenes of Places: photographs of ten kinds of scenes as LSUN has them, but not LSUN; no published cell is "
      "theirs.");
  const auto extent = extent_of(options.profile);
  if (options.profile == Profile::kQuick)
    experiment.remarks.push_back(
        fmt::format("Profile quick: a VGG of 16, 32 and 64 channels with batch norm, trained for {} epochs on part of "
                    "the training set, the DPN with a tenth of the divergence; {} inputs a set, {} dropout samples. It "
                    "shows the effect, not the paper's numbers.",
                    experiment.models.front().config.epochs, extent.inputs, extent.dropout_samples));
  if (options.profile != Profile::kModern) return;
  experiment.remarks.emplace_back(
      "Profile modern: ResNet-18 with batch norm, SGD, augmentation with holes; OE is outlier exposure (Hendrycks et "
      "al., 2019) of the same network on the same images. Nothing was chosen by what it does on the sets of these "
      "tables.");
  const auto members = experiment.models.back().config.members;
  if (members > 1)
    experiment.remarks.back() += fmt::format(" The DPNs of the seeds are members of the ensemble of {}.", members);
}

}  // namespace priornet
