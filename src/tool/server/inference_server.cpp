#include "tool/server/inference_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "tool/base/embedded_files.h"
#include "tool/server/http_messages.h"
#include "tool/server/served_model.h"
#include "tool/server/tensor_protocol.h"

namespace priornet::serving {
namespace {

/// A client's mistake, with the status for it.
class Refusal : public Error {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  Refusal(int code, const std::string& reason, Headers more = {})
      : Error(reason), status(code), headers(std::move(more)) {}
  const int status;
  const Headers headers;
};

Response json_response(std::string text, int status = 200) { return {status, "application/json", std::move(text), {}}; }

// The page talks only to this server, and no other page can embed it.
struct PageFile {
  std::string_view content_type;
  std::string_view text;
};

Response page_response(const PageFile& file) {
  Response response{200, std::string(file.content_type), std::string(file.text), {}};
  response.headers = {{"Content-Security-Policy",
                       "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
                       "blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-cache"}};
  return response;
}

// "/" is web/serve/index.html, "/page/main.js" is web/serve/main.js.
std::optional<PageFile> find_page_file(std::string_view path) {
  constexpr std::string_view kFolder = "web/serve/";
  constexpr std::string_view kPage = "/page/";
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{".html", "text/html; charset=utf-8"},
                                                                      {".js", "text/javascript; charset=utf-8"},
                                                                      {".css", "text/css; charset=utf-8"}};
  if (path == "/") path = "/page/index.html";
  if (!path.starts_with(kPage)) return std::nullopt;
  path.remove_prefix(kPage.size());
  for (const auto& file : embedded_files())
    if (file.path.starts_with(kFolder) && file.path.substr(kFolder.size()) == path)
      for (const auto& [ending, type] : kTypes)
        if (path.ends_with(ending)) return PageFile{type, file.text};
  return std::nullopt;
}

// Against DNS rebinding: a page whose host name is made to point to this machine would have the same origin as this
// server. A browser says which host name it asks for, and from which page; an IP address cannot be redirected.
void check_host(const Request& request, const std::vector<std::string>& allowed) {
  const auto host = request.header("host");
  if (!host.empty() && !is_allowed_host(host_name(host), allowed))
    throw Refusal(421, fmt::format("this server is not called '{}': --allow-host gives it names", host.substr(0, 100)));
  const auto origin = request.header("origin");
  if (origin.empty()) return;
  const auto scheme = origin.find("://");
  const auto from = scheme == std::string_view::npos ? std::string_view() : origin.substr(scheme + 3);
  if (from.empty() || (from != host && !is_named(host_name(from), allowed)))
    throw Refusal(403,
                  fmt::format("a page of '{}' may not use this server: --allow-host allows it", origin.substr(0, 100)));
}

// Work of up to this many units is done by the connection's own thread, or by the threads for small work: about 5 ms
// and 200 ms.
constexpr int64_t kAtOnce = 1 << 16;
constexpr int64_t kSmall = 1 << 21;
constexpr int64_t kLongAnswer = 1 << 16;  // numbers: some 50 ms
constexpr int64_t kMemory = int64_t{256} << 20;
constexpr size_t kWorthCompressing = 1024;

int small_work_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2); }

}  // namespace

InferenceServer::InferenceServer(std::vector<ServedModel> models, const ServerOptions& options)
    : options_(options),
      memory_(options.memory ? options.memory : std::make_shared<MemoryAccount>(kMemory)),
      served_(made(std::move(models), options.token)),
      small_work_({small_work_threads(), 128, false}),
      large_work_({1, 16, true}) {}

std::shared_ptr<const InferenceServer::Served> InferenceServer::made(std::vector<ServedModel> models,
                                                                     const std::string& token) {
  if (models.empty()) throw ArgumentError("a server should have a model");
  auto result = std::make_shared<Served>();
  result->token = token;
  for (auto& served : models) {
    const auto& name = served.description.name;
    if (name.empty() || name.find('/') != std::string::npos)
      throw ArgumentError(
          fmt::format("the name of a model should not be empty and should have no slash, found '{}'", name));
    for (const auto& other : result->models)
      if (other->served.description.name == name) throw ArgumentError(fmt::format("two models have the name {}", name));
    auto model = std::make_shared<Model>();
    model->metadata = metadata_json(served.description);
    model->queue = std::make_unique<BatchQueue>(served.answer, served.description.bytes_per_row(), options_.batch,
                                                [this, name](int64_t rows) { metrics_.batch(name, rows); });
    model->served = std::move(served);
    result->models.push_back(std::move(model));
  }
  return result;
}

