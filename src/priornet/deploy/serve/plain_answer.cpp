#include <fmt/format.h>
#include <priornet/deploy/serve/plain_answer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace priornet::serving {
namespace {

std::vector<double> row_of(const std::vector<double>& values, int64_t row, int64_t width) {
  return {values.begin() + row * width, values.begin() + (row + 1) * width};
}

std::string class_name(const ModelDescription& model, int64_t index) {
  return static_cast<size_t>(index) < model.class_names.size() ? model.class_names[static_cast<size_t>(index)]
                                                               : std::to_string(index);
}

// The two likeliest classes.
std::string rivals(const ModelDescription& model, const std::vector<double>& probabilities) {
  const auto first = std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
  int64_t second = first == 0 ? 1 : 0;
  for (int64_t i = 0; i < static_cast<int64_t>(probabilities.size()); ++i)
    if (i != first && probabilities[static_cast<size_t>(i)] > probabilities[static_cast<size_t>(second)]) second = i;
  return fmt::format("{} or {}", class_name(model, first), class_name(model, second));
}

// "Its mutual information is 0.93, above 0.021": of the measure that watches for the cause.
std::string reason_of(const ModelDescription& model, const Answers& answers, Verdict cause, size_t row) {
  for (const auto& watch : model.watches) {
    const auto at = std::find(model.measures.begin(), model.measures.end(), watch.measure);
    if (watch.cause != cause || at == model.measures.end()) continue;
    const auto value = answers.scores[static_cast<size_t>(at - model.measures.begin())][row];
    auto name = watch.measure;
    std::replace(name.begin(), name.end(), '_', ' ');
    return value > watch.threshold
               ? fmt::format(" Its {} is {:.3g}, above the limit of {:.3g}.", name, value, watch.threshold)
               : fmt::format(" Its {} of {:.3g} is what stands out most.", name, value);
  }
  return "";
}

}  // namespace

std::string verdict_in_words(const ModelDescription& model, const Answers& answers, int64_t row) {
  if (answers.decisions.empty()) return "The model was not calibrated: it gives no verdict (see priornet calibrate).";
  const auto at = static_cast<size_t>(row);
  const auto& [verdict, p_value] = answers.decisions[at];
  const auto reason = reason_of(model, answers, verdict, at);
  switch (verdict) {
    case Verdict::kAccept:
      return fmt::format("Nothing speaks against it: {:.0f} % of known inputs look at least as unusual.",
                         100 * p_value);
    case Verdict::kAmbiguous:
      return fmt::format("Ambiguous: it could be {}.{}",
                         rivals(model, row_of(answers.probabilities, row, answers.classes)), reason);
    case Verdict::kUnfamiliar:
      return "Unfamiliar: it is not like what the model learned from." + reason;
    case Verdict::kUndecided:
      return "Undecided: the model's members disagree." + reason;
  }
  return "";
}

std::string plain_answer(const ModelDescription& model, const Answers& answers, int64_t row) {
  const auto at = static_cast<size_t>(row);
  const auto predicted = answers.prediction[at];
  nlohmann::ordered_json uncertainties = nlohmann::ordered_json::object();
  for (size_t i = 0; i < model.measures.size(); ++i) uncertainties[model.measures[i]] = answers.scores[i][at];
  nlohmann::ordered_json answer = {{"model", model.name},
                                   {"class", class_name(model, predicted)},
                                   {"class_index", predicted},
                                   {"probability", answers.probability[at]},
                                   {"verdict", nullptr},
                                   {"words", verdict_in_words(model, answers, row)},
                                   {"p_value", nullptr},
                                   {"uncertainties", uncertainties},
                                   {"class_names", model.class_names},
                                   {"probabilities", row_of(answers.probabilities, row, answers.classes)},
                                   {"alphas", nullptr}};
  if (!answers.decisions.empty()) {
    answer["verdict"] = kVerdictNames.at(static_cast<size_t>(answers.decisions[at].verdict));
    answer["p_value"] = answers.decisions[at].p_value;
  }
  if (!answers.log_alpha.empty()) {
    auto alphas = row_of(answers.log_alpha, row, answers.classes);
    for (auto& value : alphas) value = std::min(std::exp(value), std::numeric_limits<double>::max());
    answer["alphas"] = alphas;
  }
  return answer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace priornet::serving
