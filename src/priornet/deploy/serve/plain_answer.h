#pragma once

#include <priornet/deploy/answers.h>
#include <priornet/deploy/serve/model_description.h>

#include <string>

namespace priornet::serving {

/// Row `row` of the answers for a person, as JSON: answer_json() with the verdict in words, the model's name, and every
/// class's name, probability and concentration (`alphas`, of Dirichlets).
std::string plain_answer(const ModelDescription& model, const Answers& answers, int64_t row);

/// The verdict in one or two sentences, with the measure that speaks against the prediction.
std::string verdict_in_words(const ModelDescription& model, const Answers& answers, int64_t row);

}  // namespace priornet::serving
