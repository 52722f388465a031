#include <priornet/deploy/predictor.h>

#include <cstdio>

// score MODEL: loads a model file and asks it about a batch of three rows.
int main(int, char** arguments) {
  priornet::Predictor predictor(priornet::read_model_file(arguments[1]));
  const auto rows = torch::tensor({1050.0F, 0.0F, 950.0F, 0.0F, 1050.0F, 0.5F}).view({3, 2});
  const auto said = predictor.predict(rows);
  for (int64_t i = 0; i < said.size(); ++i) {
    const auto& name = predictor.model().run.class_names[said.prediction[i].item<int64_t>()];
    std::printf("%s %.3f %s\n", name.c_str(), said.probability[i].item<double>(),
                priornet::verdict_name(said.decisions[i].verdict).data());
  }
}
