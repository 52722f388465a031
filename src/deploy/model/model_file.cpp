#include <priornet/deploy/model_file.h>

#include <fmt/format.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/network.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "learning/base/run_record.h"
#include "learning/data/decoded_pixels.h"
#include "learning/training/checkpoint.h"

// The names in a model file, for its writer and its reader.

namespace priornet::model_layout {

/// Version 2 added detectors, thresholds per class, scales with compressed tails, tables, files without networks, and
/// the precedence of watches (0 in version 1).
constexpr int kVersion = 2;
constexpr const char* kVersionKey = "priornet_model";
constexpr const char* kModelKey = "model";

constexpr const char* kMean = "preprocessing.mean";
constexpr const char* kDeviation = "preprocessing.deviation";
constexpr const char* kRarities = "combined";

constexpr const char* kProgram = "program";

inline std::string member_prefix(size_t member) { return "member-" + std::to_string(member + 1) + "."; }
inline std::string group_prefix(size_t group) { return "group-" + std::to_string(group + 1) + "."; }
inline std::string detector_prefix(size_t detector) { return "detector-" + std::to_string(detector + 1) + "."; }
inline std::string reference_of(size_t watch) { return "watch-" + std::to_string(watch + 1) + ".reference"; }

}  // namespace priornet::model_layout

namespace priornet {
namespace {

using ModelJson = nlohmann::ordered_json;

ModelJson json_of(const Preprocessing& preprocessing) {
  ModelJson json = {{"shape", preprocessing.shape},
                    {"resize", preprocessing.resize},
                    {"standardise", preprocessing.scale.defined()},
                    {"drawn_in", preprocessing.scale.drawn_in},
                    {"feature_names", preprocessing.feature_names}};
  if (preprocessing.encoding) json["encoding"] = ModelJson::parse(to_json(*preprocessing.encoding));
  return json;
}

std::vector<double> precedences_of(const std::vector<Watch>& watches) {
  std::vector<double> precedences;
  for (const auto& watch : watches) precedences.push_back(watch.precedence);
  return precedences;
}

ModelJson json_of(const OperatingPoints& points) {
  auto watches = ModelJson::array();
  for (const auto& watch : points.watches)
    watches.push_back({{"cause", verdict_name(watch.cause)}, {"measure", watch.measure}});
  auto groups = ModelJson::array();
  for (const auto& group : points.groups)
    groups.push_back({{"classes", group.classes}, {"precedences", precedences_of(group.watches)}});
  return {{"watches", watches},
          {"precedences", precedences_of(points.watches)},
          {"groups", groups},
          {"false_alarm", points.false_alarm},
          {"temperature", points.temperature},
          {"calibration_set", points.calibration_set},
          {"calibration_size", points.calibration_size}};
}

}  // namespace

void check_networks(const char* function, const ModelFile& model) {
  if (model.own_logits)
    throw DataError(fmt::format("{}: holds no network, only thresholds for a network's logits", model.name));
  if (model.run.members.empty())
    throw ArgumentError(fmt::format("{}: the model should have a network, has none", function));
  if (model.dropout_samples > 0 && !model.run.members[0]->has_dropout())
    throw ArgumentError(
        fmt::format("{}: the network has no dropout, so its dropout samples would all be the same", function));
}

void write_model_file(const std::filesystem::path& path, const ModelFile& model) {
  if (const auto fault = fault_of_class_names(model.run.class_names); !fault.empty())
    throw ArgumentError(fmt::format("write_model_file: the model {}", fault));
  if (!model.own_logits) check_networks("write_model_file", model);
  std::vector<NamedTensor> tensors;
  for (size_t m = 0; m < model.run.members.size(); ++m)
    for (const auto& [name, values] : weights_of(*model.run.members[m]))
      tensors.push_back({model_layout::member_prefix(m) + name, values});
  for (size_t d = 0; d < model.detectors.size(); ++d)
    for (const auto& [name, values] : model.detectors[d].detector->state())
      tensors.push_back({model_layout::detector_prefix(d) + name, values});
  const auto program = model.own_logits ? torch::Tensor() : model.run.members.at(0)->program();
  if (program.defined()) tensors.push_back({model_layout::kProgram, program});
  if (model.preprocessing.scale.defined()) {
    tensors.push_back({model_layout::kMean, model.preprocessing.scale.mean});
    tensors.push_back({model_layout::kDeviation, model.preprocessing.scale.deviation});
  }
  ModelJson json = {{"name", model.name},
                    {"classes", model.run.class_names},
                    {"members", model.run.members.size()},
                    {"dropout_samples", model.dropout_samples},
                    {"preprocessing", json_of(model.preprocessing)},
                    {"identity", model.run.identity},
                    {"config", to_toml(model.run.config)},
                    {"provenance", model.provenance}};
  for (const auto& one : model.detectors) json["detectors"].push_back(one.name);
  if (model.own_logits)
    json["own_logits"] = {{"members", model.own_logits->members}, {"features", model.own_logits->features}};
  if (model.points) {
    check_points(*model.points);
    json["points"] = json_of(*model.points);
    const auto add = [&](const std::string& prefix, const auto& of) {
      for (size_t w = 0; w < of.watches.size(); ++w)
        tensors.push_back({prefix + model_layout::reference_of(w), of.watches[w].reference});
      tensors.push_back({prefix + model_layout::kRarities, of.rarities});
    };
    add("", *model.points);
    for (size_t g = 0; g < model.points->groups.size(); ++g)
      add(model_layout::group_prefix(g), model.points->groups[g]);
  }
  const auto text = json_text(json);
  write_tensor_file(
      path, tensors,
      {{model_layout::kVersionKey, fmt::format("{}", model_layout::kVersion)}, {model_layout::kModelKey, text}});
}

namespace {

constexpr int64_t kMostMembers = 1000;
constexpr int64_t kMostDropoutSamples = 10'000;
constexpr size_t kMostWatches = 16;
constexpr size_t kMostDetectors = 64;

// Reads the parts of a file; each error begins with the file's name.
class ModelReader {
 public:
  ModelReader(const std::filesystem::path& path, const OpenOptions& options)
      : file_(read_tensor_file(path)), options_(options) {}