std::shared_ptr<const InferenceServer::Served> InferenceServer::served() const {
  const std::lock_guard lock(mutex_);
  return served_;
}

void InferenceServer::replace(std::vector<ServedModel> models, const std::string& token) {
  auto others = made(std::move(models), token);
  const std::lock_guard lock(mutex_);
  std::swap(served_, others);
  retired_.insert(retired_.end(), others->models.begin(), others->models.end());
}

void InferenceServer::sweep() {
  std::vector<ModelPointer> done;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    const auto is_needed = [](const ModelPointer& model) { return model.use_count() > 1; };
    const auto rest = std::partition(retired_.begin(), retired_.end(), is_needed);
    done.assign(std::make_move_iterator(rest), std::make_move_iterator(retired_.end()));
    retired_.erase(rest, retired_.end());
  }
}

Handler InferenceServer::handler() {
  return {[this](const Request& head) { return admit(head); },
          [this](Request request, Responder respond) {
            const auto asked = std::make_shared<Asked>();
            asked->request = std::move(request);
            asked->respond = std::move(respond);
            handle(asked);
          }};
}

void InferenceServer::finish() {
  small_work_.finish();
  large_work_.finish();
  for (const auto now = served(); const auto& model : now->models) model->queue->finish();
  const std::lock_guard lock(mutex_);
  for (const auto& model : retired_) model->queue->finish();
}

void InferenceServer::answer(const AskedPointer& asked, Response response) {
  const auto coding = accepted_coding(asked->request.header("accept-encoding"));
  if (coding != ContentCoding::kIdentity && response.status == 200 && response.body.size() >= kWorthCompressing) {
    response.body = compressed(response.body, coding);
    response.headers.emplace_back("Content-Encoding", name_of(coding));
    response.headers.emplace_back("Vary", "Accept-Encoding");
  }
  metrics_.request(asked->pattern, response.status, Clock::now() - asked->start);
  asked->respond(std::move(response));
}

void InferenceServer::guarded(const AskedPointer& asked, const std::function<void()>& work) {
  try {
    work();
  } catch (const Refusal& refusal) {
    auto refused = error_response(refusal.status, refusal.what());
    refused.headers.insert(refused.headers.end(), refusal.headers.begin(), refusal.headers.end());
    answer(asked, std::move(refused));
  } catch (const ArgumentError& error) {
    answer(asked, error_response(400, error.what()));
  } catch (const DataError& error) {
    answer(asked, error_response(400, error.what()));
  } catch (const std::exception& error) {
    const auto failure = failure_of(error);
    fail(asked, failure.status, failure.said, failure.reason);
  }
}

// The client is told what concerns it; the rest goes to the log.
void InferenceServer::fail(const AskedPointer& asked, int status, const std::string& said, const std::string& reason) {
  if (options_.failed && (status == 500 || reason != said)) options_.failed({asked->request, status, reason});
  answer(asked, error_response(status, said));
}

std::optional<Response> InferenceServer::admit(const Request& request) {
  std::optional<Response> refusal;
  const auto asked = std::make_shared<Asked>();
  asked->respond = [&](Response response) { refusal = std::move(response); };
  guarded(asked, [&] {
    const auto chosen = route(request);
    asked->pattern = chosen.pattern;
    const bool health = chosen.pattern.starts_with("/v2/health/");
    if (!health) check_host(request, options_.allowed_hosts);
    const auto token = served()->token;
    if (!health && chosen.pattern != "page" && !token.empty() && !carries_token(request.header("authorization"), token))
      throw Refusal(401, "this server needs a token: Authorization: Bearer TOKEN");
    if (request.method != chosen.method)
      throw Refusal(405, fmt::format("{} takes {}, found {}", request.path, chosen.method, request.method),
                    {{"Allow", chosen.method == "GET" ? "GET, HEAD" : chosen.method}});
    if (const auto coding = request.header("content-encoding"); !content_coding(coding))
      throw Refusal(415, fmt::format("a body may be compressed by gzip or deflate, found '{}'", coding.substr(0, 64)),
                    {{"Accept-Encoding", "gzip, deflate"}});
  });
  return refusal;
}

