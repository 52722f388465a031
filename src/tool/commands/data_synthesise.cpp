#include <fmt/format.h>
#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>

#include <filesystem>
#include <memory>

#include "learning/data/npy.h"
#include "learning/synthesis/made_up_images.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/image_sheets.h"

namespace priornet::tool {
namespace {

struct SynthesisOptions {
  std::string set;
  std::filesystem::path root;
  std::string kind = "factor-analysis";
  int64_t count = 10000;
  FactorAnalysisOptions fit;
  std::string squash = "tanh";
  SampleImagesOptions sampling;
  bool each_sample = false;
  double sigma = 1.0;
  uint64_t seed = 0;
  std::string out;
  std::string sheet;
};

struct Made {
  torch::Tensor images;
  std::string how;
};

Made from_factors(const Dataset& set, const SynthesisOptions& options) {
  TerminalProgress progress;
  const auto model = fit_factor_analysis(to_unit_range(set.inputs).flatten(1), options.fit, progress);
  auto sampling = options.sampling;
  if (options.each_sample) sampling.scale.batch = 1;
  for (const auto& [name, squash] : kSquashNames)
    if (name == options.squash) sampling.squash = squash;
  sampling.seed = options.seed;
  const auto& likelihood = model.log_likelihood;
  return {
      sample_images(model, options.count, image_shape(set), sampling),
      fmt::format("factor analysis of {} images, {} factors: {:.2f} nats per image after {} iterations ({:.2f} before)",
                  set.size(), options.fit.latent, likelihood.back(), likelihood.size() - 1, likelihood.front())};
}

Made make(const SynthesisOptions& options) {
  TerminalProgress progress;
  LoadOptions load{chosen_root(options.root), true, &progress};
  const auto set = load_set(options.set, load);
  const auto shape = image_shape(set);
  if (options.kind == "gaussian-noise")
    return {gaussian_noise_images(options.count, shape, {options.seed}, options.sigma), "Gaussian noise"};
  if (options.kind == "uniform-noise")
    return {uniform_noise_images(options.count, shape, {options.seed}), "uniform noise"};
  return from_factors(set, options);
}

void run(const SynthesisOptions& options) {
  if (options.out.empty() && options.sheet.empty())
    throw Misuse("give --out FILE.npy for the images, or --sheet FILE.png for a picture of some of them");
  const auto [images, how] = make(options);
  auto text = fmt::format("{} images of {}x{}x{} from {}\n", images.size(0), images.size(1), images.size(2),
                          images.size(3), how);
  if (!options.sheet.empty()) {
    write_contact_sheet(options.sheet, images);
    text += fmt::format("Contact sheet: {}\n", options.sheet);
  }
  if (!options.out.empty()) {
    write_npy(options.out, images);
    text += fmt::format("Images written to {}. This path now names a set.\n", options.out);
  }
  print(text);
}

}  // namespace

void describe_data_synthesise(Command& command) {
  const auto options = std::make_shared<SynthesisOptions>();
  std::vector<std::string> squashes;
  for (const auto& [name, squash] : kSquashNames) squashes.emplace_back(name);
  command.options = {
      {.name = "set",
       .to = &options->set,
       .help = "The in-distribution set; the new images get its size",
       .required = true},
      {.name = "--kind",
       .to = &options->kind,
       .help = "factor-analysis, gaussian-noise or uniform-noise",
       .shows_default = true,
       .choices = {"factor-analysis", "gaussian-noise", "uniform-noise"}},
      {.name = "--count", .to = &options->count, .help = "Number of images", .shows_default = true, .range = kPositive},
      {.name = "--latent",
       .to = &options->fit.latent,
       .help = "Factors of factor analysis",
       .shows_default = true,
       .range = kPositive},
      {.name = "--low",
       .to = &options->sampling.scale.low,
       .help = "Lower end of the range from which the factor of the variance is drawn",
       .shows_default = true,
       .range = kNotNegative},
      {.name = "--high",
       .to = &options->sampling.scale.high,
       .help = "Upper end of that range",
       .shows_default = true,
       .range = kNotNegative},
      {.name = "--each",
       .to = &options->each_sample,
       .help = "Draw a factor for each image; by default one for 128 images"},
      {.name = "--squash",
       .to = &options->squash,
       .help = "How values get into the range of grey levels: tanh or clip",
       .shows_default = true,
       .choices = squashes},
      {.name = "--sigma",
       .to = &options->sigma,
       .help = "Sigma of Gaussian noise, in units of half the range of grey levels",
       .shows_default = true,
       .range = kPositive},
      {.name = "--seed", .to = &options->seed, .help = "Seed of the draws", .shows_default = true},
      {.name = "--out", .to = &options->out, .help = "Write the images to this .npy file", .endings = {".npy"}},
      {.name = "--sheet",
       .to = &options->sheet,
       .help = "Write a picture with some of them, a contact sheet, to this .png file",
       .endings = {".png"}},
      root_option(options->root)};
  command.notes =
      "The paper trains MNIST's Prior Network on images from factor analysis with inflated variance as unfamiliar "
      "input.";
  command.examples = {"priornet data synthesise mnist --out unfamiliar.npy"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
