#include "tool/report/example_inputs.h"

#include <fmt/format.h>
#include <priornet/learning/images.h>
#include <priornet/learning/resize.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tool/report/page.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

using ExampleJson = nlohmann::ordered_json;

constexpr int64_t kInputs = 8;  // of a group
constexpr int64_t kLargestSide = 96;
constexpr size_t kColumns = 8;

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
  if (longest <= kLargestSide) return base64(encode_png(image));
  const auto side = [&](int64_t length) { return std::max<int64_t>(1, length * kLargestSide / longest); };
  return base64(encode_png(resize(image, {.height = side(image.size(1)), .width = side(image.size(2))})));
}

ExampleJson columns_of(const torch::Tensor& row, const Preprocessing& preprocessing) {
  struct Column {
    std::string name;
    double value = 0.0;
    double deviations = 0.0;
  };
  std::vector<Column> columns;
  const auto& names = preprocessing.feature_names;
  for (int64_t c = 0; c < row.size(0); ++c) {
    const auto at = static_cast<size_t>(c);
    Column column{at < names.size() ? names[at] : fmt::format("feature {}", c), row[c].item<double>(), 0.0};
    if (preprocessing.scale.defined())
      column.deviations =
          (column.value - preprocessing.scale.mean[c].item<double>()) / preprocessing.scale.deviation[c].item<double>();
    columns.push_back(std::move(column));
  }
  const auto farther = [](const Column& a, const Column& b) { return std::abs(a.deviations) > std::abs(b.deviations); };
  std::stable_sort(columns.begin(), columns.end(), farther);
  columns.resize(std::min(columns.size(), kColumns));
  auto json = ExampleJson::array();
  for (const auto& [name, value, deviations] : columns)
    json.push_back({{"name", name}, {"value", short_number(value, 5)}, {"deviations", short_number(deviations, 3)}});
  return json;
}

ExampleJson input_json(const ModelReport& report, const ShownSet& set, int64_t row) {
  const auto& names = report.model.run.class_names;
  const auto name = [&](const torch::Tensor& index) { return names.at(static_cast<size_t>(index.item<int64_t>())); };
  const auto [probabilities, order] = set.judged.probabilities[row].sort(0, true);
  ExampleJson json = {{"set", short_set_name(set.judged.name)},
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

ExampleJson examples_json(const ModelReport& report, const EvaluatedSets& sets) {
  const bool calibrated = report.model.points.has_value();
  // Columns as the model orders them; images as the user has them.
  const auto shown = [&](const Dataset& set) { return with_features(set, report.model.preprocessing.feature_names); };
  const auto inside = shown(sets.inside);
  std::vector<Dataset> outside;
  for (const auto& set : sets.outside) outside.push_back(shown(set));
  auto json = ExampleJson::array();
  for (const auto& group : groups()) {
    if (group.needs_thresholds != calibrated) continue;
    std::vector<ShownSet> members;
    if (!group.foreign) members.push_back({report.test, inside});
    if (group.foreign)
      for (size_t s = 0; s < outside.size(); ++s) members.push_back({report.foreign.at(s), outside[s]});
    int64_t total = 0;
    auto inputs = ExampleJson::array();
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