// An admitted request, with its body.
void InferenceServer::handle(const AskedPointer& asked) {
  guarded(asked, [&] {
    const auto chosen = route(asked->request);
    asked->pattern = chosen.pattern;
    const auto coding = content_coding(asked->request.header("content-encoding"));
    if (!coding || *coding == ContentCoding::kIdentity || asked->request.body.empty()) return chosen.run(asked);
    constexpr int64_t kMostRatio = 1032;  // of deflate
    const auto most = std::min(options_.max_body, kMostRatio * static_cast<int64_t>(asked->request.body.size()));
    prepared(asked, {most / 8, 0}, [this, asked, coding = *coding, run = chosen.run] {
      expand(asked, coding);
      run(asked);
    });
  });
}

// The result stays on the account until it is answered.
void InferenceServer::expand(const AskedPointer& asked, ContentCoding coding) {
  auto body = expanded(asked->request.body, coding, options_.max_body);
  if (!body) throw Refusal(413, fmt::format("the expanded body should have at most {} bytes", options_.max_body));
  asked->expanded = std::make_unique<TakenMemory>(*memory_, asked->request.peer, static_cast<int64_t>(body->size()));
  if (!*asked->expanded) throw Refusal(503, "too many requests are being sent to the server");
  asked->request.body = std::move(*body);
}

// Work that would delay other connections is done on other threads.
void InferenceServer::prepared(const AskedPointer& asked, const Effort& effort, std::function<void()> work) {
  if (effort.units <= kAtOnce) return work();
  // Its body is on the account of its address too, so that there would never be room.
  const auto all = effort.bytes + static_cast<int64_t>(asked->request.body.size());
  if (effort.bytes > 0 && all > memory_->share())
    throw Refusal(413, fmt::format("decoding this needs {} MB of memory, but the server has {}", all / 1'000'000,
                                   memory_->share() / 1'000'000));
  auto& lane = effort.units <= kSmall ? small_work_ : large_work_;
  const auto deadline = Clock::now() + options_.timeout;
  const auto job = [this, asked, bytes = effort.bytes, deadline, work = std::move(work)] {
    guarded(asked, [&] {
      if (Clock::now() > deadline) throw Refusal(504, "the answer took longer than the time allowed");
      const TakenMemory taken(*memory_, asked->request.peer, bytes);
      if (!taken) throw Refusal(503, "the server has no memory left for this request");
      work();
    });
  };
  if (!lane.submit(asked->request.peer, job)) throw Refusal(503, "too many inputs wait to be decoded");
}

InferenceServer::Route InferenceServer::route(const Request& request) {
  const auto& path = request.path;
  const auto fixed = [&](std::string text, std::string pattern) {
    return Route{std::move(pattern), "GET",
                 [this, text = std::move(text)](const AskedPointer& asked) { answer(asked, json_response(text)); }};
  };
  if (const auto file = find_page_file(path))
    return {"page", "GET", [this, file](const AskedPointer& asked) { answer(asked, page_response(*file)); }};
  if (path == "/predict") return {path, "POST", [this](const AskedPointer& asked) { predict(asked); }};
  if (path == "/metrics")
    return {path, "GET", [this](const AskedPointer& asked) {
              answer(asked, {200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(), {}});
            }};
  if (path == "/v2" || path == "/v2/")
    return fixed(
        json_text(nlohmann::json{{"name", "priornet"},
                                 {"version", options_.version},
                                 {"extensions", nlohmann::json::array({"binary_tensor_data", "classification"})}}),
        "/v2");
  if (path == "/v2/health/live") return fixed(R"({"live":true})", path);
  if (path == "/v2/health/ready")
    return {path, "GET", [this](const AskedPointer& asked) {
              answer(asked,
                     shutting_down_ ? json_response(R"({"ready":false})", 503) : json_response(R"({"ready":true})"));
            }};
  if (path == "/v2/models") {
    nlohmann::json names = nlohmann::json::array();
    for (const auto now = served(); const auto& model : now->models) names.push_back(model->served.description.name);
    return fixed(json_text(nlohmann::json{{"models", names}}), path);
  }
  if (path.starts_with("/v2/models/")) return model_route(request);
  throw Refusal(404, fmt::format("there is nothing at {}", path.substr(0, 200)));
}

