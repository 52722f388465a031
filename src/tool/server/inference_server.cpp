#include "tool/server/inference_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "learning/base/names.h"
#include "tool/base/embedded_files.h"
#include "tool/server/http_messages.h"
#include "tool/server/served_model.h"
#include "tool/server/tensor_protocol.h"

namespace priornet::serving {
namespace {

/// What a client did wrong, with the status that says so.
class Refusal : public Error {
 public:
  Refusal(int code, const std::string& reason) : Error(reason), status(code) {}
  const int status;
};

Response json_response(std::string text, int status = 200) { return {status, "application/json", std::move(text), {}}; }

// The page talks to this server alone, and is shown in no other page.
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

}  // namespace

InferenceServer::InferenceServer(std::vector<ServedModel> models, const InferenceOptions& options) : options_(options) {
  if (models.empty()) throw ArgumentError("a server should have a model");
  for (auto& served : models) {
    const auto& name = served.description.name;
    if (name.empty() || name.find('/') != std::string::npos)
      throw ArgumentError(fmt::format("a model's name should not be empty and have no slash, found '{}'", name));
    for (const auto& other : models_)
      if (other->served.description.name == name) throw ArgumentError(fmt::format("two models are called {}", name));
    auto model = std::make_unique<Model>();
    model->metadata = metadata_json(served.description);
    model->queue = std::make_unique<BatchQueue>(served.answer, served.description.bytes_per_row(), options_.batch,
                                                [this, name](int64_t rows) { metrics_.batch(name, rows); });
    model->served = std::move(served);
    models_.push_back(std::move(model));
  }
}

void InferenceServer::finish() {
  for (const auto& model : models_) model->queue->finish();
}

void InferenceServer::handle(Request request, const Responder& respond) {
  const auto start = Clock::now();
  std::string pattern = "other";
  const auto answer = [this, &pattern, start, respond](Response response) {
    metrics_.request(pattern, response.status, Clock::now() - start);
    respond(std::move(response));
  };
  try {
    const auto chosen = route(request);
    pattern = chosen.pattern;
    const bool open = pattern == "page" || pattern.starts_with("/v2/health/");
    if (!open && !options_.token.empty() && !carries_token(request.header("authorization"), options_.token))
      throw Refusal(401, "this server wants a token: Authorization: Bearer TOKEN");
    if (request.method != chosen.method) {
      auto refused =
          error_response(405, fmt::format("{} takes {}, found {}", request.path, chosen.method, request.method));
      refused.headers.emplace_back("Allow", chosen.method == "GET" ? "GET, HEAD" : chosen.method);
      return answer(std::move(refused));
    }
    // The answer may come when this function is over.
    chosen.run(request, [this, pattern, start, respond](Response response) {
      metrics_.request(pattern, response.status, Clock::now() - start);
      respond(std::move(response));
    });
  } catch (const Refusal& refusal) {
    answer(error_response(refusal.status, refusal.what()));
  } catch (const ArgumentError& error) {
    answer(error_response(400, error.what()));
  } catch (const DataError& error) {
    answer(error_response(400, error.what()));
  } catch (const std::bad_alloc&) {
    answer(error_response(503, "the server is out of memory for this request"));
  } catch (const std::exception& error) {
    answer(error_response(500, error.what()));
  }
}

InferenceServer::Route InferenceServer::route(const Request& request) {
  const auto& path = request.path;
  const auto fixed = [&](std::string text, std::string pattern) {
    return Route{std::move(pattern), "GET",
                 [text = std::move(text)](const Request&, const Responder& respond) { respond(json_response(text)); }};
  };
  if (const auto file = find_page_file(path))
    return {"page", "GET", [file](const Request&, const Responder& respond) { respond(page_response(*file)); }};
  if (path == "/predict")
    return {path, "POST", [this](const Request& asked, const Responder& respond) { predict(asked, respond); }};
  if (path == "/metrics")
    return {path, "GET", [this](const Request&, const Responder& respond) {
              respond({200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(), {}});
            }};
  if (path == "/v2" || path == "/v2/")
    return fixed(nlohmann::json{{"name", "priornet"},
                                {"version", options_.version},
                                {"extensions", nlohmann::json::array({"binary_tensor_data"})}}
                     .dump(),
                 "/v2");
  if (path == "/v2/health/live") return fixed(R"({"live":true})", path);
  if (path == "/v2/health/ready")
    return {path, "GET", [this](const Request&, const Responder& respond) {
              respond(shutting_down_ ? json_response(R"({"ready":false})", 503) : json_response(R"({"ready":true})"));
            }};
  if (path == "/v2/models") {
    nlohmann::json names = nlohmann::json::array();
    for (const auto& model : models_) names.push_back(model->served.description.name);
    return fixed(nlohmann::json{{"models", names}}.dump(), path);
  }
  if (path.starts_with("/v2/models/")) return model_route(request);
  throw Refusal(404, fmt::format("there is nothing at {}", path.substr(0, 200)));
}

InferenceServer::Route InferenceServer::model_route(const Request& request) {
  auto rest = std::string_view(request.path).substr(std::string_view("/v2/models/").size());
  const auto name = rest.substr(0, rest.find('/'));
  rest.remove_prefix(name.size());
  auto* model = &model_named(name);
  constexpr std::string_view kVersions = "/versions/";
  if (rest.starts_with(kVersions)) {
    rest.remove_prefix(kVersions.size());
    const auto version = rest.substr(0, rest.find('/'));
    if (version != "1")
      throw Refusal(404, fmt::format("the model {} has the version 1 only, found {}", name, version.substr(0, 32)));
    rest.remove_prefix(version.size());
  }
  if (rest.empty())
    return {"/v2/models/{name}", "GET",
            [model](const Request&, const Responder& respond) { respond(json_response(model->metadata)); }};
  if (rest == "/ready")
    return {"/v2/models/{name}/ready", "GET", [this, model](const Request&, const Responder& respond) {
              respond(json_response(
                  nlohmann::json{{"name", model->served.description.name}, {"ready", !shutting_down_}}.dump(),
                  shutting_down_ ? 503 : 200));
            }};
  if (rest == "/infer")
    return {"/v2/models/{name}/infer", "POST",
            [this, model](const Request& asked, const Responder& respond) { infer(*model, asked, respond); }};
  throw Refusal(404, fmt::format("there is nothing at {}", request.path.substr(0, 200)));
}

InferenceServer::Model& InferenceServer::model_named(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& model : models_) {
    if (model->served.description.name == name) return *model;
    names.push_back(model->served.description.name);
  }
  const auto near = nearest_name(name.substr(0, 64), names);
  throw Refusal(404, fmt::format("there is no model '{}': {}", name.substr(0, 64),
                                 near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                              : fmt::format("did you mean {}?", near)));
}

