#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/atomic_file.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>
#include <priornet/train/checkpoint.h>
#include <priornet/train/processes/run_processes.h>
#include <priornet/train/trainer.h>
#include <priornet/train/training_batches.h>
#include <priornet/train/training_step.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kOutsideValidation = 1000;  // images
constexpr double kNoneYet = 2.0;              // above any error rate

ModelOptions model_for(const TrainConfig& config, const Dataset& train) {
  auto model = config.model;
  model.input = train.inputs.sizes().slice(1).vec();
  model.classes = train.num_classes();
  return model;
}

class Run {
 public:
  Run(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder, const TrainerOptions& options,
      Progress& progress)
      : config_(config),
        sets_(sets),
        folder_(folder),
        options_(options),
        progress_(progress),
        processes_(options.processes),
        seed_(static_cast<uint64_t>(config.seed)),
        network_(make_network()),
        parameters_(network_->parameters()),
        outside_(make_outside_source()),
        batches_(sets.train, sets.teacher, outside_.get(), options.device, batch_options()),
        rates_(learning_rates(config.schedule, {config.epochs, batches_.steps_an_epoch()})),
        optimiser_(Optimiser::make(parameters_, config.optimiser, rates_)),
        step_(*network_, parameters_, *optimiser_,
              {config.method, config.precision == Precision::kBFloat16, processes_.exchange_gradients(parameters_)}) {
    facts_.config = to_toml(config);
    facts_.class_names = nlohmann::json(sets.train.class_names).dump();
    facts_.best = kNoneYet;
  }

  std::shared_ptr<Network> train() {
    begin();
    const auto steps = batches_.steps_an_epoch();
    for (auto epoch = facts_.step / steps; epoch < config_.epochs; ++epoch) train_epoch(epoch);
    processes_.finish(*network_);
    return network_;
  }

 private:
  std::shared_ptr<Network> make_network() const {
    auto network = make_model(model_for(config_, sets_.train), make_generator(derive_seed(seed_, "weights")));
    network->to(options_.device);
    return network;
  }

  std::unique_ptr<OutsideSource> make_outside_source() const {
    if (!needs_outside(config_.method.method) || config_.outside_batch == 0) return nullptr;
    return make_outside(config_.outside, {sets_.train, options_.device, derive_seed(seed_, "outside"), progress_,
                                          processes_.broadcast()});
  }

  TrainingBatchesOptions batch_options() const {
    return {config_.batch, config_.outside_batch,         config_.augmentation,
            config_.noise, derive_seed(seed_, "batches"), processes_.share()};
  }

  void begin() {
    const auto done = folder_.steps();
    if (options_.resume && !done.empty())
      facts_ = resume_checkpoint(folder_.checkpoint(done.back()), *network_, *optimiser_, step_.sums(), facts_.config);
    processes_.begin({facts_.config, facts_.class_names, sets_.train.size(), facts_.step, folder_.path().string()},
                     parameters_);
    if (!processes_.is_first()) return;
    folder_.cut_metrics(facts_.step / batches_.steps_an_epoch() + 1);
    AtomicFile file(folder_.config());
    file.write(facts_.config);
    file.commit();
  }

  void train_epoch(int64_t epoch) {
    const auto steps = batches_.steps_an_epoch();
    const auto first = facts_.step;
    const auto started = Clock::now();
    bool stopping = false;
    network_->train();
    const auto task = fmt::format("epoch {} of {}", epoch + 1, config_.epochs);
    while (facts_.step < (epoch + 1) * steps) {
      progress_.report(task, facts_.step - epoch * steps, steps);
      train_step();
      // An epoch that is over is finished first: its checkpoint is the one to go on from.
      stopping = stopping || asked_to_stop();
      if (stopping && facts_.step < (epoch + 1) * steps) stop();
    }
    progress_.report(task, steps, steps);
    const std::chrono::duration<double> seconds = Clock::now() - started;
    finish_epoch(epoch, seconds.count(), facts_.step - first);
    if (stopping && epoch + 1 < config_.epochs) stop();
  }

  void train_step() {
    // Dropout draws from LibTorch's own generator: seeded for each step, a run can go on at any of them.
    torch::manual_seed(derive_seed(seed_, processes_.own(fmt::format("dropout {}", facts_.step))));
    const auto batch = batches_.at(facts_.step);
    step_.run(batch.inputs, batch.targets);
    if (options_.device.is_cpu()) check_finite();
    ++facts_.step;
  }

  // All processes stop at the same step. To agree, the host waits for the device: on a GPU only now and then.
  bool asked_to_stop() {
    constexpr int64_t kStepsOfAGpu = 32;
    asked_ = asked_ || (options_.stop && options_.stop());
    if (options_.processes && !options_.device.is_cpu() && facts_.step % kStepsOfAGpu != 0) return false;
    return processes_.any(asked_);
  }

