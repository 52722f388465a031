#include "tool/server/served_model.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/detector.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "learning/base/json_text.h"
#include "tool/report/page.h"

namespace priornet::serving {

int64_t ModelDescription::values_per_row() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<OutputDescription> outputs_of(const ModelDescription& model) {
  std::vector<OutputDescription> outputs = {
      {"prediction", "INT64"}, {"probability", "FP64"}, {"probabilities", "FP64", true}};
  if (model.gives_dirichlet) outputs.push_back({"alphas", "FP64", true});
  for (const auto& measure : model.measures) outputs.push_back({measure, "FP64"});
  if (model.calibrated) {
    outputs.push_back({"p_value", "FP64"});
    outputs.push_back({"verdict", "BYTES"});
    outputs.push_back({"verdict_by", "BYTES"});
  }
  return outputs;
}

namespace {

// The first values of a form, as JSON has them: the median, or the most frequent level.
nlohmann::json form_value(const TableColumn& column) {
  if (column.type == ColumnType::kNumber) return column.fill;
  if (column.type == ColumnType::kBoolean) return column.fill >= 0.5;
  auto text = typical_value(column);
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(std::move(text));
}

}  // namespace

double WatchDescription::threshold_for(int64_t predicted) const {
  return class_thresholds.empty() ? threshold : class_thresholds.at(static_cast<size_t>(predicted));
}

std::string metadata_json(const ModelDescription& model) {
  std::vector<int64_t> shape = {-1};
  shape.insert(shape.end(), model.shape.begin(), model.shape.end());
  nlohmann::json outputs = nlohmann::json::array();
  for (const auto& output : outputs_of(model)) {
    std::vector<int64_t> dimensions = {-1};
    if (output.by_class) dimensions.push_back(static_cast<int64_t>(model.class_names.size()));
    outputs.push_back({{"name", output.name}, {"datatype", output.datatype}, {"shape", dimensions}});
  }
  nlohmann::json watches = nlohmann::json::array();
  for (const auto& watch : model.watches) {
    watches.push_back(
        {{"cause", verdict_name(watch.cause)}, {"measure", watch.measure}, {"threshold", watch.threshold}});
    if (!watch.class_thresholds.empty()) watches.back()["class_thresholds"] = watch.class_thresholds;
  }
  nlohmann::json parameters = {{"method", model.method},
                               {"class_names", model.class_names},
                               {"feature_names", model.feature_names},
                               {"feature_means", model.feature_means},
                               {"feature_deviations", model.feature_deviations},
                               {"measures", model.measures},
                               {"measure_table", measure_table_json()},
                               {"dirichlet", model.gives_dirichlet},
                               {"calibrated", model.calibrated},
                               {"watches", watches},
                               {"provenance", model.provenance}};
  for (size_t c = 0; model.encoding && c < model.encoding->columns.size(); ++c)
    if (const auto& column = model.encoding->columns[c]; column.type != ColumnType::kDropped)
      parameters["columns"].push_back({{"name", column.name},
                                       {"title", model.encoding->shown_name(c)},
                                       {"type", kColumnTypeNames[static_cast<size_t>(column.type)]},
                                       {"levels", column.levels},
                                       {"typical", form_value(column)}});
  if (model.calibrated) parameters["false_alarm"] = model.false_alarm;
  const nlohmann::json input = {
      {"name", kInputName}, {"datatype", model.takes_images() ? "UINT8" : "FP32"}, {"shape", shape}};
  return json_text(nlohmann::json{{"name", model.name},
                                  {"versions", {"1"}},
                                  {"platform", "priornet"},
                                  {"inputs", nlohmann::json::array({input})},
                                  {"outputs", outputs},
                                  {"parameters", parameters}});
}

namespace {

std::vector<double> doubles(const torch::Tensor& values) {
  const auto flat = values.to(torch::kCPU, torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

// A view of the bytes as the tensor the predictor takes; they must outlive it.
torch::Tensor input_tensor(const ModelDescription& model, const std::string& inputs, int64_t rows) {
  std::vector<int64_t> shape = {rows};
  shape.insert(shape.end(), model.shape.begin(), model.shape.end());
  return at::from_blob(const_cast<char*>(inputs.data()), shape, model.takes_images() ? torch::kUInt8 : torch::kFloat32);
}

ModelDescription described(const ModelFile& file) {
  ModelDescription model;
  model.name = file.name;
  model.method = file.run.config.method.name;
  model.shape = file.preprocessing.shape;
  model.class_names = file.run.class_names;
  model.feature_names = file.preprocessing.feature_names;
  model.encoding = file.preprocessing.encoding;
  if (file.preprocessing.scale.defined()) model.feature_means = doubles(file.preprocessing.scale.mean);
  if (file.preprocessing.scale.defined()) model.feature_deviations = doubles(file.preprocessing.scale.deviation);
  model.gives_dirichlet = file.run.gives_dirichlet();
  model.provenance = file.provenance;
  if (file.points) {
    model.calibrated = true;
    model.false_alarm = file.points->false_alarm;
    const auto& points = *file.points;
    for (size_t w = 0; w < points.watches.size(); ++w) {
      const auto& watch = points.watches[w];
      model.watches.push_back({watch.cause, watch.measure, watch.threshold});
      if (points.groups.empty()) continue;
      auto& thresholds = model.watches.back().class_thresholds;
      thresholds.assign(model.class_names.size(), watch.threshold);
      for (const auto& group : points.groups)
        for (const auto one : group.classes) thresholds.at(static_cast<size_t>(one)) = group.watches[w].threshold;
    }
  }
  return model;
}

// On a pass this small, threads that wait for one another, and for a core that connections need, gain nothing.
constexpr int64_t kWorthSharing = 50'000'000;  // multiply-adds

int64_t multiply_adds_per_row(const ModelFile& file) {
  int64_t sum = 0;
  for (const auto& network : file.run.members) {
    const auto counted = multiply_adds(*network);
    sum += counted > 0 ? counted : kWorthSharing;  // users' own networks are large
  }
  return sum;
}

void use_threads_for(int64_t multiply_adds, int most) {
  const int threads = multiply_adds < kWorthSharing ? 1 : most;
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

}  // namespace

void StreamDrift::add(const PlainPredictions& answers) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < answers.decisions.size(); ++i) watch_.add(answers.decisions[i].p_value, answers.prediction[i]);
}

DriftState StreamDrift::now() const {
  const std::lock_guard lock(mutex_);
  return watch_.state();
}

ServedModel served_model(std::shared_ptr<Predictor> predictor, double drift_rate) {
  ServedModel served;
  if (predictor->model().points)
    served.drift = std::make_shared<StreamDrift>(DriftWatch(*predictor->model().points, drift_rate));
  served.description = described(predictor->model());
  const std::string blank(static_cast<size_t>(served.description.bytes_per_row()), '\0');
  const auto first = predictor->predict(input_tensor(served.description, blank, 1));
  for (const auto& [name, values] : first.scores) served.description.measures.push_back(name);
  served.description.gives_dirichlet = first.log_alpha.defined();
  served.answer = [predictor, model = served.description, work = multiply_adds_per_row(predictor->model()),
                   threads = at::get_num_threads()](const std::string& inputs, int64_t rows) {
    use_threads_for(work * rows, threads);
    return plain_predictions(predictor->predict(input_tensor(model, inputs, rows)));
  };
  served.facts_of_image = [](std::string_view file) { return image_facts(file, "the image"); };
  served.input_of_image = [predictor](std::string_view file) {
    const auto image = predictor->decoded(file, "the image").contiguous();
    return std::string(reinterpret_cast<const char*>(image.data_ptr<uint8_t>()), static_cast<size_t>(image.numel()));
  };
  return served;
}

namespace {

std::vector<double> row_of(const std::vector<double>& values, int64_t row, int64_t width) {
  return {values.begin() + row * width, values.begin() + (row + 1) * width};
}

// The two likeliest classes.
std::string rivals(const ModelDescription& model, const std::vector<double>& probabilities) {
  const auto first = std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
  int64_t second = first == 0 ? 1 : 0;
  for (int64_t i = 0; i < static_cast<int64_t>(probabilities.size()); ++i)
    if (i != first && probabilities[static_cast<size_t>(i)] > probabilities[static_cast<size_t>(second)]) second = i;
  const auto name = [&](int64_t index) { return model.class_names.at(static_cast<size_t>(index)); };
  return fmt::format("{} or {}", name(first), name(second));
}

// The label of a measure inside a sentence; the capitals of abbreviations stay.
std::string label_in_sentence(const std::string& name) {
  const auto* measure = find_measure_by_name(name);
  std::string label(measure == nullptr ? name : measure->label);
  if (label.size() > 1 && std::islower(static_cast<unsigned char>(label[1])) != 0)
    label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
  return label;
}

// What is said about a score, with its value in words. Detectors have names of methods, which are not names of
// quantities.
std::string said_of_score(const std::string& name, const std::string& value) {
  const auto* detector = find_detector(name);
  if (detector != nullptr && !detector->is_measure)
    return fmt::format("The detector \"{}\" gives it {}", detector->label, value);
  return fmt::format("Its {} is {}", label_in_sentence(name), value);
}

// "Its mutual information is 0.93, above the limit of 0.021": about the score that rejected.
std::string reason_of(const ModelDescription& model, const PlainPredictions& answers, const std::string& spoke,
                      size_t row) {
  for (const auto& watch : model.watches) {
    const auto at = std::find(model.measures.begin(), model.measures.end(), watch.measure);
    if (watch.measure != spoke || at == model.measures.end()) continue;
    const auto value = answers.scores[static_cast<size_t>(at - model.measures.begin())][row];
    const auto threshold = watch.threshold_for(answers.prediction[row]);
    if (!(value > threshold))
      return fmt::format(" {}, and that is the most unusual thing about it.",
                         said_of_score(watch.measure, fmt::format("{:.3g}", value)));
    const auto rounded = [](double number, int digits) { return fmt::format("{:.{}g}", number, digits); };
    int digits = 3;  // more where the two would read the same
    while (digits < 17 && rounded(value, digits) == rounded(threshold, digits)) ++digits;
    return fmt::format(" {}, above the limit of {}.", said_of_score(watch.measure, rounded(value, digits)),
                       rounded(threshold, digits));
  }
  return "";
}

void add_drift(nlohmann::ordered_json& answer, const ServedModel& served) {
  if (!served.drift) return;
  const auto drift = served.drift->now();
  answer["drift"] = {{"value", drift.value},
                     {"alarm_value", served.drift->alarm_value()},
                     {"inputs", drift.inputs},
                     {"alarm_input", drift.alarm_input}};
}

}  // namespace

std::string verdict_in_words(const ModelDescription& model, const PlainPredictions& answers, int64_t row) {
  if (answers.decisions.empty()) return "The model was not calibrated: it gives no verdict (see priornet calibrate).";
  const auto at = static_cast<size_t>(row);
  const auto& [verdict, p_value, watch] = answers.decisions[at];
  const auto reason = reason_of(model, answers, watch, at);
  switch (verdict) {
    case Verdict::kAccept:
      return fmt::format("There is no reason to doubt it: {:.0f} % of known inputs look at least as unusual.",
                         100 * p_value);
    case Verdict::kAmbiguous:
      return fmt::format("Ambiguous: it could be {}.{}",
                         rivals(model, row_of(answers.probabilities, row, answers.classes)), reason);
    case Verdict::kUnfamiliar:
      return "Unfamiliar: the input is not like those that the model learnt from." + reason;
    case Verdict::kUndecided:
      return "Undecided: the model's members disagree." + reason;
  }
  return "";
}

std::string plain_answer(const ServedModel& served, const PlainPredictions& answers, int64_t row,
                         const std::vector<std::string>& notes) {
  const auto& model = served.description;
  auto answer = prediction_json({model.class_names, model.measures}, answers, row);
  answer["words"] = verdict_in_words(model, answers, row);
  if (!notes.empty()) answer["notes"] = notes;
  answer["model"] = model.name;
  answer["class_names"] = model.class_names;
  answer["probabilities"] = row_of(answers.probabilities, row, answers.classes);
  if (!answers.log_alpha.empty()) answer["alphas"] = row_of(answers.alphas(), row, answers.classes);
  add_drift(answer, served);
  return json_text(answer);
}

std::string plain_answers(const ServedModel& served, const PlainPredictions& answers,
                          const std::vector<std::vector<std::string>>& notes) {
  const auto& model = served.description;
  const auto alphas = answers.alphas();
  auto predictions = nlohmann::ordered_json::array();
  for (int64_t row = 0; row < answers.rows; ++row) {
    auto answer = prediction_json({model.class_names, model.measures}, answers, row);
    answer["words"] = verdict_in_words(model, answers, row);
    answer["probabilities"] = row_of(answers.probabilities, row, answers.classes);
    if (!alphas.empty()) answer["alphas"] = row_of(alphas, row, answers.classes);
    if (const auto& said = notes.at(static_cast<size_t>(row)); !said.empty()) answer["notes"] = said;
    predictions.push_back(std::move(answer));
  }
  nlohmann::ordered_json all = {
      {"model", model.name}, {"class_names", model.class_names}, {"predictions", std::move(predictions)}};
  add_drift(all, served);
  return json_text(all);
}

}  // namespace priornet::serving
