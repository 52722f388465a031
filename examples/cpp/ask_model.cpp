// A model file inside your own program: ask_model MODEL.priornet IMAGE...
//
// Opening the file runs no code from it. Images of any size and kind are resized as the model needs them.

#include <priornet/deploy.h>

#include <cstdio>
#include <exception>

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: ask_model MODEL.priornet IMAGE...\n");
    return 2;
  }
  try {
    priornet::Predictor predictor(priornet::open_model(arguments[1]));
    for (int i = 2; i < count; ++i) {
      const auto source = priornet::open_inputs(arguments[i], predictor);
      while (const auto input = source->next()) {
        if (!input->error.empty()) {
          std::printf("%s: %s\n", input->name.c_str(), input->error.c_str());
          continue;
        }
        const auto said = predictor.predict(input->value.unsqueeze(0));
        const auto& name = predictor.model().run.class_names[static_cast<size_t>(said.prediction[0].item<int64_t>())];
        std::printf("%s: %s with probability %.3f", input->name.c_str(), name.c_str(),
                    said.probability[0].item<double>());
        if (!said.decisions.empty())
          std::printf(", %s (p-value %.4f)", priornet::verdict_name(said.decisions[0].verdict).data(),
                      said.decisions[0].p_value);
        std::printf("\n");
      }
    }
  } catch (const std::exception& error) {  // the file is missing or damaged: the message says which
    std::fprintf(stderr, "ask_model: %s\n", error.what());
    return 1;
  }
}
