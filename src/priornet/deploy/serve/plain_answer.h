#pragma once

#include <priornet/deploy/serve/answers.h>
#include <priornet/deploy/serve/model_description.h>

#include <string>

namespace priornet::serving {

/// Row `row` of the answers for a person: class, probabilities, concentrations, uncertainties, p-value, and the verdict
/// as a name and in words. JSON; what the model does not give is null.
std::string plain_answer(const ModelDescription& model, const Answers& answers, int64_t row);

/// The verdict in one or two sentences, with the measure that speaks against the prediction.
std::string verdict_in_words(const ModelDescription& model, const Answers& answers, int64_t row);

}  // namespace priornet::serving
