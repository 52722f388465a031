#include <fmt/format.h>
#include <priornet/deploy/model_export.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/predictor.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/evaluation.h>
#include <priornet/uncertainty/random.h>
#include <torch/custom_class.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "jobs.h"
#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/kept_random_state.h"
#include "learning/base/names.h"
#include "learning/base/run_record.h"
#include "learning/training/checkpoint.h"
#include "operator_support.h"
#include "tool/report/evaluation_results.h"
#include "tool/report/page.h"

// Models in use, as objects: they predict, and are calibrated, saved, exported, evaluated. All other arguments and
// results are JSON.

namespace priornet::python {
namespace {

using Json = nlohmann::ordered_json;

/// A model never changes: calibration makes another one.
class Model final : public torch::CustomClassHolder {
 public:
  explicit Model(ModelFile model) : predictor_(std::move(model)), scores_(score_names(predictor_.model())) {}

  const ModelFile& file() const { return predictor_.model(); }

  /// Images of another size are resized.
  Predictions said_of(const Tensor& inputs) {
    const auto& preprocessing = file().preprocessing;
    if (!preprocessing.takes_images() || inputs.dim() != 4 || inputs.size(0) == 0 ||
        inputs.sizes().slice(1) == torch::IntArrayRef(preprocessing.shape))
      return predictor_.predict(inputs);
    Tensors fitted;
    for (const auto& image : inputs.unbind()) fitted.push_back(predictor_.fitted(image));
    return predictor_.predict(torch::stack(fitted));
  }

  /// Prediction, probability, probabilities, scores [S, N], p-values, verdicts, and which score rejected, -1 for none.
  /// For a model that is not calibrated the last three are empty.
  Tensors predict(const Tensor& inputs) {
    return guarded_values([&] {
      const auto said = said_of(inputs);
      Tensors scores;
      for (const auto& column : said.scores) scores.push_back(column.values);
      const auto count = static_cast<int64_t>(said.decisions.size());
      const auto p_value = torch::empty({count}, torch::kFloat64);
      const auto verdict = torch::empty({count}, torch::kInt64);
      const auto spoke = torch::empty({count}, torch::kInt64);
      for (int64_t i = 0; i < count; ++i) {
        const auto& decision = said.decisions[static_cast<size_t>(i)];
        p_value.data_ptr<double>()[i] = decision.p_value;
        verdict.data_ptr<int64_t>()[i] = static_cast<int64_t>(decision.verdict);
        spoke.data_ptr<int64_t>()[i] = place_of(decision.watch);
      }
      return Tensors{
          said.prediction, said.probability, said.probabilities, torch::stack(scores), p_value, verdict, spoke};
    });
  }

  /// The logits of the network, float64 [N, K], or [M, N, K] of several.
  Tensor logits(const Tensor& inputs) {
    return guarded_values([&] { return said_of(inputs).logits; });
  }

  /// The detectors that work with its network.
  Strings usable_detectors() const {
    return guarded([&] { return priornet::usable_detectors(*file().run.members.at(0), false); });
  }

  bool gives_features() const { return file().run.members.at(0)->gives_features(); }

  /// Thresholds that no input can exceed, in words.
  Strings unreachable() const {
    if (!file().points) return {};
    return guarded(
        [&] { return unreachable_thresholds(*file().points, static_cast<int64_t>(file().run.class_names.size())); });
  }

