#include "tool/report/evaluation_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/images.h>
#include <priornet/learning/resize.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "learning/base/json_text.h"
#include "tool/report/evaluation_curves.h"
#include "tool/report/image_sheets.h"
#include "tool/report/page.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

std::string results_json(const ModelReport& shown, const RunRecord& record) {
  const auto& report = shown.report;
  Json json = {{"experiment", "evaluation"},
               {"title", shown.model.name},
               {"lead", description(shown)},
               {"summary", summary_json(shown)},
               {"tables", Json::array()},
               {"trivial", Json::array()},
               {"run", parse_json(to_json(record))},
               {"evaluation", evaluation_json(shown)}};
  for (const auto& table : evaluation_tables(report, shown.model.points.has_value()))
    json["tables"].push_back(parse_json(store_table(table)));
  const bool has_images = shown.model.preprocessing.takes_images();
  for (const auto& set : report.evaluation.outside)
    if (!set.trivial.name.empty())
      json["trivial"].push_back({{"set", short_set_name(set.name)},
                                 {"statistic", set.trivial.name},
                                 {"auroc", set.trivial.auroc},
                                 {"per", has_images ? "image" : "row"}});
  return json_text(json) + "\n";
}

std::string drawn_curves(const EvaluationReport& report) {
  DrawnSets sets{report.evaluation.scoring.seed, short_set_name(report.evaluation.inside.name), {}};
  for (const auto& set : report.evaluation.outside) sets.outside.push_back(short_set_name(set.name));
  return curves_json(sets, {{report.method, report.evaluation.scoring.noise, report.run, &report.evaluation}});
}

std::string drawn_images(const EvaluationReport& report, const EvaluatedSets& sets) {
  const auto& evaluation = report.evaluation;
  std::vector<CertaintySet> drawn{{short_set_name(evaluation.inside.name), &sets.inside, &evaluation.inside_scores}};
  for (size_t s = 0; s < sets.outside.size(); ++s)
    drawn.push_back({short_set_name(evaluation.outside[s].name), &sets.outside[s], &evaluation.outside_scores[s]});
  return certainty_json(drawn, {.seed = evaluation.scoring.seed, .model = report.method});
}

}  // namespace

Json evaluation_json(const ModelReport& report) {
  auto json = parse_json(to_json(report.report));
  json["in_distribution"]["probabilities"] = report.model.points ? "before calibration" : "as given";
  return json;
}

void write_evaluation(OutputFolder& out, const ModelReport& report, const EvaluatedSets& sets,
                      const RunRecord& record) {
  out.write("results.json", results_json(report, record));
  out.write("curves.json", drawn_curves(report.report));
  out.write("examples.json", json_text(examples_json(report, sets)) + "\n");
  if (sets.inside.has_images()) out.write("images.json", drawn_images(report.report, sets));
}