  ModelFile read() {
    check_version();
    try {
      return parsed(nlohmann::json::parse(text(model_layout::kModelKey)));
    } catch (const nlohmann::json::exception&) {
      fail("is not a model file: its description is damaged");
    }
  }

 private:
  using Json = nlohmann::json;

  [[noreturn]] void fail(const std::string& what) const { throw DataError(file_.path + ": " + what); }

  void require(bool holds, const std::string& what) const {
    if (!holds) fail(what);
  }

  const std::string& text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    if (found == file_.metadata.end()) fail("is not a model file of priornet: it does not say that it is one");
    return found->second;
  }

  void check_version() const {
    const auto& version = text(model_layout::kVersionKey);
    int number = 0;
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
    require(error == std::errc() && end == version.data() + version.size() && number >= 1,
            fmt::format("its version should be a number, found {}", version));
    require(number <= model_layout::kVersion,
            fmt::format("is a model file of version {}; this program reads versions up to {}: use a newer priornet",
                        number, model_layout::kVersion));
  }

  const torch::Tensor& tensor(const std::string& name) {
    used_.insert(name);
    return file_.at(name);
  }

  ModelFile parsed(const Json& json) {
    ModelFile model;
    json.at("name").get_to(model.name);
    json.at("provenance").get_to(model.provenance);
    model.dropout_samples = whole_number_of(json.at("dropout_samples"));
    require(model.dropout_samples >= 0 && model.dropout_samples <= kMostDropoutSamples,
            fmt::format("its dropout_samples should be between 0 and {}, found {}", kMostDropoutSamples,
                        model.dropout_samples));
    model.preprocessing = preprocessing(json.at("preprocessing"));
    if (json.contains("own_logits"))
      read_own_logits(model, json);
    else
      read_run(model, json);
    if (json.contains("detectors")) read_detectors(model, json.at("detectors").get<std::vector<std::string>>());
    if (json.contains("points")) model.points = points(json.at("points"), model.run.class_names.size());
    for (const auto& [name, values] : file_.tensors)
      require(used_.contains(name), fmt::format("holds a tensor {} that its description does not name", name));
    return model;
  }