  std::string describe() const {
    const auto& model = file();
    const auto& config = model.run.config.model;
    Json json = {{"name", model.name},
                 {"classes", model.run.class_names},
                 {"kind", model.run.gives_dirichlet() ? "dirichlet" : "softmax"},
                 {"members", model.run.members.size()},
                 {"dropout_samples", model.dropout_samples},
                 {"shape", model.preprocessing.shape},
                 {"feature_names", model.preprocessing.feature_names},
                 {"mean", config.mean.value_or(std::vector<double>{})},
                 {"deviation", config.deviation.value_or(std::vector<double>{})},
                 {"scores", scores_},
                 {"verdicts", kVerdictNames},
                 {"is_of_run", !model.run.identity.empty()},
                 {"provenance", model.provenance},
                 {"points", nullptr}};
    if (model.points) {
      const auto range = false_alarm_range(*model.points);
      json["points"] = {{"rate", model.points->false_alarm},
                        {"rate_range", {range.low, range.high}},
                        {"temperature", model.points->temperature},
                        {"calibration_set", model.points->calibration_set},
                        {"calibration_size", model.points->calibration_size},
                        {"per_class", !model.points->groups.empty()},
                        {"watches", Json::array()}};
      for (const auto& watch : model.points->watches)
        json["points"]["watches"].push_back(
            {{"cause", verdict_name(watch.cause)}, {"score", watch.measure}, {"threshold", watch.threshold}});
    }
    return json_text(json);
  }

  void save(const std::string& path) const {
    guarded([&] { write_model_file(path, file()); });
  }

  /// Format: onnx or torchscript; images come as bytes, or as float32 in [0, 1]. Returns what the file takes and gives.
  std::string export_as(const std::string& format, const std::string& path, bool bytes) const {
    return guarded([&] {
      const auto input = bytes ? ImageInput::kBytes : ImageInput::kUnit;
      const auto signature =
          format == "onnx" ? export_onnx(file(), path, input) : export_torchscript(file(), path, input);
      const auto described = [](const ExportSignature::Tensor& tensor) {
        return Json{{"name", tensor.name}, {"type", tensor.type_name()}, {"shape", tensor.shape}};
      };
      Json json = {{"input", described(signature.input)}, {"outputs", Json::array()}};
      for (const auto& output : signature.outputs) json["outputs"].push_back(described(output));
      return json_text(json);
    });
  }

 private:
  int64_t place_of(const std::string& score) const {
    const auto found = std::find(scores_.begin(), scores_.end(), score);
    return found == scores_.end() ? -1 : found - scores_.begin();
  }

  Predictor predictor_;
  Strings scores_;
};

using ModelPtr = c10::intrusive_ptr<Model>;

/// A model file, or the folder of a run.
ModelPtr open(const std::string& path, const std::string& device, bool allow_torchscript) {
  return guarded([&] {
    const KeptRandomState kept;  // layers draw their first weights
    OpenOptions options{torch::Device(device)};
    options.allow_torchscript = allow_torchscript;
    return c10::make_intrusive<Model>(open_model(path, options));
  });
}

/// ArgumentError for names that no model file may have.
void check_class_names(const Strings& names) {
  if (const auto fault = fault_of_class_names(names); !fault.empty())
    throw ArgumentError("calibrate: the model " + fault);
}

/// Networks of one architecture that PyTorch scripted or traced, as the bytes of their files. They take inputs as they
/// are or, for images, (value - mean) / deviation of values in [0, 1]. Not calibrated.
ModelPtr model_of_programs(const Tensors& programs, const std::string& description, const std::string& device) {
  return guarded_values([&] {
    const KeptRandomState kept;
    const auto json = parse_json(description);
    TrainedRun run;
    run.class_names = json.at("classes").get<Strings>();
    check_class_names(run.class_names);
    run.config.train = json.at("trained_on").get<std::string>();
    run.config.method.name = json.at("kind") == "dirichlet" ? "dpn" : "dnn";
    run.config.model.file = json.at("network").get<std::string>();
    if (!json.at("mean").empty()) {
      run.config.model.mean = json.at("mean").get<std::vector<double>>();
      run.config.model.deviation = json.at("deviation").get<std::vector<double>>();
    }
    run.split.feature_names = json.at("feature_names").get<Strings>();
    read_config(TomlText{"calibrate", to_toml(run.config)});  // as whoever opens the model's file will read it
    auto options = run.config.model;
    options.input = json.at("shape").get<std::vector<int64_t>>();
    options.classes = static_cast<int64_t>(run.class_names.size());
    const auto made = [&](const Tensor& program) {
      options.program = program;
      return make_model(options, make_generator(0));
    };
    for (const auto& program : programs) {
      // As in a file: the program of the first, and the weights of each.
      auto network = made(programs.at(0));
      TensorFile weights;
      weights.path = "a member of the ensemble";
      weights.tensors = weights_of(*made(program));
      load_weights(weights, *network);
      network->to(torch::Device(device));
      if (options.input.size() == 3) to_channels_last(*network);
      network->eval();
      run.members.push_back(std::move(network));
    }
    return c10::make_intrusive<Model>(model_of_run(std::move(run), json.at("name").get<std::string>()));
  });
}

/// The same model with additional detectors that learnt from inputs with labels.
class DetectorFitting final : public Job {
 public:
  explicit DetectorFitting(ModelPtr model) : model_(std::move(model)) {}