namespace {

// In percent for machines too: the columns say so.
Cell percent(double value) { return Cell::number(100 * value, fmt::format("{:.2f}", 100 * value)); }

Cell percent(const Estimate& estimate) {
  return Cell::number(100 * estimate.value, fmt::format("{:.2f} [{:.2f}, {:.2f}]", 100 * estimate.value,
                                                        100 * estimate.low, 100 * estimate.high));
}

Cell plain(double value, int decimals) {
  return std::isfinite(value) ? Cell::number(value, decimals) : Cell::number(value, "-");
}

std::string run_note(const EvaluationReport& report) {
  const auto& scoring = report.evaluation.scoring;
  auto text = report.checkpoint.empty()
                  ? fmt::format("{} logits from another program", report.method)
                  : fmt::format("{}, {} checkpoint ({})", report.method, report.checkpoint, report.weights);
  if (report.members > 1) text += fmt::format("; ensemble of {}", report.members);
  if (scoring.dropout_samples > 0) text += fmt::format("; {} dropout samples", scoring.dropout_samples);
  if (scoring.noise > 0) text += fmt::format("; noise of sigma {:g} on every input", scoring.noise);
  return text;
}

Table classifier_table(const EvaluationReport& report, bool calibrated) {
  const auto& inside = report.evaluation.inside;
  Table table;
  table.title = fmt::format("{} on {}", report.run, inside.name);
  table.columns = {"inputs", "errors", "error %", "NLL", "Brier", "ECE, points", "adaptive ECE, points"};
  table.add({Cell::number(static_cast<double>(inside.size), 0), Cell::number(static_cast<double>(inside.errors), 0),
             percent(inside.error), plain(inside.negative_log_likelihood, 4), plain(inside.brier, 4),
             percent(inside.calibration_error), percent(inside.adaptive_calibration_error)});
  if (calibrated)
    table.notes.emplace_back(
        "NLL, Brier and ECE are of the probabilities before calibration; the model gives those after it");
  table.notes.push_back(run_note(report));
  if (const auto& detectors = report.evaluation.scoring.detectors; !detectors.empty()) {
    std::vector<std::string> names;
    for (const auto& one : detectors) names.push_back(one.name);
    table.notes.push_back(
        fmt::format("computed in the same pass, learnt from training inputs: {}", fmt::join(names, ", ")));
  }
  if (const auto& odin = report.odin)
    table.notes.push_back(fmt::format(
        "ODIN at temperature {:g}, step {:g}: chosen on {} against {}, where FPR95 is {:.2f} % and AUROC {:.2f} %",
        odin->choice.settings.temperature, odin->choice.settings.step, odin->inside, odin->outside,
        100 * odin->choice.fpr95, 100 * odin->choice.auroc));
  return table;
}

Table misclassification_table(const InsideEvaluation& inside) {
  Table table;
  table.title = fmt::format("Misclassification on {}", inside.name);
  if (inside.misclassification.empty()) {
    table.columns = {"measure", "AURC %"};
    for (const auto& row : inside.rejection) table.add({row.measure, percent(row.area)});
    table.notes.emplace_back(inside.errors == 0 ? "nothing is misclassified: there is nothing to detect"
                                                : "everything is misclassified: there is nothing to tell apart");
    return table;
  }
  table.columns = {"measure", "AUROC %",  "AUPR %", "average precision %", "FPR95 %", "AUPR %, right",
                   "AURC %",  "E-AURC %", "PRR %"};
  for (size_t i = 0; i < inside.misclassification.size(); ++i) {
    const auto& [measure, d, aupr_negatives] = inside.misclassification[i];
    const auto& rejection = inside.rejection[i];
    table.add({measure, percent(d.auroc), percent(d.aupr), percent(d.average_precision), percent(d.fpr95),
               percent(aupr_negatives), percent(rejection.area), percent(rejection.excess),
               percent(rejection.prediction_rejection_ratio)});
  }
  return table;
}

Table outside_table(const OutsideEvaluation& outside, const InsideEvaluation& inside) {
  Table table;
  table.title = fmt::format("{} ({} inputs) against {} ({})", outside.name, outside.size, inside.name, inside.size);
  table.columns = {"measure", "AUROC %", "AUPR %", "average precision %", "FPR95 %", "AUPR %, in distribution"};
  for (const auto& [measure, d, aupr_negatives] : outside.detection)
    table.add({measure, percent(d.auroc), percent(d.aupr), percent(d.average_precision), percent(d.fpr95),
               percent(aupr_negatives)});
  if (!outside.trivial.name.empty())
    table.notes.push_back(fmt::format("without any network, {} alone tells the sets apart with AUROC {:.2f} %",
                                      outside.trivial.name, 100 * outside.trivial.auroc));
  return table;
}

Table comparison_table(const EvaluationReport& report) {
  Table table;
  table.title = fmt::format("{} less {}: AUROC", report.run, report.against);
  table.columns = {"task", "measure", "this %", "other %", "difference", "z", "p"};
  for (const auto& [set, measure, auroc] : report.comparison)
    table.add({set.empty() ? "misclassification" : set, measure, percent(auroc.first), percent(auroc.second),
               percent(auroc.first - auroc.second), plain(auroc.z, 2),
               Cell::number(auroc.p_value, std::isnan(auroc.p_value) ? "-" : fmt::format("{:.2g}", auroc.p_value))});
  table.notes.emplace_back("two-sided p of DeLong's paired test; not corrected for the number of rows");
  if (std::any_of(report.comparison.begin(), report.comparison.end(),
                  [](const ComparedMeasure& row) { return std::isnan(row.auroc.p_value); }))
    table.notes.emplace_back("p is - where the difference shows no variance and so cannot be tested");
  return table;
}

void add_rows(Table& table, const std::string& task, const std::string& set, double trivial,
              const std::vector<MeasureDetection>& rows) {
  const auto number = [](double value) { return Cell::number(value, fmt::format("{}", value)); };
  for (const auto& [measure, d, aupr_negatives] : rows) {
    std::vector<Cell> row{task, set, measure, number(static_cast<double>(d.positives)),
                          number(static_cast<double>(d.negatives))};
    for (const auto& estimate : {d.auroc, d.aupr, d.average_precision, d.fpr95})
      for (const double value : {estimate.value, estimate.low, estimate.high}) row.push_back(number(value));
    row.push_back(number(aupr_negatives));
    row.push_back(std::isnan(trivial) ? Cell("") : number(trivial));
    table.add(std::move(row));
  }
}

}  // namespace

