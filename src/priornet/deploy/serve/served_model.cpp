#include <ATen/Parallel.h>
#include <priornet/deploy/serve/served_model.h>

namespace priornet::serving {
namespace {

std::vector<double> doubles(const torch::Tensor& values) {
  const auto flat = values.to(torch::kCPU, torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

// A view of the bytes as the tensor the predictor takes; they must outlive it.
torch::Tensor input_tensor(const ModelDescription& model, const std::string& inputs, int64_t rows) {
  std::vector<int64_t> shape = {rows};
  shape.insert(shape.end(), model.shape.begin(), model.shape.end());
  return at::from_blob(const_cast<char*>(inputs.data()), shape, model.takes_images() ? torch::kUInt8 : torch::kFloat32);
}

ModelDescription described(const ModelFile& file) {
  ModelDescription model;
  model.name = file.name;
  model.method = method_name(file.run.config.method.method);
  model.shape = file.preprocessing.shape;
  model.class_names = file.run.class_names;
  model.feature_names = file.preprocessing.feature_names;
  if (file.preprocessing.mean.defined()) model.feature_means = doubles(file.preprocessing.mean);
  if (file.preprocessing.deviation.defined()) model.feature_deviations = doubles(file.preprocessing.deviation);
  model.gives_dirichlet = file.run.gives_dirichlet();
  model.provenance = file.provenance;
  if (file.points) {
    model.calibrated = true;
    model.false_alarm = file.points->false_alarm;
    for (const auto& watch : file.points->watches)
      model.watches.push_back({watch.cause, watch.measure, watch.threshold});
  }
  return model;
}

int64_t multiply_adds_a_row(const ModelFile& file) {
  int64_t sum = 0;
  for (const auto& network : file.run.members) sum += multiply_adds(*network);
  return sum;
}

// Threads that wait for one another, and for a core that connections need, gain nothing on a pass this small.
constexpr int64_t kWorthSharing = 50'000'000;  // multiply-adds

void use_threads_for(int64_t multiply_adds, int most) {
  const int threads = multiply_adds < kWorthSharing ? 1 : most;
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

}  // namespace

ServedModel served_model(std::shared_ptr<Predictor> predictor) {
  ServedModel served;
  served.description = described(predictor->model());
  const std::string blank(static_cast<size_t>(served.description.bytes_a_row()), '\0');
  const auto first = predictor->predict(input_tensor(served.description, blank, 1));
  for (const auto& [name, values] : first.scores) served.description.measures.push_back(name);
  served.description.gives_dirichlet = first.log_alpha.defined();
  served.answer = [predictor, model = served.description, work = multiply_adds_a_row(predictor->model()),
                   threads = at::get_num_threads()](const std::string& inputs, int64_t rows) {
    use_threads_for(work * rows, threads);
    return answers_of(predictor->predict(input_tensor(model, inputs, rows)));
  };
  served.input_of_image = [predictor](std::string_view file) {
    const auto image = predictor->decoded(file, "the image").contiguous();
    return std::string(reinterpret_cast<const char*>(image.data_ptr<uint8_t>()), static_cast<size_t>(image.numel()));
  };
  return served;
}

}  // namespace priornet::serving
