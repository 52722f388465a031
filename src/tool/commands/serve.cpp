#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/predictor.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/version.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "tool/base/embedded_files.h"
#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/server/http_messages.h"
#include "tool/server/http_server.h"
#include "tool/server/inference_server.h"
#include "tool/server/monitoring.h"

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
  double max_megapixels = 50.0;
  bool takes_heic = false;
  int64_t memory = 256;
  int64_t per_address = 0;
  std::string token_file;
  std::vector<std::string> allowed_hosts;
  bool insecure = false;
  std::string access_log;
  std::string error_log = "-";
  std::string device = "auto";
  bool allow_torchscript = false;
  double drift_rate = 0.01;
};

std::string token_of(const ServeOptions& options) {
  if (!options.token_file.empty()) return serving::read_token(options.token_file);
  const auto* token = std::getenv("PRIORNET_TOKEN");
  if (token != nullptr && *token == '\0')
    throw Misuse("PRIORNET_TOKEN is set and empty: give it a token, or unset it to serve without one");
  return token == nullptr ? "" : token;
}

std::vector<serving::ServedModel> load_models(const ServeOptions& options) {
  OpenOptions open(chosen_device(options.device));
  open.allow_torchscript = options.allow_torchscript;
  std::vector<serving::ServedModel> models;
  for (const auto& path : options.models) {
    models.push_back(
        serving::served_model(std::make_shared<Predictor>(open_model(model_path(path), open)), options.drift_rate));
  }
  return models;
}

std::vector<std::string> names_of(const std::vector<serving::ServedModel>& models) {
  std::vector<std::string> names;
  for (const auto& model : models) names.push_back(model.description.name);
  return names;
}