std::vector<Table> evaluation_tables(const EvaluationReport& report, bool calibrated) {
  const auto& evaluation = report.evaluation;
  std::vector<Table> tables{classifier_table(report, calibrated), misclassification_table(evaluation.inside)};
  for (const auto& outside : evaluation.outside) tables.push_back(outside_table(outside, evaluation.inside));
  if (!report.against.empty()) tables.push_back(comparison_table(report));
  return tables;
}

Table evaluation_rows(const EvaluationReport& report) {
  Table table;
  table.columns = {"task", "set", "measure", "positives", "negatives"};
  for (const auto* metric : {"auroc", "aupr", "average_precision", "fpr95"})
    for (const auto* part : {"", "_low", "_high"}) table.columns.push_back(std::string(metric) + part);
  table.columns.emplace_back("aupr_negatives");
  table.columns.emplace_back("trivial_auroc");
  const auto& inside = report.evaluation.inside;
  add_rows(table, "misclassification", inside.name, std::nan(""), inside.misclassification);
  for (const auto& set : report.evaluation.outside)
    add_rows(table, "detection", set.name, set.trivial.auroc, set.detection);
  return table;
}

namespace {

constexpr int64_t kInputs = 8;  // of a group
constexpr int64_t kLargestThumbnail = 96;
constexpr size_t kColumns = 8;
constexpr double kRare = 3.0;  // deviations of a level: one in ten inputs or fewer have it

/// One set of the report, as the groups use it.
struct ShownSet {
  const JudgedSet& judged;
  const Dataset& inputs;
};

/// Which rows of the test set, or of the foreign sets, make a group.
struct Group {
  std::string_view name;
  std::string_view title;
  std::string_view meaning;
  bool foreign = false;
  bool needs_thresholds = true;
  torch::Tensor (*rows)(const JudgedSet& set);  ///< bool [N]
};

torch::Tensor right(const JudgedSet& set) { return set.probabilities.argmax(1).eq(set.labels); }

const std::vector<Group>& groups() {
  static const std::vector<Group> list = {
      {"accepted", "Accepted, and right", "Answers it gives by itself.", false, true,
       [](const JudgedSet& set) { return set.with(Verdict::kAccept).logical_and(right(set)); }},
      {"accepted_wrong", "Accepted, but wrong", "Mistakes that nobody would look at.", false, true,
       [](const JudgedSet& set) { return set.with(Verdict::kAccept).logical_and(right(set).logical_not()); }},
      {"right", "Right", "Answers that agree with the label.", false, false, right},
      {"wrong", "Wrong", "Answers that differ from the label.", false, false,
       [](const JudgedSet& set) { return right(set).logical_not(); }},
      {"ambiguous", "Handed back: ambiguous", "They look like several classes.", false, true,
       [](const JudgedSet& set) { return set.with(Verdict::kAmbiguous); }},
      {"undecided", "Handed back: undecided", "The model's members disagree about them.", false, true,
       [](const JudgedSet& set) { return set.with(Verdict::kUndecided); }},
      {"unfamiliar", "Handed back: unfamiliar", "They are unlike what the model learnt from.", false, true,
       [](const JudgedSet& set) { return set.with(Verdict::kUnfamiliar); }},
      {"foreign_handed_back", "Foreign, and handed back", "They belong to none of its classes, and it noticed.", true,
       true, [](const JudgedSet& set) { return set.with(Verdict::kAccept).logical_not(); }},
      {"foreign_accepted", "Foreign, but accepted", "They belong to none of its classes, and it did not notice.", true,
       true, [](const JudgedSet& set) { return set.with(Verdict::kAccept); }},
      {"foreign", "Foreign", "They belong to none of its classes; the class is the model's guess.", true, false,
       [](const JudgedSet& set) { return set.with(Verdict::kAccept); }}};
  return list;
}

std::vector<int64_t> drawn(const torch::Tensor& marks, int64_t count, uint64_t seed) {
  const auto rows = marks.nonzero().flatten();
  auto generator = make_generator(seed);
  const auto order = torch::randperm(rows.size(0), generator, torch::kInt64);
  const auto chosen = std::get<0>(rows.index_select(0, order.narrow(0, 0, std::min(count, rows.size(0)))).sort());
  return {chosen.data_ptr<int64_t>(), chosen.data_ptr<int64_t>() + chosen.numel()};
}

std::string picture_of(const torch::Tensor& image) {
  const auto longest = std::max(image.size(1), image.size(2));
  if (longest <= kLargestThumbnail) return base64(encode_png(image));
  const auto side = [&](int64_t length) { return std::max<int64_t>(1, length * kLargestThumbnail / longest); };
  return base64(encode_png(resize(image, {.height = side(image.size(1)), .width = side(image.size(2))})));
}

/// A column of a row, and how unusual its value is, in standard deviations.
struct ShownColumn {
  Json json;
  double distance = 0.0;
};

ShownColumn number_column(const std::string& name, double value, double deviations) {
  return {{{"name", name}, {"value", short_number(value, 5)}, {"deviations", short_number(deviations, 3)}},
          std::abs(deviations)};
}

/// A column as the user has it, from its features, which may be many.
ShownColumn table_column(const std::string& name, const TableColumn& column, const float* features,
                         const double* deviations) {
  const auto text = decoded_value(column, features);
  if (column.type == ColumnType::kNumber && text != "missing") return number_column(name, features[0], deviations[0]);
  ShownColumn shown{{{"name", name}, {"value", text}}, 0.0};
  if (column.type == ColumnType::kDate && text != "missing") {
    shown.json["deviations"] = short_number(deviations[0], 3);
    shown.distance = std::abs(deviations[0]);
    return shown;
  }
  // Only the features that are on: that a frequent level is off is what a rare level says.
  for (int64_t f = 0; f < column.features(); ++f)
    if (features[f] > 0.5F) shown.distance = std::max(shown.distance, std::abs(deviations[f]));
  if (shown.distance > kRare) shown.json["rare"] = true;
  return shown;
}

Json columns_of(const torch::Tensor& input, const Preprocessing& preprocessing) {
  const auto row = input.to(torch::kCPU, torch::kFloat32).contiguous();
  const auto* features = row.data_ptr<float>();
  std::vector<double> deviations(static_cast<size_t>(row.size(0)), 0.0);
  if (const auto& scale = preprocessing.scale; scale.defined())
    for (int64_t f = 0; f < row.size(0); ++f)
      deviations[static_cast<size_t>(f)] =
          (features[f] - scale.mean[f].item<double>()) / scale.deviation[f].item<double>();
  std::vector<ShownColumn> columns;
  if (const auto& encoding = preprocessing.encoding; encoding && encoding->width() == row.size(0)) {
    int64_t at = 0;
    for (size_t c = 0; c < encoding->columns.size(); ++c) {
      const auto& column = encoding->columns[c];
      if (column.type != ColumnType::kDropped)
        columns.push_back(table_column(encoding->shown_name(c), column, features + at, deviations.data() + at));
      at += column.features();
    }
  } else {
    const auto& names = preprocessing.feature_names;
    for (size_t f = 0; f < deviations.size(); ++f)
      columns.push_back(
          number_column(f < names.size() ? names[f] : fmt::format("feature {}", f), features[f], deviations[f]));
  }
  const auto farther = [](const ShownColumn& a, const ShownColumn& b) { return a.distance > b.distance; };
  std::stable_sort(columns.begin(), columns.end(), farther);
  columns.resize(std::min(columns.size(), kColumns));
  auto json = Json::array();
  for (auto& column : columns) json.push_back(std::move(column.json));
  return json;
}

Json input_json(const ModelReport& report, const ShownSet& set, int64_t row) {
  const auto& names = report.model.run.class_names;
  const auto name = [&](const torch::Tensor& index) { return names.at(static_cast<size_t>(index.item<int64_t>())); };
  const auto [probabilities, order] = set.judged.probabilities[row].sort(0, true);
  Json json = {{"set", short_set_name(set.judged.name)},
               {"row", row},
               {"prediction", name(order[0])},
               {"probability", short_number(probabilities[0].item<double>(), 4)}};
  if (names.size() > 1) {
    json["rival"] = name(order[1]);
    json["rival_probability"] = short_number(probabilities[1].item<double>(), 4);
  }
  if (set.judged.labels.defined()) json["label"] = name(set.judged.labels[row]);
  if (!set.judged.decisions.empty()) {
    const auto& decision = set.judged.decisions[static_cast<size_t>(row)];
    json["verdict"] = verdict_name(decision.verdict);
    json["p_value"] = short_number(decision.p_value, 3);
    if (!decision.watch.empty()) json["verdict_by"] = decision.watch;
  }
  const auto input = set.inputs.inputs[row];
  if (set.inputs.has_images())
    json["picture"] = picture_of(input);
  else
    json["columns"] = columns_of(input, report.model.preprocessing);
  return json;
}

}  // namespace

