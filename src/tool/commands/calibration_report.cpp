#include "tool/commands/calibration_report.h"

#include <fmt/format.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/decision.h>

#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "tool/commands/command.h"
#include "tool/commands/terminal.h"
#include "tool/report/table.h"

namespace priornet::tool {

Behaviour behaviour_of(const Predictions& said, const torch::Tensor& labels, const std::string& set) {
  Behaviour result;
  result.set = set;
  result.size = said.size();
  auto accepted = torch::zeros({said.size()}, torch::kBool);
  for (size_t i = 0; i < said.decisions.size(); ++i) {
    ++result.verdicts[static_cast<size_t>(said.decisions[i].verdict)];
    if (!said.decisions[i].watch.empty()) ++result.verdicts_by[said.decisions[i].watch];
    accepted[static_cast<int64_t>(i)] = said.decisions[i].verdict == Verdict::kAccept;
  }
  if (!labels.defined()) return result;
  const auto wrong = said.prediction.ne(labels);
  result.error = wrong.to(torch::kFloat64).mean().item<double>();
  result.accepted_error = wrong.masked_select(accepted).to(torch::kFloat64).mean().item<double>();
  result.calibration_error = calibration_error(said.probabilities, labels);
  return result;
}

namespace {

std::string percent(double share) { return std::isnan(share) ? "" : fmt::format("{:.2f} %", 100 * share); }

// How close to the rate this one calibration set gets.
std::string range_text(const OperatingPoints& points) {
  const auto range = false_alarm_range(points);
  if (!points.groups.empty() || range.high == 0) return "";
  return fmt::format(
      "Of new inputs like these, {} or less are rejected, on average over calibration sets. A single calibration\n"
      "set of {} inputs gives {} to {}, 95 times out of 100.\n",
      percent(range.mean), points.calibration_size > 0 ? points.calibration_size : points.rarities.size(0),
      percent(range.low), percent(range.high));
}

// The names of the classes of a group, as many as fit in a line.
std::string names_of(const ClassGroup& group, const std::vector<std::string>& class_names) {
  std::string text;
  for (const auto one : group.classes) {
    if (text.size() > 60) return text + ", ...";
    text += (text.empty() ? "" : ", ") + class_names.at(static_cast<size_t>(one));
  }
  return text;
}

Table thresholds_table(const ModelFile& model) {
  const auto& points = *model.points;
  Table table;
  table.title = fmt::format("What is rejected, at most {} of inputs like those of {}", percent(points.false_alarm),
                            points.calibration_set);
  const auto shown = [](const Watch& watch) {
    return Cell::number(watch.threshold, fmt::format("{:.5g}", watch.threshold));
  };
  if (points.groups.empty()) {
    table.columns = {"verdict", "measure", "above"};
    for (const auto& watch : points.watches)
      table.add({std::string(verdict_name(watch.cause)), watch.measure, shown(watch)});
    return table;
  }
  table.columns = {"predicted as", "inputs"};
  for (const auto& watch : points.watches) table.columns.push_back(watch.measure + " above");
  table.columns.push_back("rejected, new inputs");
  for (const auto& group : points.groups) {
    std::vector<Cell> row = {names_of(group, model.run.class_names), fmt::format("{}", group.rarities.size(0))};
    for (const auto& watch : group.watches) row.push_back(shown(watch));
    const auto range = false_alarm_range(points_of_group(points, group));
    row.push_back(fmt::format("{} to {}", percent(range.low), percent(range.high)));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

std::string calibration_text(const ModelFile& model, const std::vector<Behaviour>& behaviours, const std::string& out) {
  const auto& points = *model.points;
  Table table;
  table.columns = {"inputs",    "number", "rejected",          "unfamiliar", "undecided",
                   "ambiguous", "error",  "of those accepted", "ECE"};
  for (const auto& b : behaviours) {
    const auto share = [&](Verdict verdict) {
      return percent(static_cast<double>(b.verdicts[static_cast<size_t>(verdict)]) / static_cast<double>(b.size));
    };
    table.add({b.set, fmt::format("{}", b.size),
               percent(static_cast<double>(b.rejected()) / static_cast<double>(b.size)), share(Verdict::kUnfamiliar),
               share(Verdict::kUndecided), share(Verdict::kAmbiguous), percent(b.error), percent(b.accepted_error),
               std::isnan(b.calibration_error) ? "" : fmt::format("{:.2f} points", 100 * b.calibration_error)});
  }
  const auto* inputs = !model.own_logits                 ? "INPUT..."
                       : model.own_logits->features == 0 ? "--logits NEW.npy"
                                                         : "--logits NEW.npy --features NEW-FEATURES.npy";
  return fmt::format("{}\n{}\n{}Temperature {:.3f}. Model file: {}\nUse it: priornet predict {} {}\n",
                     to_text(thresholds_table(model)), to_text(table), range_text(points), points.temperature, out,
                     shell_word(out), inputs);
}

std::string calibration_json(const ModelFile& model, const std::vector<Behaviour>& behaviours, const std::string& out) {
  const auto& points = *model.points;
  nlohmann::ordered_json json = {{"model", out},
                                 {"false_alarm", points.false_alarm},
                                 {"temperature", points.temperature},
                                 {"calibration_set", points.calibration_set},
                                 {"calibration_size", points.calibration_size}};
  const auto range = false_alarm_range(points);
  json["false_alarm_range"] = {range.low, range.high};
  for (const auto& watch : points.watches)
    json["watches"].push_back(
        {{"cause", verdict_name(watch.cause)}, {"measure", watch.measure}, {"threshold", watch.threshold}});
  for (const auto& group : points.groups) {
    const auto of_group = false_alarm_range(points_of_group(points, group));
    nlohmann::ordered_json item = {{"classes", nlohmann::json::array()},
                                   {"size", group.rarities.size(0)},
                                   {"false_alarm_range", {of_group.low, of_group.high}}};
    for (const auto one : group.classes) item["classes"].push_back(model.run.class_names.at(static_cast<size_t>(one)));
    for (const auto& watch : group.watches) item["thresholds"].push_back(watch.threshold);
    json["groups"].push_back(std::move(item));
  }
  for (const auto& b : behaviours) {
    nlohmann::ordered_json item = {{"set", b.set}, {"size", b.size}, {"rejected", b.rejected()}};
    for (size_t v = 0; v < kVerdictNames.size(); ++v) item[std::string(kVerdictNames[v])] = b.verdicts[v];
    item["verdict_by"] = b.verdicts_by;
    item["error"] = b.error;
    item["accepted_error"] = b.accepted_error;
    item["ece"] = b.calibration_error;
    json["sets"].push_back(std::move(item));
  }
  return json_text(json, 2) + "\n";
}

void say_what_is_short(const ModelFile& model) {
  const auto& points = *model.points;
  for (const auto& what : unreachable_thresholds(points, static_cast<int64_t>(model.run.class_names.size())))
    warn(fmt::format("nothing will be rejected by {}: use more calibration inputs or a higher --false-alarm", what));
  if (points.groups.size() == 1)
    return note(fmt::format(
        "--per-class changes nothing: some classes were predicted for too few inputs, even together ({} are "
        "needed), so all classes share the same thresholds. Use more calibration inputs",
        least_calibration_size(points.false_alarm)));
  for (const auto& group : points.groups)
    if (group.classes.size() > 1)
      note(
          fmt::format("{}: some of these classes were predicted for fewer than {} inputs. They share thresholds, and "
                      "the promise holds for them together",
                      names_of(group, model.run.class_names), least_calibration_size(points.false_alarm)));
}

}  // namespace priornet::tool
