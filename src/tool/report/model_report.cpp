#include "tool/report/model_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "tool/report/evaluation_curves.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

using SummaryJson = nlohmann::ordered_json;

/// With fewer inputs, a share is known only to within a few percentage points.
constexpr int64_t kFewInputs = 200;
constexpr size_t kListedClasses = 10;
constexpr size_t kListedColumns = 5;

struct VerdictWords {
  Verdict verdict;
  std::string_view title;
  std::string_view meaning;
};

/// In the order in which they are shown.
constexpr std::array<VerdictWords, kVerdictNames.size()> kVerdictWords = {
    {{Verdict::kAccept, "Accepted", "there is no reason to doubt the answer"},
     {Verdict::kAmbiguous, "Ambiguous", "the input looks like several classes"},
     {Verdict::kUnfamiliar, "Unfamiliar", "the input is unlike what the model learnt from"},
     {Verdict::kUndecided, "Undecided", "the model's members disagree about the input"}}};

/// "3.2 %", "0.08 %", "12 %".
std::string percent_text(double share) {
  const double value = 100 * share;
  if (value == 0 || value == 100) return fmt::format("{:.0f} %", value);
  return fmt::format("{:.{}f} %", value, value < 1 ? 2 : 1);
}

std::string range_text(const Estimate& share) {
  return fmt::format("{} to {}", percent_text(share.low), percent_text(share.high));
}

/// "cat, dog and 8 more".
std::string listed(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most + 1) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more",
                     fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most), ", "),
                     names.size() - most);
}

torch::Tensor wrong_of(const JudgedSet& set) { return set.probabilities.argmax(1).ne(set.labels); }

int64_t count_true(const torch::Tensor& marks) { return marks.sum().item<int64_t>(); }

const MeasureDetection* best_of(const OutsideEvaluation& outside) {
  const auto best =
      std::max_element(outside.detection.begin(), outside.detection.end(),
                       [](const auto& a, const auto& b) { return a.detection.auroc.value < b.detection.auroc.value; });
  return best == outside.detection.end() ? nullptr : &*best;
}

std::string auroc_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// As good as the network, to the digits that are shown, or better.
bool equals_network(const OutsideEvaluation& outside) {
  const auto* best = best_of(outside);
  if (best == nullptr || outside.trivial.name.empty()) return false;
  const double network = best->detection.auroc.value;
  return outside.trivial.auroc > network || auroc_text(outside.trivial.auroc) == auroc_text(network);
}

bool beats_network(const OutsideEvaluation& outside) {
  const auto* best = best_of(outside);
  return equals_network(outside) && auroc_text(outside.trivial.auroc) != auroc_text(best->detection.auroc.value);
}

/// The columns of the user's table, which may become several numbers each.
std::vector<std::string> columns_of(const Preprocessing& preprocessing) {
  const auto& encoding = preprocessing.encoding;
  if (!encoding) return preprocessing.feature_names;
  std::vector<std::string> names;
  for (size_t c = 0; c < encoding->columns.size(); ++c)
    if (encoding->columns[c].type != ColumnType::kDropped) names.push_back(encoding->shown_name(c));
  return names;
}

std::string takes(const ModelFile& model) {
  const auto& preprocessing = model.preprocessing;
  if (model.own_logits)
    return model.own_logits->features > 0 ? "logits and features from another program" : "logits from another program";
  const auto& shape = preprocessing.shape;
  if (preprocessing.takes_images())
    return fmt::format("{} images of {} x {} pixels", shape[0] == 1 ? "grey" : "colour", shape[1], shape[2]);
  const auto names = columns_of(preprocessing);
  if (names.empty()) return fmt::format("rows of {}", count_of(shape.at(0), "number"));
  return fmt::format("rows of {} ({})", count_of(static_cast<int64_t>(names.size()), "column"),
                     listed(names, kListedColumns));
}

/// What kind of network a run has: one of priornet's, or the file that another program scripted.
std::string network_name(const TrainedRun& run) {
  return run.config.model.file.value_or("").empty() ? run.config.model.name : *run.config.model.file;
}

