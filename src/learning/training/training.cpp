#include <priornet/learning/training.h>

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/outliers.h>
#include <priornet/learning/trained_run.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>
#include <priornet/uncertainty/random.h>
#include <torch/utils.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "learning/base/gpu_modes.h"
#include "learning/base/json_text.h"
#include "learning/base/kept_random_state.h"
#include "learning/training/checkpoint.h"
#include "learning/training/run_processes.h"
#include "learning/training/training_batches.h"
#include "learning/training/training_progress.h"
#include "learning/training/training_step.h"

namespace priornet {
namespace {

using Means = std::vector<std::pair<std::string, double>>;

double prior_of(const TrainConfig& config) { return config.model.prior.value_or(BatchTargets().prior); }

Means means_of(const torch::Tensor& logits, const MethodInfo& method) {
  Means means;
  for (const auto& [name, values] :
       method.gives_dirichlet ? measure_columns(dirichlet_measures(logits)) : measure_columns(softmax_measures(logits)))
    if (is_score(name)) means.emplace_back(name, values.to(torch::kFloat64).mean().item<double>());
  return means;
}

}  // namespace

Validation validate(Classifier& network, const Dataset& set, const torch::Tensor& outside, const MethodInfo& method,
                    const InferenceOptions& options) {
  auto of_set = options;
  of_set.rows = set.rows;
  const auto logits = infer(network, set.inputs, of_set);
  check_finite(logits.unsqueeze(0), set.name);
  const auto probabilities = expected_categorical(logits);
  const auto labels = set.labels.to(torch::kCPU);
  Validation result;
  result.error = error_rate(probabilities, labels);
  result.negative_log_likelihood = negative_log_likelihood(probabilities, labels);
  result.calibration_error = calibration_error(probabilities, labels);
  result.inside = means_of(logits, method);
  if (outside.defined() && outside.size(0) > 0) result.outside = means_of(infer(network, outside, options), method);
  return result;
}

EpochReport report_of(const torch::Tensor& sums) {
  const auto values = sums.to(torch::kCPU);
  const auto mean = [&](StepSum which) { return values[which].item<double>() / values[kCount].item<double>(); };
  EpochReport report;
  report.loss = mean(kLoss);
  report.inside = mean(kInside);
  report.outside = mean(kOutside);
  report.cross_entropy = mean(kCrossEntropy);
  report.gradient_norm = mean(kGradientNorm);
  return report;
}

std::string to_json(const EpochReport& report) {
  nlohmann::ordered_json json = {{"epoch", report.epoch},
                                 {"loss", report.loss},
                                 {"inside", report.inside},
                                 {"outside", report.outside},
                                 {"cross_entropy", report.cross_entropy},
                                 {"gradient_norm", report.gradient_norm},
                                 {"rate", report.rate},
                                 {"seconds", report.seconds},
                                 {"images_per_second", report.images_per_second}};
  if (report.restart > 0) json["restart"] = report.restart;
  if (const auto& validation = report.validation) {
    auto& part = json["validation"];
    part = {{"error", validation->error},
            {"nll", validation->negative_log_likelihood},
            {"ece", validation->calibration_error}};
    for (const auto& [name, mean] : validation->inside) part["inside"][name] = mean;
    for (const auto& [name, mean] : validation->outside) part["outside"][name] = mean;
  }
  return json_text(json);
}

std::string to_text(const Restart& restart) {
  return fmt::format(
      "after epoch {} the error on the validation set is {:.1f} %, no better than chance ({:.1f} %): restart {}, from "
      "another seed",
      restart.epoch, 100 * restart.error, 100 * restart.chance, restart.number);
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kOutsideValidation = 1000;  // images
constexpr double kNoneYet = 1e300;            // above any error or NLL

/// Thrown by a run that has to begin again from another seed.
struct NoBetterThanChance {
  Restart restart;
};

double chance_error(const torch::Tensor& labels) {
  return 1.0 - static_cast<double>(torch::bincount(labels.to(torch::kCPU)).max().item<int64_t>()) /
                   static_cast<double>(labels.numel());
}

uint64_t seed_of_restart(int64_t seed, int64_t restart) {
  const auto first = static_cast<uint64_t>(seed);
  return restart == 0 ? first : derive_seed(first, fmt::format("restart {}", restart));
}

class Run {
 public:
  /// `restart`: how often the run has begun again.
  Run(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder, const TrainerOptions& options,
      int64_t restart, Progress& progress)
      : config_(config),
        sets_(sets),
        folder_(folder),
        options_(options),
        progress_(progress),
        processes_(options.processes),
        seed_(seed_of_restart(config.seed, restart)),
        network_(make_network()),
        parameters_(trained_parameters()),
        outside_(make_outside_source()),
        batches_(sets.train, outside_.get(), options.device, batch_options()),
        rates_(learning_rates(config.schedule, {config.epochs, batches_.steps_per_epoch()})),
        optimiser_(Optimiser::make(parameters_, config.optimiser, rates_)),
        step_(TrainingStep::make(
            *network_, parameters_, *optimiser_,
            {config.method, config.precision == Precision::kBFloat16, processes_.exchange_gradients(parameters_),
             [this] {
               if (average_) average_->update();
             },
             config.freeze, sets.teacher, class_weights(), prior_of(config)})) {
    if (config.weight_average) average_.emplace(*network_, parameters_, *config.weight_average);
    // Settings that the loss refuses must be refused before an older run is removed.
    const auto classes = network_->classes();
    BatchTargets example{torch::zeros({1}, torch::kInt64), {}, prior_of(config)};
    if (sets.teacher) example.teacher = torch::full({1, classes}, 1.0 / static_cast<double>(classes));
    step_->method().loss(torch::zeros({1, classes}), example, 1.0);
    facts_.config = to_toml(config);
    facts_.class_names = json_text(nlohmann::json(sets.train.class_names));
    facts_.best = kNoneYet;
    facts_.restart = restart;
  }

  std::shared_ptr<Classifier> train() {
    begin();
    const auto steps = batches_.steps_per_epoch();
    TrainingProgress shown(progress_, {config_.epochs, steps, inputs_per_step(), facts_.step,
                                       sets_.train.has_images() ? "images" : "rows"});
    auto epoch = facts_.step / steps;
    for (; epoch < config_.epochs && !is_out_of_patience(); ++epoch) train_epoch(epoch, shown);
    if (epoch < config_.epochs && options_.on_patience && processes_.is_first())
      options_.on_patience(epoch - facts_.since_best);
    if (average_) average_->exchange();
    processes_.finish(*network_);
    return network_;
  }

 private:
  std::shared_ptr<Classifier> make_network() const {
    auto model = model_for(config_, sets_.train);
    // A run that goes on no longer needs the file that its network came from.
    if (options_.resume && !folder_.steps().empty()) model.program = read_program(folder_.path());
    auto network = make_model(model, make_generator(derive_seed(seed_, "weights")));
    if (!config_.weights.empty()) load_pretrained(*network, config_.weights);
    network->to(options_.device);
    if (sets_.train.has_images()) to_channels_last(*network);
    return network;
  }

  std::vector<torch::Tensor> trained_parameters() const {
    if (!config_.freeze) return network_->parameters();
    const auto last = network_->last_parameters();
    if (last.empty())
      throw ConfigError(fmt::format("training.freeze trains only the last layers, but {} does not say which they are",
                                    network_->name()));
    for (auto& parameter : network_->parameters()) parameter.set_requires_grad(false);
    for (auto parameter : last) parameter.set_requires_grad(true);
    return last;
  }

  std::unique_ptr<OutsideSource> make_outside_source() const {
    if (!method_info(config_.method.name).needs_outside || config_.outside_batch == 0) return nullptr;
    return make_outside(config_.outside, {sets_.train, options_.device, derive_seed(seed_, "outside"), progress_,
                                          processes_.broadcast(), sets_.split.scale.drawn_in});
  }

  // A row of class c counts N_c^-balance times, scaled so that the mean over the rows is 1.
  torch::Tensor class_weights() const {
    const auto balance = config_.balance.value_or(0.0);
    if (balance == 0.0) return {};
    const auto counts = class_counts(sets_.train).to(torch::kFloat64).clamp_min(1.0);
    auto weights = counts.pow(-balance);
    weights /= (weights * counts).sum() / counts.sum();  // a row's weight is 1 on average
    return weights.to(torch::kFloat32).to(options_.device);
  }

  TrainingBatchesOptions batch_options() const {
    return {config_.batch,
            config_.outside_batch,
            config_.augmentation,
            config_.noise,
            derive_seed(seed_, "batches"),
            processes_.share(),
            sets_.train.has_images(),
            config_.precision == Precision::kBFloat16};
  }

  bool is_out_of_patience() const { return config_.patience && processes_.any(facts_.since_best >= *config_.patience); }

  // With patience, the run keeps the network of the best epoch, in the last checkpoint, which readers open by default.
  void keep_best() {
    if (facts_.since_best == 0) return;
    load_weights(read_tensor_file(folder_.best()), *network_);
    write(folder_.checkpoint(facts_.step));
  }

  int64_t inputs_per_step() const { return config_.batch + (outside_ ? config_.outside_batch : 0); }

  void begin() {
    const auto newest = options_.resume ? newest_whole_checkpoint(folder_).step : std::nullopt;
    if (newest) facts_ = resume_checkpoint(folder_.checkpoint(*newest), state(), facts_.config);
    if (const auto done = facts_.step / batches_.steps_per_epoch(); done > config_.epochs)
      throw ConfigError(
          fmt::format("training.epochs: the run in {} has {} epochs already; give at least as many, found {}",
                      folder_.path().string(), done, config_.epochs));
    processes_.begin({facts_.config, facts_.class_names, sets_.train.size(), facts_.step, folder_.path().string()},
                     parameters_);
    if (!processes_.is_first()) return;
    folder_.begin();
    if (options_.on_begin) options_.on_begin();
    write_training_split(folder_.path(), sets_.split);
    folder_.cut_metrics(facts_.step / batches_.steps_per_epoch() + 1);
    folder_.write_config(facts_.config);
    folder_.write_program(network_->program());
  }

  void train_epoch(int64_t epoch, TrainingProgress& shown) {
    const auto steps = batches_.steps_per_epoch();
    const auto first = facts_.step;
    const auto started = Clock::now();
    bool stopping = false;
    network_->train();
    while (facts_.step < (epoch + 1) * steps) {
      train_step();
      // A complete epoch is finished first: a resumed run goes on from its checkpoint.
      stopping = stopping || asked_to_stop();
      if (stopping && facts_.step < (epoch + 1) * steps) stop();
      shown.report(facts_.step, rates_[static_cast<size_t>(facts_.step - 1)], losses_so_far());
    }
    check_finite();
    const std::chrono::duration<double> seconds = Clock::now() - started;
    finish_epoch(epoch, seconds.count(), facts_.step - first);
    if (facts_.restart < config_.restarts.value_or(0) && processes_.any(chance_.has_value()))
      throw NoBetterThanChance{chance_.value_or(Restart{facts_.restart + 1, epoch + 1, 0.0, 0.0})};
    if (stopping && epoch + 1 < config_.epochs) stop();
  }

  void train_step() {
    // Dropout draws from LibTorch's own generator, which is seeded for each step, so that a run can go on at any step.
    torch::manual_seed(derive_seed(seed_, processes_.own(fmt::format("dropout {}", facts_.step))));
    step_->run(batches_, facts_.step);
    ++facts_.step;
    if (options_.device.is_cpu()) check_finite();
  }

  // All processes stop at the same step. To agree, the host waits for the device: on a GPU only now and then.
  bool asked_to_stop() {
    constexpr int64_t kStepsBetweenAgreements = 32;
    asked_ = (options_.stop && options_.stop()) || asked_;
    if (options_.processes && !options_.device.is_cpu() && facts_.step % kStepsBetweenAgreements != 0) return false;
    return processes_.any(asked_);
  }

  // On a GPU the host would have to wait.
  std::optional<EpochReport> losses_so_far() {
    if (!options_.device.is_cpu()) return std::nullopt;
    return report_of(step_->sums());
  }

  // Every step of the epoch counts; the first that does not went wrong.
  void check_finite() {
    const auto steps = batches_.steps_per_epoch();
    const auto first = (facts_.step - 1) / steps * steps;
    const auto good = first + step_->sums()[kCount].to(torch::kCPU).item<int64_t>();
    if (good == facts_.step) return;
    const auto rows = batches_.rows(good).to(torch::kCPU);
    const auto kept = folder_.steps();
    throw Error(fmt::format(
        "the loss is not finite at step {}: its batch holds the rows {} of {}; {}", good,
        fmt::join(std::vector<int64_t>(rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()), " "),
        sets_.train.name,
        kept.empty() ? "there is no checkpoint yet"
                     : "the last good checkpoint is " + folder_.checkpoint(kept.back()).string()));
  }

  [[noreturn]] void stop() {
    const auto path = folder_.checkpoint(facts_.step);
    processes_.average(step_->sums());
    if (processes_.is_first()) write(path);
    processes_.barrier();
    throw TrainingStopped(fmt::format("stopped at step {}; --resume goes on from {}", facts_.step, path.string()));
  }

  void write(const std::filesystem::path& path) { write_checkpoint(path, state(), facts_); }

  CheckpointedState state() { return {*network_, *optimiser_, step_->sums(), average_ ? &*average_ : nullptr}; }

  void finish_epoch(int64_t epoch, double seconds, int64_t steps) {
    processes_.average(step_->sums());
    if (!processes_.is_first()) {
      step_->sums().zero_();
      return;
    }
    auto report = report_of(step_->sums());
    report.epoch = epoch + 1;
    report.rate = rates_[static_cast<size_t>(facts_.step - 1)];
    report.seconds = seconds;
    report.images_per_second = static_cast<double>(steps * inputs_per_step()) / seconds;
    report.restart = facts_.restart;
    report.validation = validation();
    step_->sums().zero_();
    if (report.validation) look_for_chance(epoch + 1, report.validation->error);
    const bool best = report.validation && watched(*report.validation) < facts_.best;
    if (best) facts_.best = watched(*report.validation);
    facts_.since_best = best || !report.validation ? 0 : facts_.since_best + 1;
    folder_.add_metrics(to_json(report));
    const auto done = epoch + 1;
    // Before the checkpoint, which records it: a resumed run does not write the line again.
    if (best) write(folder_.best());
    if (done % config_.checkpoint_every == 0 || done == config_.epochs) write(folder_.checkpoint(facts_.step));
    if (config_.patience && (done == config_.epochs || facts_.since_best >= *config_.patience)) keep_best();
    folder_.keep_last(config_.keep_checkpoints);
    if (options_.on_epoch) options_.on_epoch(report);
  }

  double watched(const Validation& validation) const {
    return config_.patience ? validation.negative_log_likelihood : validation.error;
  }

  void look_for_chance(int64_t epoch, double error) {
    const auto chance = chance_error(sets_.validation->labels);
    if (error >= chance)
      chance_ = Restart{facts_.restart + 1, epoch, error, chance};
    else
      chance_.reset();
  }

  std::optional<Validation> validation() {
    if (!sets_.validation) return std::nullopt;
    const AveragedWeights averaged(average_ ? &*average_ : nullptr);
    torch::Tensor outside;
    // Steps that training never reaches.
    if (outside_)
      outside = outside_->batch({static_cast<int64_t>(rates_.size()), kOutsideValidation, 0, kOutsideValidation});
    InferenceOptions inference;
    inference.noise = config_.noise;
    inference.seed = derive_seed(seed_, "validation");
    inference.bfloat16 = config_.precision == Precision::kBFloat16;
    return validate(*network_, *sets_.validation, outside, method_info(config_.method.name), inference);
  }

  const TrainConfig& config_;
  const TrainingSets& sets_;
  const RunFolder& folder_;
  const TrainerOptions& options_;
  Progress& progress_;
  RunProcesses processes_;
  uint64_t seed_;
  std::shared_ptr<Classifier> network_;
  FlatParameters parameters_;
  std::unique_ptr<OutsideSource> outside_;
  TrainingBatches batches_;
  std::vector<double> rates_;
  std::unique_ptr<Optimiser> optimiser_;
  std::optional<WeightAverage> average_;
  std::unique_ptr<TrainingStep> step_;
  CheckpointFacts facts_;
  bool asked_ = false;             ///< to stop
  std::optional<Restart> chance_;  ///< set where the network answers no better than chance after the last epoch
};

/// The run of the last checkpoint in the folder. The process that writes sets newer, damaged ones aside; the others
/// skip them.
int64_t restarts_so_far(const RunFolder& folder, const TrainerOptions& options) {
  if (!options.resume) return 0;
  const auto newest = newest_whole_checkpoint(folder);
  for (const auto& [step, reason] : newest.damaged) {
    if (options.processes != nullptr && !options.processes->is_first()) continue;
    folder.set_aside(step);
    if (options.on_damaged)
      options.on_damaged(fmt::format("{}; it is set aside as {}.damaged, and the run goes on from {}", reason,
                                     folder.checkpoint(step).filename().string(),
                                     folder.checkpoint(*newest.step).filename().string()));
  }
  return newest.step ? checkpoint_facts(read_tensor_file(folder.checkpoint(*newest.step))).restart : 0;
}

// A set that was moved is recognised by its rows, if the run noted them.
void check_same_data(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder) {
  if (!std::filesystem::exists(folder.config())) return;
  auto before = read_training_split(folder.path());
  if (before.content.empty()) before = read_training_split(folder.path().parent_path());  // of a member's run
  if (!before.may_be_of(sets.split.content))
    throw DataError(fmt::format("{}: its rows have changed since {} began; --force starts again", config.train,
                                folder.path().string()));
  TrainConfig then;  // as it stands there: for sets in memory it may lack what read_config needs
  read_toml(folder.config(), {}, [&](ConfigFields& fields) { visit_config(then, fields); });
  if (then.train != config.train && before.content.empty())
    throw DataError(fmt::format("{}: began with {}, and nobody can check whether {} holds the same rows",
                                folder.path().string(), then.train, config.train));
}

std::shared_ptr<Classifier> trained(const TrainConfig& config, TrainingSets sets, const RunFolder& folder,
                                    const TrainerOptions& options, Progress& progress) {
  check_config(config);
  add_teacher(sets, config, options.device);
  std::optional<RunLock> lock;
  if (options.processes == nullptr || options.processes->is_first()) lock.emplace(folder);
  if (options.resume) check_same_data(config, sets, folder);
  folder.check_config(to_toml(config));
  auto attempt = options;
  auto place = folder;
  auto restart = restarts_so_far(folder, options);
  try {
    while (true) {
      try {
        return Run(config, sets, place, attempt, restart, progress).train();
      } catch (const NoBetterThanChance& chance) {
        restart = chance.restart.number;
        const bool writes = options.processes == nullptr || options.processes->is_first();
        if (writes) folder.remove_checkpoints();
        if (writes && options.on_restart) options.on_restart(chance.restart);
        attempt.resume = false;
        attempt.on_begin = nullptr;                          // its work is done,
        place = {folder.path(), RunFolder::Start::kResume};  // and an older run is gone
      }
    }
  } catch (const c10::OutOfMemoryError&) {
    throw Error(
        fmt::format("out of memory on {} with batches of {} + {}: set training.batch and "
                    "training.outside_batch lower",
                    options.device.str(), config.batch, config.outside_batch));
  }
}

}  // namespace

std::shared_ptr<Classifier> train(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder,
                                  const TrainerOptions& options, Progress& progress) {
  const CaptureStream stream(options.device);
  const KeptRandomState kept;
  try {
    return trained(config, sets, folder, options, progress);
  } catch (const TrainingStopped&) {
    throw;
  } catch (const std::exception& error) {
    if (options.processes) options.processes->leave(error.what());
    throw;
  }
}

std::filesystem::path member_folder(const std::filesystem::path& run, int64_t member) {
  return run / fmt::format("member-{}", member);
}

TrainConfig member_config(const TrainConfig& config, int64_t member) {
  auto alone = config;
  alone.members = 1;
  const auto seed = derive_seed(static_cast<uint64_t>(config.seed), fmt::format("member {}", member));
  alone.seed = static_cast<int64_t>(seed >> 1);  // TOML has only 63 bits
  return alone;
}

void train_run(const TrainConfig& config, const TrainingSets& given, const std::filesystem::path& folder,
               const EnsembleOptions& options, Progress& progress) {
  auto sets = given;
  add_teacher(sets, config, options.trainer.device);  // once for all members
  auto* const processes = options.trainer.processes;
  const bool writes = processes == nullptr || processes->is_first();
  const auto whole = open_run_folder(folder, options.start, processes);
  if (config.members == 1) {
    train(config, sets, whole, options.trainer, progress);
    return;
  }
  std::optional<RunLock> lock;
  if (writes) lock.emplace(whole);
  // An existing run is compared member by member, and changed only if all agree.
  const auto write_config_once = [&] {
    if (!std::filesystem::exists(whole.config())) whole.write_config(to_toml(config));
  };
  if (writes) write_config_once();
  for (int64_t member = 1; member <= config.members; ++member) {
    if (options.on_member) options.on_member(member);
    const auto own = open_run_folder(member_folder(folder, member), options.start, processes);
    auto trainer = options.trainer;
    trainer.on_begin = [&, member] {
      if (member > 1) return;
      whole.begin();
      own.begin();
      write_config_once();
      write_training_split(folder, sets.split);
      if (options.trainer.on_begin) options.trainer.on_begin();
    };
    train(member_config(config, member), sets, own, trainer, progress);
  }
  if (writes) whole.write_config(to_toml(config));
}

}  // namespace priornet
