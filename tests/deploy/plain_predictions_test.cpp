#include <gtest/gtest.h>
#include <priornet/deploy/predictor.h>
#include <priornet/learning/images.h>
#include <testing/small_models.h>
#include "tool/server/served_model.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

std::vector<std::string> measures_of(const Predictions& said) {
  std::vector<std::string> names;
  for (const auto& column : said.scores) names.push_back(column.name);
  return names;
}

TEST(PlainPredictions, HoldWhatThePredictorSaid) {
  Predictor predictor(small_model());
  const auto said = predictor.predict(small_images(7, 3).inputs);
  const auto answers = plain_predictions(said);
  EXPECT_EQ(answers.rows, 7);
  EXPECT_EQ(answers.classes, 3);
  EXPECT_EQ(answers.prediction[5], said.prediction[5].item<int64_t>());
  EXPECT_EQ(answers.probabilities[5 * 3 + 1], said.probabilities[5][1].item<double>());
  EXPECT_EQ(answers.scores[1][5], said.scores[1].values[5].item<double>());
  EXPECT_EQ(answers.alphas()[5 * 3 + 2], std::exp(said.log_alpha[5][2].item<double>()));
  EXPECT_EQ(answers.decisions[5].p_value, said.decisions[5].p_value);
}

TEST(PlainPredictions, AreJsonWithTheNamesThatColumnsHave) {
  auto model = small_model();
  const auto classes = model.run.class_names;
  const auto inputs = small_images(4, 3).inputs;
  const auto said = Predictor(model).predict(inputs);
  const auto measures = measures_of(said);
  const auto json = prediction_json({classes, measures}, plain_predictions(said), 2);
  std::vector<std::string> keys = {"prediction", "probability"};
  keys.insert(keys.end(), measures.begin(), measures.end());
  const auto without_verdict = keys;
  keys.insert(keys.end(), {"p_value", "verdict", "verdict_by"});
  const auto keys_of = [](const nlohmann::ordered_json& object) {
    std::vector<std::string> found;
    for (const auto& [key, value] : object.items()) found.push_back(key);
    return found;
  };
  EXPECT_EQ(keys_of(json), keys);
  EXPECT_EQ(json["prediction"], classes[static_cast<size_t>(said.prediction[2].item<int64_t>())]);
  EXPECT_EQ(json["entropy"], said.score("entropy")->index({2}).item<double>());
  EXPECT_EQ(json["verdict"], verdict_name(said.decisions[2].verdict));
  EXPECT_EQ(json["verdict_by"], said.decisions[2].watch);
  model.points.reset();
  EXPECT_EQ(keys_of(prediction_json({classes, measures}, plain_predictions(Predictor(model).predict(inputs)), 2)),
            without_verdict);
}

// A colour image of another size, for a model that takes small grey ones.
TEST(PlainPredictions, AreTheSameOfAServerAndOfThePredictor) {
  const auto predictor = std::make_shared<Predictor>(small_model());
  const auto colours = torch::arange(3 * 20 * 13).mul(7).remainder(256).to(torch::kUInt8).view({3, 20, 13});
  const auto file = encode_png(colours);
  const auto image = predictor->decoded(file, "it");
  const auto served = serving::served_model(predictor);
  const auto bytes = served.input_of_image(file);
  ASSERT_EQ(bytes.size(), static_cast<size_t>(image.numel()));
  EXPECT_EQ(std::memcmp(bytes.data(), image.contiguous().data_ptr(), bytes.size()), 0);
  const auto answers = served.answer(bytes, 1);
  EXPECT_EQ(answers.probabilities, plain_predictions(predictor->predict(image.unsqueeze(0))).probabilities);
}

TEST(PlainPredictions, AreServedOfLogitsWithoutANetwork) {
  const auto model = small_logits_model();
  const auto served = serving::served_model(std::make_shared<Predictor>(model));
  EXPECT_EQ(served.description.measures, score_names(model));
  EXPECT_EQ(served.description.shape, std::vector<int64_t>{5});
  const auto rows = torch::randn({7, 5}, make_generator(2));
  const auto answers =
      served.answer(std::string(static_cast<const char*>(rows.data_ptr()), static_cast<size_t>(rows.nbytes())), 7);
  const auto wanted = plain_predictions(judge_logits(model, rows.narrow(1, 0, 2), rows.narrow(1, 2, 3)));
  EXPECT_EQ(answers.probabilities, wanted.probabilities);
  EXPECT_EQ(answers.scores, wanted.scores);
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(answers.decisions[i].p_value, wanted.decisions[i].p_value);
}

}  // namespace
}  // namespace priornet
