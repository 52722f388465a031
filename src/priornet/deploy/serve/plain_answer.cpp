#include <fmt/format.h>
#include <priornet/deploy/serve/plain_answer.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace priornet::serving {
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

// "Its mutual information is 0.93, above 0.021": of the measure that watches for the cause.
std::string reason_of(const ModelDescription& model, const Answers& answers, Verdict cause, size_t row) {
  for (const auto& watch : model.watches) {
    const auto at = std::find(model.measures.begin(), model.measures.end(), watch.measure);
    if (watch.cause != cause || at == model.measures.end()) continue;
    const auto value = answers.scores[static_cast<size_t>(at - model.measures.begin())][row];
    auto name = watch.measure;
    std::replace(name.begin(), name.end(), '_', ' ');
    if (!(value > watch.threshold)) return fmt::format(" Its {} of {:.3g} is what stands out most.", name, value);
    const auto rounded = [](double number, int digits) { return fmt::format("{:.{}g}", number, digits); };
    int digits = 3;  // more where the two would read the same
    while (digits < 17 && rounded(value, digits) == rounded(watch.threshold, digits)) ++digits;
    return fmt::format(" Its {} is {}, above the limit of {}.", name, rounded(value, digits),
                       rounded(watch.threshold, digits));
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
  auto answer = answer_json({model.class_names, model.measures}, answers, row);
  answer["words"] = verdict_in_words(model, answers, row);
  answer["model"] = model.name;
  answer["class_names"] = model.class_names;
  answer["probabilities"] = row_of(answers.probabilities, row, answers.classes);
  if (!answers.log_alpha.empty()) answer["alphas"] = row_of(answers.alphas(), row, answers.classes);
  return answer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace priornet::serving