  // Of the sums, to which what is not finite sticks.
  void check_finite() {
    if (std::isfinite(step_.sums()[kLoss].item<double>()) && std::isfinite(step_.sums()[kGradientNorm].item<double>()))
      return;
    const auto rows = batches_.rows(facts_.step);
    const auto kept = folder_.steps();
    throw Error(fmt::format(
        "the loss is not finite at step {}: its batch holds the rows {} of {}; {}", facts_.step,
        fmt::join(std::vector<int64_t>(rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()), " "),
        sets_.train.name,
        kept.empty() ? "there is no checkpoint yet"
                     : "the last good checkpoint is " + folder_.checkpoint(kept.back()).string()));
  }

  [[noreturn]] void stop() {
    const auto path = folder_.checkpoint(facts_.step);
    processes_.average(step_.sums());
    if (processes_.is_first()) write(path);
    processes_.barrier();
    throw TrainingStopped(fmt::format("stopped at step {}; --resume goes on from {}", facts_.step, path.string()));
  }

  void write(const std::filesystem::path& path) {
    write_checkpoint(path, *network_, *optimiser_, step_.sums(), facts_);
  }

  void finish_epoch(int64_t epoch, double seconds, int64_t steps) {
    processes_.average(step_.sums());
    const auto sums = step_.sums().to(torch::kCPU);
    const auto mean = [&](StepSum which) { return sums[which].item<double>() / sums[kCount].item<double>(); };
    if (!options_.device.is_cpu()) check_finite();
    if (!processes_.is_first()) {
      step_.sums().zero_();
      return;
    }
    EpochReport report;
    report.epoch = epoch + 1;
    report.loss = mean(kLoss);
    report.inside = mean(kInside);
    report.outside = mean(kOutside);
    report.cross_entropy = mean(kCrossEntropy);
    report.gradient_norm = mean(kGradientNorm);
    report.rate = rates_[static_cast<size_t>(facts_.step - 1)];
    report.seconds = seconds;
    const auto images = steps * (config_.batch + (outside_ ? config_.outside_batch : 0));
    report.images_a_second = seconds > 0 ? static_cast<double>(images) / seconds : 0.0;
    report.validation = validation();
    step_.sums().zero_();
    const bool best = report.validation && report.validation->error < facts_.best;
    if (best) facts_.best = report.validation->error;
    folder_.add_metrics(to_json(report));
    write(folder_.checkpoint(facts_.step));
    if (best) write(folder_.best());
    folder_.keep_last(config_.keep_checkpoints);
    if (options_.on_epoch) options_.on_epoch(report);
  }

  std::optional<Validation> validation() {
    if (!sets_.validation) return std::nullopt;
    torch::Tensor outside;
    // Steps that training never reaches.
    if (outside_)
      outside = outside_->batch({static_cast<int64_t>(rates_.size()), kOutsideValidation, 0, kOutsideValidation});
    InferenceOptions inference;
    inference.noise = config_.noise;
    inference.seed = derive_seed(seed_, "validation");
    inference.bfloat16 = config_.precision == Precision::kBFloat16;
    return validate(*network_, *sets_.validation, outside, config_.method.method, inference);
  }

  const TrainConfig& config_;
  const TrainingSets& sets_;
  const RunFolder& folder_;
  const TrainerOptions& options_;
  Progress& progress_;
  RunProcesses processes_;
  uint64_t seed_;
  std::shared_ptr<Network> network_;
  FlatParameters parameters_;
  std::unique_ptr<OutsideSource> outside_;
  TrainingBatches batches_;
  std::vector<double> rates_;
  std::unique_ptr<Optimiser> optimiser_;
  TrainingStep step_;
  CheckpointFacts facts_;
  bool asked_ = false;  ///< to stop
};

}  // namespace

std::string to_json(const EpochReport& report) {
  nlohmann::ordered_json json = {{"epoch", report.epoch},
                                 {"loss", report.loss},
                                 {"inside", report.inside},
                                 {"outside", report.outside},
                                 {"cross_entropy", report.cross_entropy},
                                 {"gradient_norm", report.gradient_norm},
                                 {"rate", report.rate},
                                 {"seconds", report.seconds},
                                 {"images_a_second", report.images_a_second}};
  if (const auto& validation = report.validation) {
    auto& part = json["validation"];
    part = {
        {"error", validation->error}, {"nll", validation->log_likelihood_loss}, {"ece", validation->calibration_error}};
    for (const auto& [name, mean] : validation->inside) part["inside"][name] = mean;
    for (const auto& [name, mean] : validation->outside) part["outside"][name] = mean;
  }
  return json.dump();
}

std::shared_ptr<Network> train(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder,
                               const TrainerOptions& options, Progress& progress) {
  try {
    return Run(config, sets, folder, options, progress).train();
  } catch (const ProcessGone&) {
    throw;
  } catch (const TrainingStopped&) {
    throw;
  } catch (const std::exception& error) {
    if (options.processes) options.processes->leave(error.what());
    throw;
  }
}

}  // namespace priornet