JudgedSet scored(const std::string& name, const SetScores& scores) { return {name, scores.probabilities, {}, {}}; }

JudgedSet asked(Predictor& predictor, const Dataset& set, Progress& progress) {
  constexpr int64_t kBatch = 1000;
  const auto task = "verdicts on " + set.name;
  const auto inputs = fit_to_run(set, predictor.model().run).inputs;
  JudgedSet judged{set.name, {}, {}, {}};
  std::vector<torch::Tensor> probabilities;
  for (int64_t first = 0; first < inputs.size(0); first += kBatch) {
    progress.report(task, first, inputs.size(0));
    auto said = predictor.predict(inputs.narrow(0, first, std::min(kBatch, inputs.size(0) - first)));
    probabilities.push_back(std::move(said.probabilities));
    judged.decisions.insert(judged.decisions.end(), said.decisions.begin(), said.decisions.end());
  }
  progress.report(task, inputs.size(0), inputs.size(0));
  judged.probabilities = torch::cat(probabilities);
  return judged;
}

}  // namespace

torch::Tensor JudgedSet::with(Verdict verdict) const {
  if (decisions.empty()) return torch::full({size()}, verdict == Verdict::kAccept, torch::kBool);
  auto marks = torch::empty({size()}, torch::kBool);
  auto* mark = marks.data_ptr<bool>();
  for (const auto& decision : decisions) *mark++ = decision.verdict == verdict;
  return marks;
}

ModelReport model_report(const ModelFile& model, const EvaluationReport& report, const EvaluatedSets& sets,
                         Progress& progress) {
  const auto& evaluation = report.evaluation;
  ModelReport result{model, report, {}, {}};
  if (model.points) {
    Predictor predictor(model);
    result.test = asked(predictor, sets.inside, progress);
    for (const auto& set : sets.outside) result.foreign.push_back(asked(predictor, set, progress));
  } else {
    result.test = scored(evaluation.inside.name, evaluation.inside_scores);
    for (size_t s = 0; s < evaluation.outside.size(); ++s)
      result.foreign.push_back(scored(evaluation.outside[s].name, evaluation.outside_scores[s]));
  }
  result.test.labels = labels_for(model.run, sets.inside);
  return result;
}

Estimate share_of(int64_t count, int64_t total) {
  constexpr double kSquare = kNormal975 * kNormal975;
  const auto n = static_cast<double>(total);
  const double share = static_cast<double>(count) / n;
  const double middle = (share + kSquare / (2 * n)) / (1 + kSquare / n);
  const double margin = std::sqrt(kSquare * (share * (1 - share) / n + kSquare / (4 * n * n))) / (1 + kSquare / n);
  return {share, std::max(0.0, middle - margin), std::min(1.0, middle + margin)};
}