void InferenceServer::ask(Model& model, std::string inputs, int64_t rows, const Responder& respond,
                          std::function<Response(const PlainPredictions&)> answer) {
  const auto done = [this, &model, respond, answer = std::move(answer)](const Outcome& outcome) {
    if (outcome.status != 200) return respond(error_response(outcome.status, outcome.error));
    for (const auto& decision : outcome.answers.decisions)
      metrics_.verdict(model.served.description.name, verdict_name(decision.verdict));
    respond(answer(outcome.answers));
  };
  model.queue->submit(std::move(inputs), rows, Clock::now() + options_.timeout, done);
}

void InferenceServer::infer(Model& model, const Request& request, const Responder& respond) {
  const auto& description = model.served.description;
  auto tensors = std::make_shared<TensorRequest>(read_tensor_request(
      description, request.body, request.header("inference-header-content-length"), options_.batch.queue));
  auto inputs = std::move(tensors->inputs);
  ask(model, std::move(inputs), tensors->rows, respond, [&description, tensors](const PlainPredictions& answers) {
    return tensor_response(description, *tensors, answers);
  });
}

void InferenceServer::predict(const Request& request, const Responder& respond) {
  const auto name = request.parameter("model");
  auto& model = name.empty() ? *models_.front() : model_named(name);
  const auto& description = model.served.description;
  const auto type = request.header("content-type");
  if (request.body.empty()) throw Refusal(400, "the body is empty");
  std::string input;
  if (!description.takes_images())
    input = read_feature_row(description, request.body);
  else
    input = model.served.input_of_image(type.starts_with("multipart/form-data") ? file_of_form(type, request.body)
                                                                                : std::string_view(request.body));
  ask(model, std::move(input), 1, respond,
      [&description](const PlainPredictions& answers) { return json_response(plain_answer(description, answers, 0)); });
}

std::string InferenceServer::metrics_text() const {
  ServerMetrics::Gauges gauges;
  gauges.connections = connections ? connections() : 0;
  for (const auto& model : models_) gauges.waiting[model->served.description.name] = model->queue->waiting();
  return metrics_.text(gauges);
}

}  // namespace priornet::serving
