#pragma once

#include <priornet/uncertainty/errors.h>
#include "tool/server/served_model.h"

#include <cmath>
#include <cstring>

namespace priornet {

/// A model behind a server that needs no network. Images [1, 2, 2] of three classes: the class is the first byte modulo
/// 3, its alpha is 1 + the second byte. An image whose third byte is above 200 is unfamiliar, above 100 ambiguous. If a
/// fourth byte is 255, the whole batch fails.
inline serving::ServedModel made_up_model(const std::string& name = "made-up") {
  serving::ServedModel model;
  model.description.name = name;
  model.description.method = "dpn";
  model.description.shape = {1, 2, 2};
  model.description.class_names = {"ant", "bee", "cat"};
  model.description.measures = {"entropy", "mutual_information"};
  model.description.gives_dirichlet = true;
  model.description.calibrated = true;
  model.description.false_alarm = 0.05;
  model.description.watches = {{Verdict::kAmbiguous, "entropy", 0.5},
                               {Verdict::kUnfamiliar, "mutual_information", 0.25}};
  model.answer = [](const std::string& inputs, int64_t rows) {
    PlainPredictions answers;
    answers.scores.resize(2);
    for (int64_t row = 0; row < rows; ++row) {
      const auto byte = [&](int64_t at) {
        return static_cast<unsigned char>(inputs[static_cast<size_t>(4 * row + at)]);
      };
      if (byte(3) == 255) throw Error("a row that no model takes");
      ++answers.rows;
      answers.classes = 3;
      const int64_t chosen = byte(0) % 3;
      answers.prediction.push_back(chosen);
      const double alpha = 1.0 + byte(1);
      answers.probability.push_back(alpha / (alpha + 2));
      for (int64_t k = 0; k < 3; ++k) {
        answers.probabilities.push_back((k == chosen ? alpha : 1.0) / (alpha + 2));
        answers.log_alpha.push_back(k == chosen ? std::log(alpha) : 0.0);
      }
      answers.scores[0].push_back(byte(2) / 200.0);
      answers.scores[1].push_back(byte(2) / 400.0);
      answers.decisions.push_back(byte(2) > 200   ? Decision{Verdict::kUnfamiliar, 0.001, "mutual_information"}
                                  : byte(2) > 100 ? Decision{Verdict::kAmbiguous, 0.01, "entropy"}
                                                  : Decision{Verdict::kAccept, 0.5, ""});
    }
    return answers;
  };
  model.facts_of_image = [](std::string_view) { return ImageFacts{2, 2, 0}; };
  model.input_of_image = [](std::string_view file) {
    if (file.size() != 4) throw DataError("the image: should have 4 bytes");
    return std::string(file);
  };
  return model;
}

/// The same for rows of two numbers, whose class is the sign of the first.
inline serving::ServedModel made_up_table_model() {
  auto model = made_up_model("table");
  model.description.shape = {2};
  model.description.class_names = {"below", "above", "never"};
  model.description.feature_names = {"height", "width"};
  model.answer = [images = model.answer](const std::string& inputs, int64_t rows) {
    std::string bytes;
    for (int64_t row = 0; row < rows; ++row) {
      float first = 0;
      std::memcpy(&first, inputs.data() + row * 8, sizeof first);
      bytes += std::string{static_cast<char>(first > 0 ? 1 : 0), '\x09', '\0', '\0'};
    }
    return images(bytes, rows);
  };
  return model;
}

}  // namespace priornet
