#include <priornet/learning/load_set.h>
#include <priornet/learning/network.h>
#include <priornet/learning/scoring.h>
#include <priornet/learning/trained_run.h>
#include <priornet/learning/training.h>
#include <priornet/version.h>
#include <torch/custom_class.h>

#include <mutex>

#include "jobs.h"
#include "learning/base/kept_random_state.h"
#include "learning/base/names.h"
#include "operator_support.h"

// Training and trained runs as objects.

namespace priornet::python {
namespace {

constexpr const char* kInMemory = "python-arrays";

class Training final : public Job {
 public:
  // What it learns from: arrays, or the sets that the configuration names.

  void set_data(const Tensor& inputs, const Tensor& labels, const Strings& class_names, const Strings& feature_names) {
    guarded_values([&] {
      if (const auto fault = fault_of_class_names(class_names); !fault.empty())
        throw ArgumentError("train: the data " + fault);
      data_ = dataset_of(kInMemory, inputs, labels, class_names, feature_names);
    });
  }

  void set_validation(const Tensor& inputs, const Tensor& labels) {
    guarded_values([&] {
      if (!data_) throw ArgumentError("train: validation arrays need training arrays, found none");
      validation_ = dataset_of("validation arrays", inputs, labels, data_->class_names, data_->feature_names);
    });
  }

  // How it learns. Overrides as in read_config().

  void configure_by_file(const std::string& path, const Strings& overrides) {
    guarded([&] { config_ = read_config(load_toml(path), with_name_of_data(overrides)); });
  }

  void configure_by_settings(const Strings& settings) {
    guarded([&] { config_ = read_config(TomlText{}, with_name_of_data(settings)); });
  }

  /// A configuration that suits the arrays or, without arrays, the set of that name.
  void configure_by_data(const std::string& name, const Strings& overrides) {
    if (data_) {
      guarded_values([&] { config_ = suiting(kInMemory, enough_rows(*data_), overrides); });
    } else {
      guarded([&] { config_ = suiting(name, load_set(name), overrides); });
    }
  }

  std::string config() const { return to_toml(config_); }

  /// Trains into the folder; start: new, resume or force. Returns whether it finished without being stopped.
  bool run(const std::string& folder, const std::string& start, const std::string& device) {
    return guarded([&] {
      EnsembleOptions options;
      options.trainer.device = torch::Device(device);
      options.trainer.resume = start == "resume";
      options.start = start == "resume"  ? RunFolder::Start::kResume
                      : start == "force" ? RunFolder::Start::kForce
                                         : RunFolder::Start::kNew;
      options.trainer.stop = [this] { return asked_to_stop(); };
      options.trainer.on_epoch = [this](const EpochReport& report) { add(epochs_, to_json(report)); };
      options.trainer.on_restart = [this](const Restart& restart) { say(to_text(restart)); };
      options.trainer.on_damaged = [this](const std::string& what) { say(what); };
      options.on_member = [this](int64_t member) {
        say("member " + std::to_string(member) + " of " + std::to_string(config_.members));
      };
      try {
        auto sets = data_ ? prepare_training_sets(config_, *data_, validation_) : load_training_sets(config_, *this);
        stops_by_itself();  // the trainer calls it, and writes a checkpoint
        train_run(config_, sets, folder, options, *this);
      } catch (const TrainingStopped&) {
        return false;
      } catch (const StoppedEarly&) {
        return false;
      }
      return true;
    });
  }

  /// One line of JSON per finished epoch, from the given one on.
  Strings epochs(int64_t first) const { return from(epochs_, first); }

 private:
  Strings with_name_of_data(Strings overrides) const {
    if (data_) overrides.push_back(std::string("data.train=") + kInMemory);
    return overrides;
  }

  static TrainConfig suiting(const std::string& name, const Dataset& set, const Strings& overrides) {
    return read_config(TomlText{"", to_toml(config_for(name, set))}, overrides);
  }

  /// config_for() needs rows to keep back; a few rows repeated give the same configuration.
  static Dataset enough_rows(const Dataset& set) {
    constexpr int64_t kRows = 20;
    const auto wanted = std::max(kRows, 2 * set.num_classes());
    if (set.size() == 0 || set.size() >= wanted) return set;
    return select(set, torch::arange(wanted) % set.size());
  }

  std::optional<Dataset> data_;
  std::optional<Dataset> validation_;
  TrainConfig config_;
  Strings epochs_;
};

/// A trained run; its folder may be removed once it is loaded.
class Run final : public torch::CustomClassHolder {
 public:
  Run(const std::string& folder, const std::string& device, bool allow_torchscript)
      : run_(guarded([&] {
          const KeptRandomState kept;  // layers draw their first weights
          OpenOptions options{torch::Device(device)};
          options.allow_torchscript = allow_torchscript;
          return load_run(folder, options);
        })) {}

  /// [N, K], or [M, N, K] of an ensemble; float32, on the run's device.
  Tensor logits(const Tensor& inputs) {
    return guarded_values([&] {
      const std::lock_guard lock(mutex_);
      NoProgress progress;
      return run_logits(run_, dataset_of("inputs", inputs, {}, {}, {}), {}, progress);
    });
  }

  Strings class_names() const { return run_.class_names; }
  Strings feature_names() const { return run_.split.feature_names; }
  std::vector<int64_t> input_shape() const { return run_.members.at(0)->input_shape(); }
  int64_t members() const { return static_cast<int64_t>(run_.members.size()); }
  bool gives_dirichlet() const { return run_.gives_dirichlet(); }
  std::string config() const { return to_toml(run_.config); }

 private:
  TrainedRun run_;
  std::mutex mutex_;  ///< running a network sets it to evaluation mode, and back
};

bool has_cuda() {
#if defined(PRIORNET_CUDA)
  return true;
#else
  return false;
#endif
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(priornet, library) {
  auto training = library.class_<Training>("Training");
  training.def(torch::init<>())
      .def("set_data", &Training::set_data)
      .def("set_validation", &Training::set_validation)
      .def("configure_by_file", &Training::configure_by_file)
      .def("configure_by_settings", &Training::configure_by_settings)
      .def("configure_by_data", &Training::configure_by_data)
      .def("config", &Training::config)
      .def("run", &Training::run)
      .def("epochs", &Training::epochs);
  with_job(training);
  library.class_<Run>("Run")
      .def(torch::init<const std::string&, const std::string&, bool>())
      .def("logits", &Run::logits)
      .def("class_names", &Run::class_names)
      .def("feature_names", &Run::feature_names)
      .def("input_shape", &Run::input_shape)
      .def("members", &Run::members)
      .def("gives_dirichlet", &Run::gives_dirichlet)
      .def("config", &Run::config);
  library.def("has_cuda", has_cuda);
  library.def("version", [] { return std::string(PRIORNET_VERSION); });
}

}  // namespace priornet::python