Json examples_json(const ModelReport& report, const EvaluatedSets& sets) {
  const bool calibrated = report.model.points.has_value();
  // Columns as the model orders them; images as the user has them.
  const auto shown = [&](const Dataset& set) { return with_features(set, report.model.preprocessing.feature_names); };
  const auto inside = shown(sets.inside);
  std::vector<Dataset> outside;
  for (const auto& set : sets.outside) outside.push_back(shown(set));
  auto json = Json::array();
  for (const auto& group : groups()) {
    if (group.needs_thresholds != calibrated) continue;
    std::vector<ShownSet> members;
    if (!group.foreign) members.push_back({report.test, inside});
    if (group.foreign)
      for (size_t s = 0; s < outside.size(); ++s) members.push_back({report.foreign.at(s), outside[s]});
    int64_t total = 0;
    auto inputs = Json::array();
    for (const auto& set : members) {
      const auto marks = group.rows(set.judged);
      total += marks.sum().item<int64_t>();
      const auto share = std::max<int64_t>(1, kInputs / static_cast<int64_t>(members.size()));
      const auto seed =
          derive_seed(report.report.evaluation.scoring.seed, fmt::format("{} {}", group.name, set.judged.name));
      for (const auto row : drawn(marks, share, seed)) inputs.push_back(input_json(report, set, row));
    }
    if (inputs.empty()) continue;
    json.push_back({{"name", group.name},
                    {"title", group.title},
                    {"meaning", group.meaning},
                    {"total", total},
                    {"inputs", std::move(inputs)}});
  }
  return {{"groups", std::move(json)}};
}

}  // namespace priornet
