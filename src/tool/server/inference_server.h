#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tool/server/batch_queue.h"
#include "tool/server/http_messages.h"
#include "tool/server/metrics.h"
#include "tool/server/served_model.h"

namespace priornet::serving {

struct InferenceOptions {
  BatchOptions batch;                        ///< of each model's queue
  std::chrono::milliseconds timeout{5'000};  ///< an input that waits longer is answered with 504
  std::string token;                         ///< asked for by everything but the page and the health; empty: by nothing
  std::string version;                       ///< of the tool, for /v2
};

/// The routes: the Open Inference Protocol under /v2, /predict, /metrics, and the page at /. Every refusal is a JSON
/// reason with a 4xx or 5xx. Nothing is read from disk.
class InferenceServer {
 public:
  /// ArgumentError without a model, for two of one name, and for a name with a slash.
  InferenceServer(std::vector<ServedModel> models, const InferenceOptions& options);

  /// A Handler; `respond` may be called by a queue's thread.
  void handle(Request request, const Responder& respond);

  /// From now on /v2/health/ready says no. What comes is still answered.
  void shut_down() { shutting_down_ = true; }
  /// Answers what it took, and takes no more.
  void finish();

  ServerMetrics& metrics() { return metrics_; }
  /// Asked for the number of open connections.
  std::function<int64_t()> connections;

 private:
  struct Model {
    ServedModel served;
    std::string metadata;
    std::unique_ptr<BatchQueue> queue;
  };
  struct Route {
    std::string pattern;  ///< for the metrics
    std::string method;   ///< that it takes
    std::function<void(const Request&, const Responder&)> run;
  };

  Route route(const Request& request);
  Route model_route(const Request& request);
  Model& model_named(std::string_view name);
  void infer(Model& model, const Request& request, const Responder& respond);
  void predict(const Request& request, const Responder& respond);
  void ask(Model& model, std::string inputs, int64_t rows, const Responder& respond,
           std::function<Response(const PlainPredictions&)> answer);
  std::string metrics_text() const;

  const InferenceOptions options_;
  ServerMetrics metrics_;
  std::vector<std::unique_ptr<Model>> models_;
  std::atomic<bool> shutting_down_{false};
};

}  // namespace priornet::serving
