#include <priornet/deploy/predictor.h>
#include <priornet/dirichlet/measures.h>

#include <cmath>
#include <cstdio>

// A program of somebody else's.

// The flat Dirichlet over three classes has the differential entropy -ln 2.
bool measures_are_right() {
  const double entropy = priornet::differential_entropy(torch::zeros({1, 3}, torch::kFloat64)).item<double>();
  std::printf("%.15f\n", entropy);
  return std::abs(entropy + std::log(2.0)) < 1e-14;
}

// Loads a model file and asks it about a batch.
void ask(const char* path) {
  priornet::Predictor predictor(priornet::read_model_file(path));
  const auto& preprocessing = predictor.model().preprocessing;
  auto shape = preprocessing.shape;
  shape.insert(shape.begin(), 2);
  const auto batch = torch::zeros(shape, preprocessing.takes_images() ? torch::kUInt8 : torch::kFloat32);
  const auto said = predictor.predict(batch);
  for (int64_t i = 0; i < said.size(); ++i)
    std::printf("%s %.4f %s\n", predictor.model().run.class_names[said.prediction[i].item<int64_t>()].c_str(),
                said.probability[i].item<double>(),
                said.decisions.empty() ? "" : priornet::kVerdictNames[int(said.decisions[i].verdict)].data());
}

int main(int argc, char** argv) {
  if (argc > 1) ask(argv[1]);
  return measures_are_right() ? 0 : 1;
}