InferenceServer::Route InferenceServer::model_route(const Request& request) {
  auto rest = std::string_view(request.path).substr(std::string_view("/v2/models/").size());
  const auto name = rest.substr(0, rest.find('/'));
  rest.remove_prefix(name.size());
  const auto model = model_named(name);
  constexpr std::string_view kVersions = "/versions/";
  if (rest.starts_with(kVersions)) {
    rest.remove_prefix(kVersions.size());
    const auto version = rest.substr(0, rest.find('/'));
    if (version != "1")
      throw Refusal(404, fmt::format("the model {} has only version 1, found {}", name, version.substr(0, 32)));
    rest.remove_prefix(version.size());
  }
  if (rest.empty())
    return {"/v2/models/{name}", "GET",
            [this, model](const AskedPointer& asked) { answer(asked, json_response(model->metadata)); }};
  if (rest == "/ready")
    return {"/v2/models/{name}/ready", "GET", [this, model](const AskedPointer& asked) {
              const nlohmann::json said = {{"name", model->served.description.name}, {"ready", !shutting_down_}};
              answer(asked, json_response(json_text(said), shutting_down_ ? 503 : 200));
            }};
  if (rest == "/infer")
    return {"/v2/models/{name}/infer", "POST", [this, model](const AskedPointer& asked) { infer(model, asked); }};
  throw Refusal(404, fmt::format("there is nothing at {}", request.path.substr(0, 200)));
}

InferenceServer::ModelPointer InferenceServer::model_named(std::string_view name) {
  std::vector<std::string> names;
  for (const auto now = served(); const auto& model : now->models) {
    if (model->served.description.name == name) return model;
    names.push_back(model->served.description.name);
  }
  const auto near = nearest_name(name.substr(0, 64), names);
  throw Refusal(404, fmt::format("there is no model '{}': {}", name.substr(0, 64),
                                 near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                              : fmt::format("did you mean {}?", near)));
}

void InferenceServer::ask(const ModelPointer& model, std::string inputs, int64_t rows, const AskedPointer& asked,
                          std::function<Response(const PlainPredictions&)> make_response) {
  asked->request.body = {};  // it is in `inputs` now
  const auto numbers = rows * static_cast<int64_t>(model->served.description.class_names.size());
  const auto done = [this, model, asked, numbers, make_response = std::move(make_response)](const Outcome& outcome) {
    if (outcome.status != 200) return fail(asked, outcome.status, outcome.error, outcome.reason);
    if (model->served.drift) model->served.drift->add(outcome.answers);
    for (const auto& decision : outcome.answers.decisions)
      metrics_.verdict(model->served.description.name, verdict_name(decision.verdict));
    if (numbers > kLongAnswer) {
      // This is the model's only thread, and other inputs wait for it.
      const auto answers = std::make_shared<const PlainPredictions>(outcome.answers);
      const auto write = [this, asked, answers, make_response] {
        guarded(asked, [&] { answer(asked, make_response(*answers)); });
      };
      if (large_work_.submit(asked->request.peer, write)) return;
    }
    answer(asked, make_response(outcome.answers));
  };
  model->queue->submit({std::move(inputs), rows, Clock::now() + options_.timeout, asked->request.peer}, done);
}