namespace {

KeyFigure error_figure(const ModelReport& report) {
  const auto errors = count_true(wrong_of(report.test));
  const auto share = share_of(errors, report.test.size());
  return {"error", percent_text(share.value), "wrong, if every answer is taken",
          fmt::format("{} of {}. For other inputs like these: {} (95 % interval).", errors,
                      count_of(report.test.size(), "test input"), range_text(share))};
}

/// "20 ambiguous, 8 unfamiliar".
std::string by_cause(const JudgedSet& set) {
  std::vector<std::string> parts;
  for (const auto& [verdict, title, meaning] : kVerdictWords)
    if (const auto count = set.count(verdict); verdict != Verdict::kAccept && count > 0)
      parts.push_back(fmt::format("{} {}", count, verdict_name(verdict)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

KeyFigure handed_back_figure(const ModelReport& report) {
  const std::string label = "handed back to a person";
  if (!report.model.points)
    return {"handed_back", "none", label,
            "It has no thresholds yet, so every answer is taken: priornet calibrate sets them and writes a model file; "
            "evaluate that file."};
  const auto& test = report.test;
  const auto& points = *report.model.points;
  const auto range = false_alarm_range(points);
  auto detail = fmt::format("{} of {}", test.handed_back(), count_of(test.size(), "test input"));
  if (test.handed_back() > 0) detail += ": " + by_cause(test);
  detail += fmt::format(". Promised: {:g} % or less, on average", 100 * points.false_alarm);
  if (range.high > 0)
    detail += fmt::format("; {} to {} with this calibration", percent_text(range.low), percent_text(range.high));
  return {"handed_back", percent_text(share_of(test.handed_back(), test.size()).value), label, detail + "."};
}

KeyFigure accepted_error_figure(const ModelReport& report) {
  const auto accepted = report.test.with(Verdict::kAccept);
  const auto number = count_true(accepted);
  const auto errors = count_true(wrong_of(report.test).logical_and(accepted));
  const std::string label = "wrong among the answers it accepts";
  if (number == 0) return {"accepted_error", "none", label, "It accepts no answer on this set."};
  const auto share = share_of(errors, number);
  return {"accepted_error", percent_text(share.value), label,
          fmt::format("{} of {}. For other inputs like these: {} (95 % interval).", errors,
                      count_of(number, "accepted answer"), range_text(share))};
}

double error_of_probabilities(const ModelReport& report) {
  return calibration_error(report.test.probabilities, report.test.labels);
}

KeyFigure calibration_figure(const ModelReport& report) {
  const auto points = [](double share) { return fmt::format("{:.1f} points", 100 * share); };
  std::string detail =
      "The mean difference between how sure it says it is and how often it is right (expected calibration error)";
  if (report.model.points)
    detail += fmt::format("; {} before calibration, which divides the logits by {:.2f}",
                          points(report.report.evaluation.inside.calibration_error), report.model.points->temperature);
  return {"calibration", points(error_of_probabilities(report)), "mean error of its probabilities", detail + "."};
}

KeyFigure noticed_figure(const ModelReport& report) {
  int64_t handed_back = 0, total = 0;
  std::vector<std::string> parts;
  for (const auto& set : report.foreign) {
    handed_back += set.handed_back();
    total += set.size();
    parts.push_back(
        fmt::format("{}: {}", short_set_name(set.name), percent_text(share_of(set.handed_back(), set.size()).value)));
  }
  return {"noticed", percent_text(share_of(handed_back, total).value), "foreign inputs handed back",
          fmt::format("Inputs that belong to none of its classes. {}.", fmt::join(parts, "; "))};
}

}  // namespace

std::vector<KeyFigure> key_figures(const ModelReport& report) {
  std::vector<KeyFigure> figures{error_figure(report), handed_back_figure(report)};
  if (report.model.points) figures.push_back(accepted_error_figure(report));
  if (report.model.points && !report.foreign.empty()) figures.push_back(noticed_figure(report));
  figures.push_back(calibration_figure(report));
  return figures;
}

namespace {

// A name that callers of the library chose is a title, "Paris, France" or "cats/dogs", unless it reads as the name of a
// set.
bool names_a_set(const std::string& name) {
  try {
    parse_set_name(name);
    return true;
  } catch (const ArgumentError&) {
    return false;
  }
}

bool looks_like_path(const std::string& set) {
  return set.find_first_of("/.~") == 0 || std::filesystem::path(set).has_extension();
}

}  // namespace

std::string short_set_name(const std::string& name) {
  const auto remark = name.ends_with(')') ? name.find(" (") : std::string::npos;  // "... (rows kept back)"
  auto set = name.substr(0, remark);
  if (!names_a_set(set)) return name;
  set = set.substr(0, set.find(','));
  if (set.find('/') != std::string::npos && looks_like_path(set)) {
    const auto path = std::filesystem::path(set).lexically_normal();
    set = (path.has_filename() ? path : path.parent_path()).filename().string();
  }
  return remark == std::string::npos ? set : set + name.substr(remark);
}

std::string bottom_line(const ModelReport& report) {
  const auto& test = report.test;
  const auto of_thousand = [&](int64_t count) {
    return static_cast<int64_t>(std::llround(1000.0 * static_cast<double>(count) / static_cast<double>(test.size())));
  };
  const auto wrong = wrong_of(test);
  if (!report.model.points)
    return fmt::format("Of 1000 inputs like those of {} it gets {} wrong.", short_set_name(test.name),
                       of_thousand(count_true(wrong)));
  const auto accepted = test.with(Verdict::kAccept);
  return fmt::format("Of 1000 inputs like those of {} it answers {} by itself, {} of them wrongly, and hands {} back.",
                     short_set_name(test.name), of_thousand(count_true(accepted)),
                     of_thousand(count_true(wrong.logical_and(accepted))), 1000 - of_thousand(count_true(accepted)));
}

std::string description(const ModelReport& report) {
  const auto& run = report.model.run;
  const auto members = run.members.size();
  if (report.model.own_logits)
    return fmt::format("{} judges {} for {}: {}. Tested on {} ({}).", report.model.name, takes(report.model),
                       count_of(static_cast<int64_t>(run.class_names.size()), "class"),
                       listed(run.class_names, kListedClasses), short_set_name(report.test.name),
                       count_of(report.test.size(), "input"));
  return fmt::format("{} sorts {} into {}: {}. It is {} ({}), trained on {} and tested on {} ({}).", report.model.name,
                     takes(report.model), count_of(static_cast<int64_t>(run.class_names.size()), "class"),
                     listed(run.class_names, kListedClasses),
                     members == 1 ? fmt::format("a network of type {}", network_name(run))
                                  : fmt::format("an ensemble of {} networks of type {}", members, network_name(run)),
                     fmt::format("method {}", run.config.method.name), short_set_name(run.config.train),
                     short_set_name(report.test.name), count_of(report.test.size(), "input"));
}

std::vector<std::string> warnings(const ModelReport& report) {
  std::vector<std::string> texts;
  if (report.tested_on_training)
    texts.push_back(fmt::format(
        "The model learnt from {}, on which it was tested here: it will make more mistakes on new inputs. Test it on a "
        "set that it did not learn from.",
        short_set_name(report.test.name)));
  for (const auto& name : report.learnt_as_foreign)
    texts.push_back(fmt::format(
        "The model learnt that inputs of {} are foreign: it will hand back fewer new foreign inputs. Test it on a set "
        "that it did not learn from.",
        short_set_name(name)));
  if (report.model.points) {
    const auto observed = share_of(report.test.handed_back(), report.test.size());
    const auto range = false_alarm_range(*report.model.points);
    if (observed.low > range.high)
      texts.push_back(fmt::format(
          "It hands back {} of {}, more than promised: these inputs are not like those of the calibration set ({}).",
          percent_text(observed.value), short_set_name(report.test.name),
          short_set_name(report.model.points->calibration_set)));
  }
  for (const auto& outside : report.report.evaluation.outside) {
    if (!equals_network(outside)) continue;
    const auto* best = best_of(outside);
    texts.push_back(fmt::format(
        "One trivial statistic {0} the network on {1}: {2} alone tells its inputs from those of {3} with AUROC {4}, "
        "the model's best score ({5}) with {6}. So the result on {1} says little about the network.",
        beats_network(outside) ? "beats" : "is as good as", short_set_name(outside.name), outside.trivial.name,
        short_set_name(report.test.name), auroc_text(outside.trivial.auroc), best->measure,
        auroc_text(best->detection.auroc.value)));
  }
  if (report.test.size() < kFewInputs)
    texts.push_back(fmt::format("{} are few: see the intervals before you compare shares.",
                                count_of(report.test.size(), "test input")));
  return texts;
}

std::string to_text(const ModelReport& report) {
  auto text = description(report) + "\n\n" + bottom_line(report) + "\n\n";
  const auto figures = key_figures(report);
  size_t width = 0;
  for (const auto& figure : figures) width = std::max(width, figure.value.size());
  for (const auto& [name, value, label, detail] : figures)
    text += fmt::format("{:>{}}  {}. {}\n", value, width, label, detail);
  for (const auto& warning : warnings(report)) text += "\nCaution: " + warning + "\n";
  return text;
}

std::string to_markdown(const ModelReport& report) {
  auto text = markdown_text(description(report)) + "\n\n" + markdown_text(bottom_line(report)) + "\n\n";
  for (const auto& [name, value, label, detail] : key_figures(report))
    text += fmt::format("- **{}** {}. {}\n", value, label, markdown_text(detail));
  for (const auto& warning : warnings(report)) text += "\n**Caution:** " + markdown_text(warning) + "\n";
  return text;
}

namespace {

SummaryJson verdicts_json(const JudgedSet& set) {
  SummaryJson json;
  for (const auto& words : kVerdictWords) json[std::string(verdict_name(words.verdict))] = set.count(words.verdict);
  return json;
}

SummaryJson model_json(const ModelFile& model) {
  const auto& run = model.run;
  const auto& preprocessing = model.preprocessing;
  return {{"name", model.name},
          {"network", model.own_logits ? "elsewhere" : network_name(run)},
          {"method", run.config.method.name},
          {"members", model.own_logits ? model.own_logits->members : static_cast<int64_t>(run.members.size())},
          {"trained_on", run.config.train},
          {"classes", run.class_names},
          {"takes", takes(model)},
          {"shape", preprocessing.shape},
          {"columns", columns_of(preprocessing)}};
}

/// How many inputs set a threshold: rows that the network learnt from may calibrate detectors too (cross_validate()).
/// The reference of a network's measure may then hold other numbers than inputs.
int64_t calibration_size(const ModelFile& model, const Watch& watch) {
  const auto is_detector = std::any_of(model.detectors.begin(), model.detectors.end(),
                                       [&](const NamedDetector& one) { return one.name == watch.measure; });
  return is_detector ? watch.reference.size(0) : model.points->calibration_size;
}

SummaryJson operating_point_json(const ModelFile& model, const JudgedSet& test) {
  const auto& points = *model.points;
  const auto range = false_alarm_range(points);
  SummaryJson json = {{"false_alarm", points.false_alarm},
                      {"false_alarm_range", {range.low, range.high}},
                      {"temperature", points.temperature},
                      {"calibration_set", points.calibration_set},
                      {"calibration_title", short_set_name(points.calibration_set)},
                      {"calibration_size", points.calibration_size},
                      {"watches", SummaryJson::array()}};
  for (const auto& watch : points.watches) {
    const auto spoke = std::count_if(test.decisions.begin(), test.decisions.end(),
                                     [&](const Decision& decision) { return decision.watch == watch.measure; });
    json["watches"].push_back({{"cause", verdict_name(watch.cause)},
                               {"measure", watch.measure},
                               {"threshold", watch.threshold},
                               {"reachable", can_reject(watch, test.probabilities.size(1))},
                               {"calibration_size", calibration_size(model, watch)},
                               {"spoke", spoke}});
  }
  return json;
}

/// [K, K]: rows are the true classes, columns the predicted ones.
torch::Tensor confusion_of(const JudgedSet& set) {
  const auto classes = set.probabilities.size(1);
  return torch::bincount(set.labels * classes + set.probabilities.argmax(1), {}, classes * classes)
      .reshape({classes, classes});
}

SummaryJson classes_json(const ModelReport& report, const torch::Tensor& wrong, const torch::Tensor& accepted) {
  auto json = SummaryJson::array();
  const auto& names = report.model.run.class_names;
  for (size_t k = 0; k < names.size(); ++k) {
    const auto of_class = report.test.labels.eq(static_cast<int64_t>(k));
    json.push_back({{"name", names[k]},
                    {"size", count_true(of_class)},
                    {"errors", count_true(of_class.logical_and(wrong))},
                    {"handed_back", count_true(of_class.logical_and(accepted.logical_not()))},
                    {"accepted_errors", count_true(of_class.logical_and(wrong).logical_and(accepted))}});
  }
  return json;
}

/// High for inputs that are handed back first: by the p-value, or without thresholds by the probability of the answer.
torch::Tensor order_of(const JudgedSet& set) {
  if (set.decisions.empty()) return std::get<0>(set.probabilities.max(1)).neg();
  auto order = torch::empty({set.size()}, torch::kFloat64);
  auto* value = order.data_ptr<double>();
  for (const auto& decision : set.decisions) *value++ = -decision.p_value;
  return order;
}

SummaryJson test_json(const ModelReport& report) {
  const auto& test = report.test;
  const auto wrong = wrong_of(test);
  const auto accepted = test.with(Verdict::kAccept);
  const auto number = count_true(accepted);
  const auto confusion = confusion_of(test);
  SummaryJson json = {{"set", test.name},
                      {"title", short_set_name(test.name)},
                      {"size", test.size()},
                      {"errors", count_true(wrong)},
                      {"error", estimate_json(share_of(count_true(wrong), test.size()))},
                      {"ece", error_of_probabilities(report)},
                      {"ece_before_temperature", report.report.evaluation.inside.calibration_error}};
  if (report.model.points) {
    const auto errors = count_true(wrong.logical_and(accepted));
    json["verdicts"] = verdicts_json(test);
    for (const auto& words : kVerdictWords)
      json["errors_by_verdict"][std::string(verdict_name(words.verdict))] =
          count_true(wrong.logical_and(test.with(words.verdict)));
    json["handed_back"] = estimate_json(share_of(test.handed_back(), test.size()));
    json["accepted_error"] = number == 0 ? SummaryJson(nullptr) : estimate_json(share_of(errors, number));
  }
  json["classes"] = classes_json(report, wrong, accepted);
  json["confusion"] = SummaryJson::array();
  for (int64_t k = 0; k < confusion.size(0); ++k) {
    const auto row = confusion[k].contiguous();
    json["confusion"].push_back(std::vector<int64_t>(row.data_ptr<int64_t>(), row.data_ptr<int64_t>() + row.numel()));
  }
  json["reliability"] = reliability_json(test.probabilities, wrong);
  if (report.model.points)
    json["reliability_before_temperature"] =
        reliability_json(report.report.evaluation.inside_scores.probabilities, report.report.evaluation.wrong);
  json["risk_coverage"] = risk_json(order_of(test), wrong);
  return json;
}

SummaryJson foreign_json(const JudgedSet& set, const OutsideEvaluation& outside, bool calibrated) {
  SummaryJson json = {{"set", set.name}, {"title", short_set_name(set.name)}, {"size", set.size()}};
  if (calibrated) {
    json["verdicts"] = verdicts_json(set);
    json["handed_back"] = estimate_json(share_of(set.handed_back(), set.size()));
  }
  if (const auto* best = best_of(outside)) {
    json["best_measure"] = best->measure;
    json["best_auroc"] = best->detection.auroc.value;
  }
  json["trivial_statistic"] = outside.trivial.name;
  json["trivial_auroc"] = outside.trivial.auroc;
  json["trivial_beats_network"] = beats_network(outside);
  json["trivial_equals_network"] = equals_network(outside);
  return json;
}

}  // namespace

SummaryJson summary_json(const ModelReport& report) {
  SummaryJson json = {
      {"description", description(report)}, {"bottom_line", bottom_line(report)}, {"key_figures", SummaryJson::array()},
      {"warnings", warnings(report)},       {"model", model_json(report.model)},  {"verdicts", SummaryJson::array()},
      {"operating_point", nullptr},         {"test", test_json(report)},          {"foreign", SummaryJson::array()}};
  for (const auto& [name, value, label, detail] : key_figures(report))
    json["key_figures"].push_back({{"name", name}, {"value", value}, {"label", label}, {"detail", detail}});
  for (const auto& [verdict, title, meaning] : kVerdictWords)
    json["verdicts"].push_back({{"name", verdict_name(verdict)}, {"title", title}, {"meaning", meaning}});
  if (report.model.points) json["operating_point"] = operating_point_json(report.model, report.test);
  for (size_t s = 0; s < report.foreign.size(); ++s)
    json["foreign"].push_back(
        foreign_json(report.foreign[s], report.report.evaluation.outside.at(s), report.model.points.has_value()));
  return json;
}

}  // namespace priornet