  /// Returns whether it finished. Without names: the detectors that suit the network.
  bool run(Strings names, const Tensor& inputs, const Tensor& labels) {
    return guarded_values([&] {
      auto model = model_->file();
      if (names.empty()) names = watched_detectors(*model.run.members.at(0));
      const auto set = dataset_of("training inputs", inputs, labels, model.run.class_names, {});
      try {
        auto fitted =
            fit_detectors(names, model.run.members,
                          {model.run.split.standardised(set.inputs), set.labels, model.run.gives_dirichlet()}, *this);
        for (auto& one : fitted) model.detectors.push_back(std::move(one));
      } catch (const StoppedEarly&) {
        return false;
      }
      model_ = c10::make_intrusive<Model>(std::move(model));
      return true;
    });
  }

  ModelPtr model() const { return model_; }

 private:
  ModelPtr model_;
};

/// Takes held-out inputs, batch by batch, then gives the model with thresholds from them.
class Calibration final : public torch::CustomClassHolder {
 public:
  explicit Calibration(ModelPtr model) : model_(std::move(model)) {
    if (model_->file().points) throw_value_error("calibrate: the model is calibrated already");
  }

  void see(const Tensor& inputs, const MaybeTensor& labels) {
    guarded_values([&] {
      batches_.push_back(model_->said_of(inputs));
      if (labels) labels_.push_back(labels->to(torch::kCPU).to(torch::kInt64));
    });
  }

  /// `detectors` look for "unfamiliar" beside the measure.
  ModelPtr finish(double rate, bool per_class, const Strings& detectors, const std::string& set) {
    return guarded_values([&] {
      if (batches_.empty()) throw ArgumentError("calibrate: should be given at least 2 inputs, found none");
      auto model = model_->file();
      auto watched = watched_measures(model.run.gives_dirichlet(), model.asks_several());
      for (const auto& name : detectors) watched.emplace_back(Verdict::kUnfamiliar, name);
      model.points = calibrate(Predictions::joined(batches_), labels_.empty() ? Tensor() : torch::cat(labels_), watched,
                               {rate, per_class});
      model.points->calibration_set = set;
      return c10::make_intrusive<Model>(std::move(model));
    });
  }

 private:
  ModelPtr model_;
  std::vector<Predictions> batches_;
  Tensors labels_;
};

/// What `priornet evaluate` reports, for sets in memory.
class EvaluationJob final : public Job {
 public:
  explicit EvaluationJob(const ModelPtr& model) : model_(model->file()) {}

  void set_inside(const std::string& name, const Tensor& inputs, const Tensor& labels) {
    guarded_values([&] { inside_ = set_of(name, inputs, labels, model_.run.class_names); });
  }
  void add_outside(const std::string& name, const Tensor& inputs) {
    guarded_values([&] { outside_.push_back(set_of(name, inputs, {}, {})); });
  }
  void compare_with(const ModelPtr& model) { against_ = model->file(); }

