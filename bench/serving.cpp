#include "serving.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/predictor.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/uncertainty/random.h>
#include "tool/server/http_server.h"
#include "tool/server/inference_server.h"

#include <memory>

namespace priornet::bench {
namespace {

// The models that are served if no model file is named: from almost no work per pass to more than the cores can hide.
struct ServedNetwork {
  std::string label;
  ModelOptions options;
};

std::vector<ServedNetwork> served_networks() {
  std::vector<ServedNetwork> networks(3);
  networks[0] = {"mlp", {}};
  networks[0].options.name = "mlp";
  networks[0].options.input = {784};
  networks[0].options.dense = std::vector<int64_t>{256, 256};
  networks[1] = {"small vgg6", {}};
  networks[1].options.blocks = std::vector<std::vector<int64_t>>{{8, 8}, {16, 16}};
  networks[2] = {"vgg6", {}};
  for (auto& network : networks) {
    network.options.classes = 10;
    if (network.options.name == "vgg6") network.options.input = {1, 28, 28};
  }
  return networks;
}

ModelFile untrained_model(const ServedNetwork& served, const torch::Device& device) {
  ModelFile model;
  model.name = served.options.name;
  model.run.config.model = served.options;
  model.run.config.method.name = "dpn";
  auto network = make_model(model.run.config.model, make_generator(1));
  network->to(device);
  if (served.options.input.size() == 3) to_channels_last(*network);  // as a model file is read
  network->eval();
  model.run.members = {network};
  for (int i = 0; i < 10; ++i) model.run.class_names.push_back(std::to_string(i));
  model.preprocessing.shape = served.options.input;
  return model;
}

class BenchServer {
 public:
  BenchServer(const std::shared_ptr<Predictor>& predictor, int64_t batch, std::chrono::microseconds latency)
      : server_({serving::served_model(predictor)}, options(batch, latency)), http_(http(), server_.handler()) {}

  int port() const { return http_.port(); }

 private:
  static serving::ServerOptions options(int64_t batch, std::chrono::microseconds latency) {
    serving::ServerOptions result;
    result.batch.batch = batch;
    result.batch.latency = latency;
    return result;
  }
  static serving::HttpOptions http() {
    serving::HttpOptions result;
    result.port = 0;
    result.connections.per_address = result.connections.connections;  // all clients run here
    return result;
  }

  serving::InferenceServer server_;
  serving::HttpServer http_;
};

// A request for every output of one input, in the binary form of the protocol.
std::string image_request(const serving::ModelDescription& model) {
  std::string image(static_cast<size_t>(model.bytes_per_row()), '\0');
  for (size_t i = 0; model.takes_images() && i < image.size(); ++i) image[i] = static_cast<char>(i * 7 % 251);
  const auto head = fmt::format(
      R"({{"inputs":[{{"name":"input","datatype":"{}","shape":[1,{}],"parameters":{{"binary_data_size":{}}}}}]}})",
      model.takes_images() ? "UINT8" : "FP32", fmt::join(model.shape, ","), image.size());
  return fmt::format(
      "POST /v2/models/{}/infer HTTP/1.1\r\nHost: localhost\r\nInference-Header-Content-Length: {}\r\nContent-Length: "
      "{}\r\n\r\n{}{}",
      model.name, head.size(), head.size() + image.size(), head, image);
}

ServingTimes measure_one(const std::string& label, ModelFile file, double seconds) {
  constexpr int64_t kBatch = 32;
  ServingTimes times;
  times.network = label;
  times.batch = kBatch;
  const auto predictor = std::make_shared<Predictor>(std::move(file));
  const BenchServer batched(predictor, kBatch, std::chrono::milliseconds(5));
  const BenchServer plain(predictor, 1, std::chrono::microseconds(0));
  LoadOptions load;
  load.request = image_request(serving::served_model(predictor).description);
  load.seconds = seconds;
  times.connections = load.connections;
  const auto better = [&](int port, LoadResult& best) {
    load.port = port;
    const auto found = run_load(load);
    if (found.requests_per_second > best.requests_per_second) best = found;
  };
  for (int round = 0; round < 3; ++round) {
    better(batched.port(), times.batched);
    better(plain.port(), times.one_by_one);
  }
  load.port = batched.port();
  load.rate = times.batched.requests_per_second / 2;
  load.seconds = 3 * seconds;
  times.at_half_load = run_load(load);
  return times;
}

}  // namespace

void measure_serving(const OpenOptions& open, const std::filesystem::path& model, double seconds,
                     const std::function<void(const ServingTimes&)>& report) {
  if (!model.empty()) {
    auto file = open_model(model, open);
    const auto name = file.name;
    return report(measure_one(name, std::move(file), seconds));
  }
  for (const auto& network : served_networks())
    report(measure_one(network.label, untrained_model(network, open.device), seconds));
}

}  // namespace priornet::bench
