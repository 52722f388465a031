#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/predictor.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/version.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tool/commands/command.h"
#include "tool/commands/options.h"
#include "tool/commands/terminal.h"
#include "tool/server/http_messages.h"
#include "tool/server/http_server.h"
#include "tool/server/inference_server.h"

namespace priornet::tool {
namespace {

struct ServeOptions {
  std::vector<std::string> models;
  serving::HttpOptions http;
  serving::BatchOptions batch;
  double latency_ms = 5.0;
  int64_t queue_timeout_ms = 5000;
  double client_timeout_s = 10.0;
  int64_t max_body = 16;
  std::string token_file;
  std::string device = "auto";
};

std::string token_of(const ServeOptions& options) {
  if (!options.token_file.empty()) return serving::read_token(options.token_file);
  const auto* token = std::getenv("PRIORNET_TOKEN");
  return token == nullptr ? "" : token;
}

std::vector<serving::ServedModel> load_models(const ServeOptions& options) {
  const auto device = chosen_device(options.device);
  std::vector<serving::ServedModel> models;
  for (const auto& path : options.models) {
    models.push_back(serving::served_model(std::make_shared<Predictor>(open_model(path, device))));
  }
  return models;
}

std::string greeting(const serving::HttpOptions& http, uint16_t port, const std::vector<std::string>& names,
                     bool token) {
  const bool v6 = http.host.find(':') != std::string::npos;
  return fmt::format("Serving {} at {}://{}:{}/{}; Ctrl-C ends it.\n", fmt::join(names, ", "),
                     http.tls_certificate.empty() ? "http" : "https", v6 ? "[" + http.host + "]" : http.host, port,
                     token ? " to who has the token" : "");
}

void check(const ServeOptions& options) {
  if (!serving::has_http_server())
    throw Error("this build has no Boost.Beast: it cannot serve (Debian: libboost-dev, then build again)");
  if (options.http.tls_certificate.empty() != options.http.tls_key.empty())
    throw CLI::ValidationError("--tls-certificate and --tls-key go together");
}

void run(ServeOptions& options) {
  check(options);
  serving::InferenceOptions inference;
  inference.batch = options.batch;
  inference.batch.latency = std::chrono::microseconds(static_cast<int64_t>(options.latency_ms * 1e3));
  inference.timeout = std::chrono::milliseconds(options.queue_timeout_ms);
  inference.token = token_of(options);
  inference.version = PRIORNET_VERSION;
  StopSignal stop;  // also while models are read
  auto models = load_models(options);
  std::vector<std::string> names;
  for (const auto& model : models) names.push_back(model.description.name);
  serving::InferenceServer server(std::move(models), inference);

  auto& http = options.http;
  http.max_body = options.max_body << 20;
  http.max_bodies = std::max(http.max_bodies, 2 * http.max_body);
  http.timeout = std::chrono::milliseconds(static_cast<int64_t>(options.client_timeout_s * 1e3));
  http.threads = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  http.refused = [&](int status) { server.metrics().request("other", status, std::chrono::seconds(0)); };
  serving::HttpServer listener(
      http, [&](serving::Request request, serving::Responder respond) { server.handle(std::move(request), respond); });
  server.connections = [&] { return listener.connections(); };
  print(greeting(http, listener.port(), names, !inference.token.empty()));
  std::fflush(stdout);

  while (!stop.caught()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  server.shut_down();
  listener.stop();
  listener.wait();
  server.finish();
}

}  // namespace

void add_serve(CLI::App& tool) {
  auto* command =
      tool.add_subcommand("serve", "Answer over HTTP: predictions with their uncertainties, and a page to try it");
  const auto options = std::make_shared<ServeOptions>();
  command
      ->add_option("MODEL", options->models,
                   "Model files, as priornet calibrate writes them; or folders of runs, without verdicts")
      ->required();
  command->add_option("--host", options->http.host, "Address to listen at; beyond this machine only if it says so")
      ->capture_default_str();
  command->add_option("--port", options->http.port, "Port; 0 takes one that is free")->capture_default_str();
  command->add_option("--batch", options->batch.batch, "Inputs of several requests that go through a network together")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}))
      ->capture_default_str();
  command->add_option("--latency-ms", options->latency_ms, "How long an input waits for others to join its batch")
      ->check(kFinite)
      ->check(CLI::Range(0.0, 10'000.0))
      ->capture_default_str();
  command
      ->add_option("--queue", options->batch.queue, "Inputs that may wait for each model; more are answered with 503")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  command
      ->add_option("--queue-timeout-ms", options->queue_timeout_ms,
                   "An input that waits longer for the network is answered with 504")
      ->check(CLI::Range(int64_t{1}, int64_t{3'600'000}))
      ->capture_default_str();
  command
      ->add_option("--client-timeout-s", options->client_timeout_s,
                   "Seconds a client has to send a request, and to take its answer")
      ->check(kFinite)
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command->add_option("--max-body", options->max_body, "Largest body of a request, in MiB")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  command->add_option("--max-connections", options->http.max_connections, "Connections at a time")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000}))
      ->capture_default_str();
  command->add_option("--token-file", options->token_file,
                      "File with the token that clients must send; else the variable PRIORNET_TOKEN, else none");
  command->add_option("--tls-certificate", options->http.tls_certificate,
                      "Certificate with its chain, PEM: serve by HTTPS");
  command->add_option("--tls-key", options->http.tls_key, "Its private key, PEM");
  add_device_option(*command, options->device, "Where to compute");
  command->footer(
      "Speaks the Open Inference Protocol v2 under /v2, takes an image file at /predict, counts at /metrics, and "
      "shows\n"
      "a page at /. SIGTERM or Ctrl-C: answers what it took and ends; a second one ends at once (docs/serve.md).\n\n"
      "Examples:\n"
      "  priornet serve digits.priornet\n"
      "  priornet serve a.priornet b.priornet --host 0.0.0.0 --token-file token --tls-certificate c.pem --tls-key "
      "k.pem\n"
      "  curl --data-binary @seven.png http://127.0.0.1:8080/predict");
  command->callback([options] { run(*options); });
}

}  // namespace priornet::tool
