#include <priornet/deploy/answers.h>
#include <priornet/deploy/predictor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

template <typename Value>
void append_rows(std::vector<Value>& to, const std::vector<Value>& from, int64_t begin, int64_t count, int64_t width) {
  if (from.empty()) return;
  to.insert(to.end(), from.begin() + begin * width, from.begin() + (begin + count) * width);
}

template <typename Value>
std::vector<Value> listed(const torch::Tensor& values) {
  const auto flat = values.contiguous();
  return {flat.data_ptr<Value>(), flat.data_ptr<Value>() + flat.numel()};
}

}  // namespace

void Answers::append(const Answers& from, int64_t begin, int64_t count) {
  rows += count;
  classes = from.classes;
  append_rows(prediction, from.prediction, begin, count, 1);
  append_rows(probability, from.probability, begin, count, 1);
  append_rows(probabilities, from.probabilities, begin, count, classes);
  append_rows(log_alpha, from.log_alpha, begin, count, classes);
  append_rows(decisions, from.decisions, begin, count, 1);
  scores.resize(from.scores.size());
  for (size_t i = 0; i < scores.size(); ++i) append_rows(scores[i], from.scores[i], begin, count, 1);
}

std::vector<double> Answers::alphas() const {
  auto values = log_alpha;
  for (auto& value : values) value = std::min(std::exp(value), std::numeric_limits<double>::max());
  return values;
}

Answers answers_of(const Predictions& said) {
  Answers answers;
  answers.rows = said.size();
  answers.classes = said.probabilities.size(1);
  answers.prediction = listed<int64_t>(said.prediction);
  answers.probability = listed<double>(said.probability);
  answers.probabilities = listed<double>(said.probabilities);
  if (said.log_alpha.defined()) answers.log_alpha = listed<double>(said.log_alpha);
  for (const auto& column : said.scores) answers.scores.push_back(listed<double>(column.values));
  answers.decisions = said.decisions;
  return answers;
}

nlohmann::ordered_json answer_json(const AnswerNames& names, const Answers& answers, int64_t row) {
  const auto at = static_cast<size_t>(row);
  nlohmann::ordered_json json = {{"prediction", names.classes.at(static_cast<size_t>(answers.prediction.at(at)))},
                                 {"probability", answers.probability.at(at)}};
  for (size_t m = 0; m < names.measures.size(); ++m) json[names.measures[m]] = answers.scores.at(m).at(at);
  if (answers.decisions.empty()) return json;
  json["p_value"] = answers.decisions.at(at).p_value;
  json["verdict"] = verdict_name(answers.decisions[at].verdict);
  return json;
}

}  // namespace priornet