  /// Returns whether it finished. Replicates: of the bootstrap; 0: a number that suits the sizes.
  bool run(int64_t replicates, int64_t seed, const std::string& command) {
    const auto start = std::chrono::steady_clock::now();
    return guarded_values([&] {
      EvaluationOptions options;
      if (replicates > 0) options.bootstrap.replicates = replicates;
      options.bootstrap.seed = options.scoring.seed = static_cast<uint64_t>(seed);
      try {
        report_ = evaluated(model_, options);
        if (against_) {
          report_.against = against_->name;
          report_.comparison = compare_runs(report_.evaluation, evaluated(*against_, options).evaluation);
        }
        shown_.emplace(model_report(model_, report_, {inside_, outside_}, *this));
      } catch (const StoppedEarly&) {
        return false;
      }
      record_ = describe_run();
      record_.command = command;
      record_.device = model_.run.device().str();
      record_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      return true;
    });
  }

  std::string json() const {
    return guarded([&] {
      Json json = {{"summary", summary_json(*shown_)}};
      json.update(evaluation_json(*shown_));
      return json_text(json);
    });
  }
  std::string text() const {
    return guarded([&] { return to_text(*shown_); });
  }

  /// The page of the report, from the files that the evaluation writes to the folder.
  void write_page(const std::string& folder, const std::string& path) const {
    guarded([&] {
      OutputFolder out(folder);
      write_evaluation(out, *shown_, {inside_, outside_}, record_);
      AtomicFile file(path);
      file.write(report_page({read_results(folder)}));
      file.commit();
    });
  }

 private:
  Dataset set_of(const std::string& name, const Tensor& inputs, const MaybeTensor& labels, const Strings& classes) {
    return dataset_of(name, inputs, labels, classes,
                      inputs.dim() == 2 ? model_.preprocessing.feature_names : Strings{});
  }

  EvaluationReport evaluated(ModelFile& model, EvaluationOptions options) {
    EvaluationReport report;
    report.run = model.name;
    report.method = model.run.config.method.name;
    report.members = static_cast<int64_t>(model.run.members.size());
    report.weights = model.run.identity;
    options.scoring.dropout_samples = model.dropout_samples;
    options.scoring.noise = model.run.config.noise;
    options.scoring.detectors = model.detectors;
    report.evaluation = evaluate(model.run, inside_, outside_, options, *this);
    return report;
  }

  ModelFile model_;
  std::optional<ModelFile> against_;
  Dataset inside_;
  std::vector<Dataset> outside_;
  EvaluationReport report_;
  std::optional<ModelReport> shown_;
  RunRecord record_;
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(priornet, library) {
  library.class_<Model>("Model")
      .def("predict", &Model::predict)
      .def("logits", &Model::logits)
      .def("usable_detectors", &Model::usable_detectors)
      .def("gives_features", &Model::gives_features)
      .def("unreachable", &Model::unreachable)
      .def("describe", &Model::describe)
      .def("save", &Model::save)
      .def("export_as", &Model::export_as);
  auto fitting = library.class_<DetectorFitting>("DetectorFitting");
  fitting.def(torch::init<ModelPtr>()).def("run", &DetectorFitting::run).def("model", &DetectorFitting::model);
  with_job(fitting);
  library.class_<Calibration>("Calibration")
      .def(torch::init<ModelPtr>())
      .def("see", &Calibration::see)
      .def("finish", &Calibration::finish);
  auto evaluating = library.class_<EvaluationJob>("Evaluation");
  evaluating.def(torch::init<const ModelPtr&>())
      .def("set_inside", &EvaluationJob::set_inside)
      .def("add_outside", &EvaluationJob::add_outside)
      .def("compare_with", &EvaluationJob::compare_with)
      .def("run", &EvaluationJob::run)
      .def("json", &EvaluationJob::json)
      .def("text", &EvaluationJob::text)
      .def("write_page", &EvaluationJob::write_page);
  with_job(evaluating);
  library.def("open_model", open);
  library.def("model_of_programs", model_of_programs);
  library.def("check_class_names", [](const Strings& names) { guarded([&] { check_class_names(names); }); });
  library.def("detector_training_rows", [] { return kDetectorTraining; });
  library.def("least_calibration_size",
              [](double rate) { return guarded([&] { return least_calibration_size(rate); }); });
}

}  // namespace priornet::python