void InferenceServer::infer(const ModelPointer& model, const AskedPointer& asked) {
  const auto size = static_cast<int64_t>(asked->request.body.size());
  const auto header = asked->request.header("inference-header-content-length");
  // Bytes need at most a conversion; text is parsed, and its numbers take four bytes each, in memory that may be twice
  // as large.
  const auto effort = header.empty() ? Effort{size, 4 * size} : Effort{size / 8, 2 * size};
  prepared(asked, effort, [this, model, asked] {
    const auto& description = model->served.description;
    auto tensors = std::make_shared<TensorRequest>(
        read_tensor_request(description, asked->request.body, asked->request.header("inference-header-content-length"),
                            options_.batch.queue));
    auto inputs = std::move(tensors->inputs);
    ask(model, std::move(inputs), tensors->rows, asked, [model, tensors](const PlainPredictions& answers) {
      return tensor_response(model->served.description, *tensors, answers);
    });
  });
}

namespace {

Response plain_response(const ServedModel& model, const PlainPredictions& answers) {
  return json_response(plain_answer(model, answers, 0));
}

std::string_view image_in(const Request& request) {
  const auto type = request.header("content-type");
  return is_media_type(type, "multipart/form-data") ? file_of_form(type, request.body) : std::string_view(request.body);
}

}  // namespace

void InferenceServer::predict(const AskedPointer& asked) {
  const auto name = asked->request.parameter("model");
  const auto model = name.empty() ? served()->models.front() : model_named(name);
  if (asked->request.body.empty()) throw Refusal(400, "the body is empty");
  if (model->served.description.takes_images()) return predict_image(model, asked);
  const auto size = static_cast<int64_t>(asked->request.body.size());
  constexpr int64_t kBytesPerValue = 64;  // of JSON, its name with it
  const auto values = most_row_values(model->served.description, asked->request.body.size(), options_.batch.queue) / 4;
  prepared(asked, {size, 4 * size + kBytesPerValue * values}, [this, model, asked] {
    const auto type = asked->request.header("content-type");
    auto request = std::make_shared<RowRequest>(
        read_row_request(model->served.description, asked->request.body, {type, options_.batch.queue}));
    auto inputs = std::move(request->inputs);
    ask(model, std::move(inputs), request->rows, asked, [model, request](const PlainPredictions& answers) {
      return json_response(request->several ? plain_answers(model->served, answers, request->notes)
                                            : plain_answer(model->served, answers, 0, request->notes[0]));
    });
  });
}

void InferenceServer::predict_image(const ModelPointer& model, const AskedPointer& asked) {
  const auto file = image_in(asked->request);
  if (!options_.takes_heic && !decodes_as_stated(file))
    throw Refusal(415, "HEIC and AVIF images are not taken: send a JPEG or a PNG, or start the server with --heic");
  const auto facts = model->served.facts_of_image(file);
  const auto pixels = facts.height * facts.width;
  if (pixels > options_.max_pixels)
    throw Refusal(413, fmt::format("an image should have at most {} pixels, found {} x {}", options_.max_pixels,
                                   facts.width, facts.height));
  constexpr int64_t kBand = 64 * 16;  // rows that are being resized, with their copies
  const Effort effort{
      pixels + static_cast<int64_t>(file.size()) + facts.decoder_bytes,
      facts.decoder_bytes + 3 * facts.height * model->served.description.shape[2] + kBand * facts.width};
  prepared(asked, effort, [this, model, asked] {
    ask(model, model->served.input_of_image(image_in(asked->request)), 1, asked,
        [model](const PlainPredictions& answers) { return plain_response(model->served, answers); });
  });
}

std::string InferenceServer::metrics_text() const {
  ServerMetrics::Gauges gauges;
  gauges.connections = connections ? connections() : 0;
  gauges.decoding = small_work_.waiting() + large_work_.waiting();
  gauges.memory = memory_->used();
  for (const auto now = served(); const auto& model : now->models) {
    const auto& name = model->served.description.name;
    gauges.waiting[name] = model->queue->waiting();
    if (model->served.drift) gauges.drift[name] = model->served.drift->now();
  }
  return metrics_.text(gauges);
}

}  // namespace priornet::serving