  Preprocessing preprocessing(const Json& json) {
    Preprocessing result;
    result.shape = whole_numbers_of(json.at("shape"));
    json.at("resize").get_to(result.resize);
    json.at("feature_names").get_to(result.feature_names);
    const auto& shape = result.shape;
    const auto holds = [&](int64_t most) { return [most](int64_t size) { return size >= 1 && size <= most; }; };
    if (shape.size() == 3) {
      require(std::all_of(shape.begin(), shape.end(), holds(kLargestImageSide)) &&
                  shape[0] * shape[1] * shape[2] <= kLargestImage,
              "describes inputs that are impossibly large");
    } else {
      require(shape.size() == 1 && holds(kLargestImage)(shape[0]), "describes inputs that are impossibly large");
      require(result.feature_names.empty() || result.feature_names.size() == static_cast<size_t>(shape[0]),
              fmt::format("names {} features of {}", result.feature_names.size(), shape[0]));
    }
    if (json.contains("encoding")) {
      result.encoding =
          std::make_shared<TableEncoding>(table_encoding_from_json(json_text(json.at("encoding")), file_.path));
      require(shape.size() == 1 && result.encoding->width() == shape[0],
              fmt::format("makes {} numbers from a row, but its network takes {}", result.encoding->width(), shape[0]));
      // Older files leave a column without a name nameless.
      if (!result.feature_names.empty()) result.feature_names = result.encoding->feature_names();
    }
    if (!json.at("standardise").get<bool>()) return result;
    auto& scale = result.scale;
    scale = {tensor(model_layout::kMean).clone(), tensor(model_layout::kDeviation).clone(),
             json.value("drawn_in", false)};
    for (const auto& values : {scale.mean, scale.deviation})
      require(values.sizes() == torch::IntArrayRef(shape) && shape.size() == 1 &&
                  values.scalar_type() == torch::kFloat32 && values.isfinite().all().item<bool>(),
              "its mean and deviation should have one number per feature");
    require(scale.deviation.gt(0).all().item<bool>(), "its deviations should be above 0");
    return result;
  }

  void read_classes(TrainedRun& run, const Json& json) const {
    json.at("classes").get_to(run.class_names);
    json.at("identity").get_to(run.identity);
    if (const auto fault = fault_of_class_names(run.class_names); !fault.empty()) fail(fault);
    require(run.class_names.size() >= 2,
            fmt::format("should name at least 2 classes, found {}", run.class_names.size()));
  }

  int64_t members_in(const Json& json) const {
    const auto members = whole_number_of(json.at("members"));
    require(members >= 1 && members <= kMostMembers,
            fmt::format("should have 1 to {} members, has {}", kMostMembers, members));
    return members;
  }

  TrainConfig config_in(const Json& json) const {
    return read_config(TomlText{"its configuration", json.at("config").get<std::string>()});
  }

  void read_own_logits(ModelFile& model, const Json& json) {
    read_classes(model.run, json);
    const auto& own = json.at("own_logits");
    model.own_logits = OwnLogits{members_in(own), whole_number_of(own.at("features"))};
    const auto [members, features] = *model.own_logits;
    const auto& shape = model.preprocessing.shape;
    require(features >= 0 && shape.size() == 1 && !model.preprocessing.scale.defined() && model.dropout_samples == 0 &&
                shape[0] - members * static_cast<int64_t>(model.run.class_names.size()) == features,
            "describes logits and features that do not fit its classes");
    require(json.contains("points"), "should have a network or thresholds");
    try {
      model.run.config = config_in(json);
    } catch (const ConfigError& error) {
      fail(fmt::format("describes no method: {}", error.what()));
    }
  }

  void read_run(ModelFile& model, const Json& json) {
    auto& run = model.run;
    read_classes(run, json);
    const auto members = members_in(json);
    try {
      run.config = config_in(json);
      auto options = run.config.model;
      options.input = model.preprocessing.shape;
      options.classes = static_cast<int64_t>(run.class_names.size());
      if (options.file) {
        if (!options_.allow_torchscript) refuse_torchscript(file_.path);
        options.program = tensor(model_layout::kProgram);
      }
      for (size_t m = 0; m < static_cast<size_t>(members); ++m) run.members.push_back(member(options, m));
    } catch (const ConfigError& error) {
      fail(fmt::format("describes no network: {}", error.what()));
    } catch (const ArgumentError& error) {
      fail(fmt::format("describes no network: {}", error.what()));
    }
    require(model.dropout_samples == 0 || run.members[0]->has_dropout(),
            "asks for dropout samples, but its network has no dropout");
  }