std::string greeting(const serving::HttpOptions& http, uint16_t port, const std::vector<std::string>& names,
                     bool token) {
  const bool v6 = http.host.find(':') != std::string::npos;
  return fmt::format("Serving {} at {}://{}:{}/{}; press Ctrl-C to end.\n", fmt::join(names, ", "),
                     http.tls_certificate.empty() ? "http" : "https", v6 ? "[" + http.host + "]" : http.host, port,
                     token ? ", to clients that send the token" : "");
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

// Refuses, or warns about, options that make a server weaker than it should be.
void check(const ServeOptions& options) {
  if (!serving::has_http_server())
    throw Error("this build has no Boost.Beast: it cannot serve (Debian: libboost-dev, then build again)");
  if (options.http.tls_certificate.empty() != options.http.tls_key.empty())
    throw Misuse("--tls-certificate and --tls-key go together");
  const bool token = !token_of(options).empty();
  const bool tls = !options.http.tls_certificate.empty();
  if (!is_loopback(options.http.host) && !(token && tls)) {
    const auto lacks = token ? "without TLS, others on the network can read everything, the token too"
                       : tls ? "without a token, anyone who can reach the server can use it"
                             : "without a token and TLS, anyone who can reach the server can use it, and others on the "
                               "network can read everything";
    if (!options.insecure)
      throw Misuse(
          fmt::format("--host {} serves other machines too, and {}: give {}, or --insecure if a proxy in front of the "
                      "server does that",
                      options.http.host, lacks,
                      token ? "--tls-certificate and --tls-key"
                      : tls ? "--token-file"
                            : "--token-file, --tls-certificate and --tls-key"));
    complain(fmt::format("the server is open to other machines, at {}: {}", options.http.host, lacks));
  }
}

void check_host_names(const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (name.find_first_of("/:") != std::string::npos)
      throw Misuse(
          fmt::format("--allow-host: {} should be the name of a host alone, such as models.example.org: no "
                      "https:// before it and no port or path after it",
                      name));
}

void say_if_root() {
  if (::geteuid() == 0) complain("the server runs as root, which it does not need: run it as an ordinary user");
}

serving::ServerOptions inference_options(ServeOptions& options) {
  serving::ServerOptions inference;
  inference.batch = options.batch;
  inference.batch.latency = std::chrono::microseconds(static_cast<int64_t>(options.latency_ms * 1e3));
  inference.timeout = std::chrono::milliseconds(options.queue_timeout_ms);
  inference.token = token_of(options);
  check_host_names(options.allowed_hosts);
  inference.allowed_hosts = options.allowed_hosts;
  inference.version = PRIORNET_VERSION;
  inference.max_body = options.max_body << 20;
  inference.max_pixels = static_cast<int64_t>(options.max_megapixels * 1e6);
  inference.takes_heic = options.takes_heic;
  // One address may use half of it, and a body may be copied.
  inference.memory = std::make_shared<serving::MemoryAccount>(std::max(options.memory, 4 * options.max_body) << 20);
  return inference;
}

// As many files may be open as connections need, or there are fewer connections.
void fit_open_files(serving::ConnectionLimits& limits) {
  constexpr int64_t kOthers = 64;  // logs, libraries, the device
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const auto needed = static_cast<rlim_t>(limits.connections + limits.closing + kOthers);
  if (files.rlim_cur >= needed) return;
  const auto soft = files.rlim_cur;
  files.rlim_cur = std::min(needed, files.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) files.rlim_cur = soft;
  if (files.rlim_cur >= needed) return;
  const auto room = std::max<int64_t>(2, static_cast<int64_t>(files.rlim_cur) - kOthers);
  const auto wanted = limits.connections;
  limits.connections = std::min(wanted, room - std::min(limits.closing, std::max<int64_t>(1, room / 4)));
  limits.closing = room - limits.connections;
  if (limits.connections < wanted)
    complain(
        fmt::format("--max-connections {} needs {} open files, and this process may open {} (ulimit -n): the "
                    "server takes {} connections",
                    wanted, needed, files.rlim_cur, limits.connections));
}

void finish_http_options(ServeOptions& options, const std::shared_ptr<serving::MemoryAccount>& memory) {
  auto& http = options.http;
  http.max_body = options.max_body << 20;
  http.memory = memory;
  fit_open_files(http.connections);
  http.connections.per_address =
      options.per_address > 0 ? options.per_address : std::max<int64_t>(1, http.connections.connections / 2);
  http.timeout = std::chrono::milliseconds(static_cast<int64_t>(options.client_timeout_s * 1e3));
  http.threads = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
}

/// The two logs: requests, and faults. What is wrong with a log stands in the error log; what is wrong with that, on
/// standard error.
class Logs {
 public:
  explicit Logs(const ServeOptions& options)
      : errors_(options.error_log == "-" ? std::make_shared<serving::ServerLog>("-")
                                         : std::make_shared<serving::ServerLog>(options.error_log, complain)) {
    // The thread of a log that nobody reads may outlive the other log.
    const auto say = [errors = std::weak_ptr(errors_)](const std::string& what) {
      if (const auto log = errors.lock()) log->write({{"level", "error"}, {"event", what}});
    };
    if (!options.access_log.empty()) access_.emplace(options.access_log, say);
  }

  void attach(serving::HttpOptions& http) {
    if (!access_) return;
    http.answered = [this](const serving::AccessRecord& record) {
      access_->write({{"client", record.peer},
                      {"method", record.method},
                      {"target", record.target},
                      {"status", record.status},
                      {"received", record.received},
                      {"sent", record.sent},
                      {"ms", std::round(record.seconds * 1e6) / 1e3}});
    };
  }
  void attach(serving::ServerOptions& inference) {
    inference.failed = [this](const serving::ServerFailure& failure) {
      errors_->write({{"level", "error"},
                      {"client", failure.request.peer},
                      {"path", failure.request.path.substr(0, 512)},
                      {"status", failure.status},
                      {"error", failure.reason}});
    };
  }
  void note(const char* level, const std::string& what) { errors_->write({{"level", level}, {"event", what}}); }
  void reopen() {
    errors_->reopen();
    if (access_) access_->reopen();
  }

 private:
  const std::shared_ptr<serving::ServerLog> errors_;
  std::optional<serving::ServerLog> access_;
};

volatile sig_atomic_t hung_up = 0;

void note_hang_up(int) { hung_up = 1; }

/// While this object lives, SIGHUP does not end the process but is noted, unless it is ignored, as under nohup. One at
/// a time.
class HangUpSignal {
 public:
  HangUpSignal() {
    hung_up = 0;
    handle(note_hang_up);
  }
  ~HangUpSignal() { handle(SIG_DFL); }
  HangUpSignal(const HangUpSignal&) = delete;
  HangUpSignal& operator=(const HangUpSignal&) = delete;

  /// Whether a signal came since the last call.
  bool caught() const {
    if (hung_up == 0) return false;
    hung_up = 0;  // a signal that comes right now asks for what follows anyway
    return true;
  }

 private:
  static void handle(void (*handler)(int)) {
    struct sigaction older {};
    ::sigaction(SIGHUP, nullptr, &older);
    if (older.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGHUP, &action, nullptr);
  }
};

// Everything is read before anything changes: if something cannot be read, all stays as it was.
void reload(const ServeOptions& options, serving::InferenceServer& server, serving::HttpServer& listener, Logs& logs) {
  logs.reopen();
  try {
    auto models = load_models(options);
    const auto token = token_of(options);
    const auto names = names_of(models);
    const auto use_certificate = listener.read_certificate();
    server.replace(std::move(models), token);  // or throws, and nothing changes
    use_certificate();
    logs.note("info", fmt::format("SIGHUP: serves {} anew", fmt::join(names, ", ")));
  } catch (const std::exception& error) {
    logs.note("error", fmt::format("SIGHUP: nothing was changed: {}", error.what()));
  }
}

void run(ServeOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);  // the reader of a log may end before the server
  check(options);
  if (options.models.empty()) {
    options.models = {std::string(kDigitModel)};
    note("no MODEL was given: serving the digit model that comes with priornet; open the page and draw a digit");
  }
  Logs logs(options);
  auto inference = inference_options(options);
  logs.attach(inference);
  finish_http_options(options, inference.memory);
  auto& http = options.http;
  logs.attach(http);
  StopSignal stop;  // also while models are read
  const HangUpSignal hang_up;
  auto models = load_models(options);
  const auto names = names_of(models);
  say_if_root();
  serving::InferenceServer server(std::move(models), inference);
  http.refused = [&](int status) { server.metrics().request("other", status, std::chrono::seconds(0)); };
  serving::HttpServer listener(http, server.handler());
  server.connections = [&] { return listener.connections(); };
  print(greeting(http, listener.port(), names, !inference.token.empty()));
  std::fflush(stdout);

  const bool on_terminal = ::isatty(STDIN_FILENO) == 1;
  while (!stop.caught()) {
    if (hang_up.caught()) {
      if (on_terminal && ::isatty(STDIN_FILENO) == 0) break;  // its window was closed
      reload(options, server, listener, logs);
    }
    server.sweep();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
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
       .help = "Model files from priornet calibrate, or folders of runs (no verdicts). By default the digit model that "
               "comes with priornet (digits:)"},
      {.name = "--host",
       .to = &options->http.host,
       .help = "Address to listen at. If other machines can reach it, give a token and TLS, or --insecure",
       .shows_default = true},
      {.name = "--port",
       .to = &options->http.port,
       .help = "Port; 0: any free port",
       .shows_default = true,
       .range = whole_range(0, 65535)},
      {.name = "--batch",
       .to = &options->batch.batch,
       .help = "How many inputs of several requests go through a network together",
       .shows_default = true,
       .range = whole_range(1, 4096)},
      {.name = "--latency-ms",
       .to = &options->latency_ms,
       .help = "How long an input waits for others to fill its batch",
       .shows_default = true,
       .range = real_range(0, 10'000)},
      {.name = "--queue",
       .to = &options->batch.queue,
       .help = "How many inputs may wait per model; more are answered with 503",
       .shows_default = true,
       .range = whole_range(1, 1 << 20)},
      {.name = "--queue-timeout-ms",
       .to = &options->queue_timeout_ms,
       .help = "An input that waits longer for the network is answered with 504",
       .shows_default = true,
       .range = whole_range(1, 3'600'000)},
      {.name = "--client-timeout-s",
       .to = &options->client_timeout_s,
       .help = "Seconds that a client has to send a request and to take its answer",
       .shows_default = true,
       .range = real_range(0.1, 3600)},
      {.name = "--max-body",
       .to = &options->max_body,
       .help = "Largest body of a request, in MiB",
       .shows_default = true,
       .range = whole_range(1, 1024)},
      {.name = "--max-megapixels",
       .to = &options->max_megapixels,
       .help = "Largest image, in millions of pixels; larger ones are answered with 413",
       .shows_default = true,
       .range = real_range(0.01, 268)},
      {.name = "--heic",
       .to = &options->takes_heic,
       .help = "Take HEIC and AVIF images too. Only for clients that you trust: a small file of theirs can make the "
               "decoder take gigabytes"},
      {.name = "--request-memory",
       .to = &options->memory,
       .help = "Memory that all requests together may take, in MiB; one address may take half of it",
       .shows_default = true,
       .range = whole_range(16, 1 << 20)},
      {.name = "--max-connections",
       .to = &options->http.connections.connections,
       .help = "Connections at the same time",
       .shows_default = true,
       .range = whole_range(1, 100'000)},
      {.name = "--max-per-address",
       .to = &options->per_address,
       .help = "Connections from one address; 0: half of all. Behind a proxy, set it to --max-connections",
       .shows_default = true,
       .range = whole_range(0, 100'000)},
      {.name = "--token-file",
       .to = &options->token_file,
       .help = "File with the token that clients must send; by default the variable PRIORNET_TOKEN, or no token"},
      {.name = "--tls-certificate",
       .to = &options->http.tls_certificate,
       .help = "Certificate with its chain, PEM: the server then speaks HTTPS"},
      {.name = "--tls-key", .to = &options->http.tls_key, .help = "Its private key, PEM"},
      {.name = "--allow-host",
       .to = &options->allowed_hosts,
       .help =
           "Host names that clients may use, beside IP addresses and localhost: models.example.org, *.example.org, *"},
      {.name = "--insecure",
       .to = &options->insecure,
       .help = "Serve other machines without a token or TLS, because a proxy in front of the server does that"},
      {.name = "--access-log", .to = &options->access_log, .help = "Add one line of JSON per answer to this file"},
      {.name = "--error-log",
       .to = &options->error_log,
       .help = "Add one line of JSON per answer of 5xx and per event to this file; - is standard error",
       .shows_default = true},
      device_option(options->device, "Where to compute"),
      {.name = "--drift-rate",
       .to = &options->drift_rate,
       .help = "Probability that the drift alarm ever comes without drift",
       .shows_default = true,
       .range = real_range(1e-9, 0.5)},
      torchscript_option(options->allow_torchscript)};
  command.notes =
      "The server speaks the Open Inference Protocol v2 under /v2, takes an image file at /predict, gives metrics at\n"
      "/metrics and shows a page at /. On SIGTERM or Ctrl-C it answers the requests it has and ends; a second signal "
      "ends\n"
      "it at once. On SIGHUP it reads models, token and certificate again and opens new log files, without losing a\n"
      "request (docs/serve.md).";
  command.examples = {
      "priornet serve", "priornet serve photos.priornet",
      "priornet serve a.priornet b.priornet --host 0.0.0.0 --token-file token --tls-certificate c.pem --tls-key k.pem",
      "curl --data-binary @seven.png http://127.0.0.1:8080/predict"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
