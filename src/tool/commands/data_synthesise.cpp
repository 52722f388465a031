#include <fmt/format.h>
#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>

#include <filesystem>
#include <memory>

#include "learning/data/npy.h"
#include "learning/synthesis/made_up_images.h"
#include "tool/commands/data_commands.h"
#include "tool/commands/options.h"
#include "tool/commands/terminal.h"
#include "tool/report/image_sheets.h"

namespace priornet::tool {
namespace {

struct Options {
  std::string set;
  std::string root;
  std::string kind = "factor-analysis";
  int64_t count = 10000;
  FactorAnalysisOptions fit;
  std::string squash = "tanh";
  SampleImagesOptions sampling;
  bool each_sample = false;
  double sigma = 1.0;
  uint64_t seed = 0;
  std::string out;
  std::string sheet = "synthetic-sheet.png";
};

struct Made {
  torch::Tensor images;
  std::string how;
};

Made from_factors(const Dataset& set, const Options& options) {
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
      fmt::format("factor analysis of {} images, {} factors: {:.2f} nats an image after {} iterations ({:.2f} before)",
                  set.size(), options.fit.latent, likelihood.back(), likelihood.size() - 1, likelihood.front())};
}

Made make(const Options& options) {
  TerminalProgress progress;
  LoadOptions load{options.root.empty() ? data_root() : std::filesystem::path(options.root), true, &progress};
  const auto set = load_set(options.set, load);
  const auto shape = image_shape(set);
  if (options.kind == "gaussian-noise")
    return {gaussian_noise_images(options.count, shape, {options.seed}, options.sigma), "Gaussian noise"};
  if (options.kind == "uniform-noise")
    return {uniform_noise_images(options.count, shape, {options.seed}), "uniform noise"};
  return from_factors(set, options);
}

void run(const Options& options) {
  if (!options.out.empty() && std::filesystem::path(options.out).extension() != ".npy")
    throw DataError(fmt::format("{}: should end in .npy", options.out));
  const auto [images, how] = make(options);
  write_contact_sheet(options.sheet, images);
  auto text = fmt::format("{} images of {}x{}x{} from {}\nContact sheet: {}\n", images.size(0), images.size(1),
                          images.size(2), images.size(3), how, options.sheet);
  if (!options.out.empty()) {
    write_npy(options.out, images);
    text += fmt::format("Images: {}, a set by its path\n", options.out);
  }
  print(text);
}

}  // namespace

void add_data_synthesise(CLI::App& data) {
  auto* command = data.add_subcommand("synthesise", "Make out-of-distribution images from nothing but a set");
  const auto options = std::make_shared<Options>();
  command->add_option("set", options->set, "The set they should stand apart from; they have its size")->required();
  command->add_option("--kind", options->kind, "factor-analysis, gaussian-noise or uniform-noise")
      ->check(CLI::IsMember({"factor-analysis", "gaussian-noise", "uniform-noise"}))
      ->capture_default_str();
  command->add_option("--count", options->count, "How many")->check(kPositive)->capture_default_str();
  command->add_option("--latent", options->fit.latent, "Factors of factor analysis")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--low", options->sampling.scale.low, "The variance is inflated by a draw between --low ...")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_option("--high", options->sampling.scale.high, "... and --high")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_flag("--each", options->each_sample, "A draw for each image; otherwise one for 128");
  command->add_option("--squash", options->squash, "Into the range of grey levels by tanh or clip")
      ->check(CLI::IsMember({"tanh", "clip"}))
      ->capture_default_str();
  command->add_option("--sigma", options->sigma, "Of Gaussian noise, in units of half the range of grey levels")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the draws")->capture_default_str();
  command->add_option("--out", options->out, "Also write the images, to this .npy file");
  command->add_option("--sheet", options->sheet, "The contact sheet, a PNG")->capture_default_str();
  command->add_option("--root", options->root, "The data root; else PRIORNET_DATA and its defaults");
  command->footer(
      "Factor analysis with inflated variance is what the paper trains MNIST's Prior Network on as unfamiliar "
      "input.\n\n"
      "Example:\n"
      "  priornet data synthesise mnist --out unfamiliar.npy");
  command->callback([options] { run(*options); });
}

}  // namespace priornet::tool