  std::shared_ptr<Classifier> member(const ModelOptions& options, size_t index) {
    const auto prefix = model_layout::member_prefix(index);
    TensorFile weights;
    weights.path = file_.path;
    int64_t count = 0;
    for (const auto& [name, values] : file_.tensors) {
      if (!name.starts_with(prefix)) continue;
      used_.insert(name);
      weights.tensors.push_back({name.substr(prefix.size()), values});
      count += values.numel();
    }
    // Checked before memory is taken for what the file merely claims. Allows twice as much, so that a file that lacks a
    // tensor or two gets the message that names it.
    const auto plan = plan_model(options);
    require(!plan || plan->size().parameters <= 2.0 * static_cast<double>(count),
            fmt::format("describes a network with more weights than the {} of {}", count,
                        prefix.substr(0, prefix.size() - 1)));
    auto network = make_model(options, make_generator(0));
    load_weights(weights, *network);
    const auto expected = weights_of(*network).size();
    require(weights.tensors.size() == expected,
            fmt::format("belongs to another network: it has {} tensors of weights, this network has {}",
                        weights.tensors.size(), expected));
    return network;
  }

  void read_detectors(ModelFile& model, const std::vector<std::string>& names) {
    require(names.size() <= kMostDetectors, "has too many detectors");
    for (const auto& name : names) {
      const auto prefix = model_layout::detector_prefix(model.detectors.size());
      const auto* info = find_detector(name);
      require(info != nullptr && !info->is_measure,
              fmt::format("has a detector {} that this program does not know", name));
      const auto reason = model.own_logits ? why_not_without_network(*info, model.own_logits->features > 0)
                                           : why_not(*info, *model.run.members.at(0));
      require(reason.empty(), fmt::format("has a detector {} that does not fit its network: {}", name, reason));
      std::vector<NamedTensor> state;
      for (const auto& [tensor_name, values] : file_.tensors) {
        if (!tensor_name.starts_with(prefix)) continue;
        used_.insert(tensor_name);
        state.push_back({tensor_name.substr(prefix.size()), values.clone()});
      }
      auto one = make_detector(name);
      try {
        one.detector->set_state(std::move(state));
      } catch (const ArgumentError& error) {
        fail(fmt::format("has a detector {} without what it learnt: {}", name, error.what()));
      }
      model.detectors.push_back(std::move(one));
    }
  }

  void read_references(const std::string& prefix, const std::vector<double>& precedences, std::vector<Watch>& watches,
                       torch::Tensor& rarities) {
    require(precedences.size() == watches.size(), "should say the precedence of every watch");
    for (size_t w = 0; w < watches.size(); ++w) {
      watches[w].precedence = precedences[w];
      watches[w].reference = tensor(prefix + model_layout::reference_of(w)).clone();
    }
    rarities = tensor(prefix + model_layout::kRarities).clone();
  }

  void read_groups(OperatingPoints& points, const Json& json, size_t classes) {
    std::set<int64_t> grouped;
    for (const auto& item : json) {
      ClassGroup group;
      group.classes = whole_numbers_of(item.at("classes"));
      grouped.insert(group.classes.begin(), group.classes.end());
      group.watches = points.watches;
      read_references(model_layout::group_prefix(points.groups.size()),
                      item.at("precedences").get<std::vector<double>>(), group.watches, group.rarities);
      points.groups.push_back(std::move(group));
    }
    require(points.groups.empty() || (grouped.size() == classes && *grouped.begin() == 0 &&
                                      *grouped.rbegin() + 1 == static_cast<int64_t>(classes)),
            "should have every class in a group of thresholds");
  }

  OperatingPoints points(const Json& json, size_t classes) {
    OperatingPoints result;
    json.at("false_alarm").get_to(result.false_alarm);
    json.at("temperature").get_to(result.temperature);
    json.at("calibration_set").get_to(result.calibration_set);
    result.calibration_size = whole_number_of(json.at("calibration_size"));
    require(json.at("watches").size() <= kMostWatches, "watches too many measures");
    for (const auto& item : json.at("watches")) {
      const auto cause = item.at("cause").get<std::string>();
      const auto named = std::find(kVerdictNames.begin(), kVerdictNames.end(), cause);
      require(named != kVerdictNames.end(), fmt::format("watches for {}, which is not a known cause", cause));
      Watch watch;
      watch.cause = static_cast<Verdict>(named - kVerdictNames.begin());
      item.at("measure").get_to(watch.measure);
      result.watches.push_back(std::move(watch));
    }
    auto precedences = std::vector<double>(result.watches.size());
    if (json.contains("precedences")) json.at("precedences").get_to(precedences);
    read_references("", precedences, result.watches, result.rarities);
    if (json.contains("groups")) read_groups(result, json.at("groups"), classes);
    try {
      check_points(result);
    } catch (const ArgumentError& error) {
      fail(error.what());
    }
    set_thresholds(result);
    return result;
  }

