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

#include "tool/commands/device_option.h"
#include "tool/commands/subcommands.h"
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
  bool allow_torchscript = false;
};

std::string token_of(const ServeOptions& options) {
  if (!options.token_file.empty()) return serving::read_token(options.token_file);
  const auto* token = std::getenv("PRIORNET_TOKEN");
  return token == nullptr ? "" : token;
}

std::vector<serving::ServedModel> load_models(const ServeOptions& options) {
  OpenOptions open(chosen_device(options.device));
  open.allow_torchscript = options.allow_torchscript;
  std::vector<serving::ServedModel> models;
  for (const auto& path : options.models) {
    models.push_back(serving::served_model(std::make_shared<Predictor>(open_model(path, open))));
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
    throw Misuse("--tls-certificate and --tls-key go together");
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

void describe_serve(Command& command) {
  const auto options = std::make_shared<ServeOptions>();
  command.options = {
      {.name = "MODEL",
       .to = &options->models,
       .help = "Model files, as priornet calibrate writes them; or folders of runs, without verdicts",
       .required = true},
      {.name = "--host",
       .to = &options->http.host,
       .help = "Address to listen at; beyond this machine only if it says so",
       .shows_default = true},
      {.name = "--port",
       .to = &options->http.port,
       .help = "Port; 0 takes one that is free",
       .shows_default = true,
       .range = whole_range(0, 65535)},
      {.name = "--batch",
       .to = &options->batch.batch,
       .help = "Inputs of several requests that go through a network together",
       .shows_default = true,
       .range = whole_range(1, 4096)},
      {.name = "--latency-ms",
       .to = &options->latency_ms,
       .help = "How long an input waits for others to join its batch",
       .shows_default = true,
       .range = real_range(0, 10'000)},
      {.name = "--queue",
       .to = &options->batch.queue,
       .help = "Inputs that may wait for each model; more are answered with 503",
       .shows_default = true,
       .range = whole_range(1, 1 << 20)},
      {.name = "--queue-timeout-ms",
       .to = &options->queue_timeout_ms,
       .help = "An input that waits longer for the network is answered with 504",
       .shows_default = true,
       .range = whole_range(1, 3'600'000)},
      {.name = "--client-timeout-s",
       .to = &options->client_timeout_s,
       .help = "Seconds a client has to send a request, and to take its answer",
       .shows_default = true,
       .range = real_range(0.1, 3600)},
      {.name = "--max-body",
       .to = &options->max_body,
       .help = "Largest body of a request, in MiB",
       .shows_default = true,
       .range = whole_range(1, 1024)},
      {.name = "--max-connections",
       .to = &options->http.max_connections,
       .help = "Connections at a time",
       .shows_default = true,
       .range = whole_range(1, 100'000)},
      {.name = "--token-file",
       .to = &options->token_file,
       .help = "File with the token that clients must send; else the variable PRIORNET_TOKEN, else none"},
      {.name = "--tls-certificate",
       .to = &options->http.tls_certificate,
       .help = "Certificate with its chain, PEM: serve by HTTPS"},
      {.name = "--tls-key", .to = &options->http.tls_key, .help = "Its private key, PEM"},
      device_option(options->device, "Where to compute"),
      torchscript_option(options->allow_torchscript)};
  command.notes =
      "Speaks the Open Inference Protocol v2 under /v2, takes an image file at /predict, counts at /metrics, and "
      "shows\n"
      "a page at /. SIGTERM or Ctrl-C: answers what it took and ends; a second one ends at once (docs/serve.md).";
  command.examples = {
      "priornet serve digits.priornet",
      "priornet serve a.priornet b.priornet --host 0.0.0.0 --token-file token --tls-certificate c.pem --tls-key k.pem",
      "curl --data-binary @seven.png http://127.0.0.1:8080/predict"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