  TensorFile file_;
  OpenOptions options_;
  std::set<std::string> used_;
};

// Users sometimes name a table, or another framework's file, where a model should be. A model file is a safetensors
// file: the size of its header in eight bytes, then the header, in JSON.
void refuse_other_file(const std::filesystem::path& path) {
  std::string start(64, '\0');
  start.resize(InputFile(path).read(start.data(), start.size()));
  if (start.size() < 9 || start[8] == '{') return;
  const auto line = start.substr(0, start.find_first_of("\r\n"));
  const bool text = std::all_of(line.begin(), line.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
  throw DataError(fmt::format("{}: is not a model file{}; priornet calibrate RUN makes one", path.string(),
                              text ? fmt::format(": it begins with \"{}\"", line) : ""));
}

// A stand-in for what a network elsewhere gives for one input.
DetectorInputs blank_outputs(const ModelFile& model) {
  const auto [members, features] = *model.own_logits;
  const auto classes = static_cast<int64_t>(model.run.class_names.size());
  DetectorInputs outputs;
  outputs.logits = members > 1 ? torch::zeros({members, 1, classes}) : torch::zeros({1, classes});
  if (features > 0) outputs.features = torch::zeros({1, features});
  outputs.dirichlet = model.run.gives_dirichlet();
  return outputs;
}

// What detectors learnt must be as wide as what the network gives.
void check_detectors(const std::filesystem::path& path, const ModelFile& model) {
  if (model.detectors.empty()) return;
  auto shape = model.preprocessing.shape;
  shape.insert(shape.begin(), 1);
  DetectorPass pass(model.detectors, model.run.members, model.run.gives_dirichlet());
  AskOptions ask;
  pass.join(ask);
  try {
    if (model.own_logits)
      detector_columns(model.detectors, blank_outputs(model));
    else
      logits_of_networks(model.run.members, torch::zeros(shape), {}, ask);
  } catch (const ArgumentError& error) {
    throw DataError(fmt::format("{}: has a detector that does not fit its network: {}", path.string(), error.what()));
  }
}

}  // namespace

ModelFile read_model_file(const std::filesystem::path& path, const OpenOptions& options) {
  refuse_other_file(path);
  auto model = ModelReader(path, options).read();
  // So that the run takes rows as the model does, for example in evaluate().
  auto& split = model.run.split;
  split.scale = model.preprocessing.scale;
  split.feature_names = model.preprocessing.feature_names;
  split.encoding = model.preprocessing.encoding;
  for (const auto& network : model.run.members) {
    network->to(options.device);
    if (model.preprocessing.takes_images()) to_channels_last(*network);  // as in load_run()
    network->eval();
  }
  for (const auto& one : model.detectors) one.detector->to(options.device);
  check_detectors(path, model);
  return model;
}

ModelFile model_of_run(const std::filesystem::path& folder, const OpenOptions& options) {
  const auto whole = std::filesystem::weakly_canonical(folder);
  return model_of_run(load_run(folder, options),
                      (whole.has_filename() ? whole : whole.parent_path()).filename().string());
}

ModelFile model_of_run(TrainedRun run, std::string name) {
  ModelFile model;
  model.name = std::move(name);
  model.run = std::move(run);
  model.preprocessing.shape = model.run.members.at(0)->input_shape();
  model.preprocessing.scale = model.run.split.scale;
  model.preprocessing.feature_names = model.run.split.feature_names;
  model.preprocessing.encoding = model.run.split.encoding;
  const auto record = describe_run();
  model.provenance = {{"priornet", record.priornet},          {"commit", record.commit},
                      {"libtorch", record.libtorch},          {"made", record.finished},
                      {"trained on", model.run.config.train}, {"seed", fmt::format("{}", model.run.config.seed)}};
  return model;
}

ModelFile open_model(const std::filesystem::path& path, const OpenOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return model_of_run(path, options);
  auto model = read_model_file(path, options);
  if (model.name.empty()) model.name = path.stem().string();
  return model;
}

}  // namespace priornet
