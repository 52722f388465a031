#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tool/server/connection_table.h"
#include "tool/server/http_messages.h"
#include "tool/server/monitoring.h"
#include "tool/server/served_model.h"
#include "tool/server/work_queues.h"

namespace priornet::serving {

/// A request that failed through no fault of the client.
struct ServerFailure {
  const Request& request;
  int status = 500;
  std::string reason;  ///< details that do not concern a client
};

struct ServerOptions {
  BatchOptions batch;                        ///< of each model's queue
  std::chrono::milliseconds timeout{5'000};  ///< an input that waits longer is answered with 504
  std::string token;                         ///< needed for everything but the page and the health; empty: for nothing
  /// Names under which clients may ask, beside IP addresses and localhost: "models.example.org", "*.example.org", "*".
  /// A foreign page whose host name is made to point to this machine asks under its own name, and reads nothing.
  std::vector<std::string> allowed_hosts;
  std::string version;                               ///< of the tool, for /v2
  int64_t max_pixels = 50'000'000;                   ///< of an image; more are answered with 413
  bool takes_heic = false;                           ///< HEIC and AVIF: decoding may take more memory than is counted
  int64_t max_body = int64_t{16} << 20;              ///< of a body that came compressed; more is answered with 413
  std::shared_ptr<MemoryAccount> memory;             ///< that decoding takes from; of 256 MiB if it is none
  std::function<void(const ServerFailure&)> failed;  ///< is told what a 5xx does not say
};

/// The routes: the Open Inference Protocol under /v2, /predict, /metrics, and the page at /. Every refusal is a JSON
/// reason with a 4xx or 5xx. Nothing is read from disk. Separate threads decode images and long JSON, so that
/// connections never wait for them; large ones apart from small ones.
class InferenceServer {
 public:
  /// ArgumentError without a model, for two of one name, and for a name with a slash.
  InferenceServer(std::vector<ServedModel> models, const ServerOptions& options);
  /// Answers the requests that it has accepted.
  ~InferenceServer() { finish(); }
  InferenceServer(const InferenceServer&) = delete;
  InferenceServer& operator=(const InferenceServer&) = delete;

  Handler handler();

  /// Replaces the models and the token. Requests that were accepted are answered by the model of that time.
  /// ArgumentError as in the constructor, and nothing changes.
  void replace(std::vector<ServedModel> models, const std::string& token);
  /// Frees models that were replaced and have answered; call it now and then, not from a queue's thread.
  void sweep();

  /// From now on /v2/health/ready says no. Requests are still answered.
  void shut_down() { shutting_down_ = true; }
  /// Answers the requests that it has accepted, and accepts no more.
  void finish();

  ServerMetrics& metrics() { return metrics_; }
  /// A function that returns the number of open connections.
  std::function<int64_t()> connections;

 private:
  struct Model {
    ServedModel served;
    std::string metadata;
    std::unique_ptr<BatchQueue> queue;
  };
  using ModelPointer = std::shared_ptr<Model>;
  /// What replace() replaces.
  struct Served {
    std::vector<ModelPointer> models;
    std::string token;
  };
  /// A request on its way to its answer.
  struct Asked {
    Request request;
    Responder respond;
    std::string pattern = "other";  ///< of its route
    Clock::time_point start = Clock::now();
    std::unique_ptr<TakenMemory> expanded;  ///< memory that its expanded body takes
  };
  using AskedPointer = std::shared_ptr<Asked>;
  struct Route {
    std::string pattern;  ///< for the metrics
    std::string method;   ///< that it takes
    std::function<void(const AskedPointer&)> run;
  };
  /// What preparing an input costs.
  struct Effort {
    int64_t units = 0;  ///< pixels and bytes: about ten million take a second
    int64_t bytes = 0;  ///< of memory
  };

  std::shared_ptr<const Served> made(std::vector<ServedModel> models, const std::string& token);
  std::shared_ptr<const Served> served() const;
  std::optional<Response> admit(const Request& request);
  void handle(const AskedPointer& asked);
  void expand(const AskedPointer& asked, ContentCoding coding);
  Route route(const Request& request);
  Route model_route(const Request& request);
  ModelPointer model_named(std::string_view name);
  void guarded(const AskedPointer& asked, const std::function<void()>& work);
  void answer(const AskedPointer& asked, Response response);
  void fail(const AskedPointer& asked, int status, const std::string& said, const std::string& reason);
  void prepared(const AskedPointer& asked, const Effort& effort, std::function<void()> work);
  void infer(const ModelPointer& model, const AskedPointer& asked);
  void predict(const AskedPointer& asked);
  void predict_image(const ModelPointer& model, const AskedPointer& asked);
  void ask(const ModelPointer& model, std::string inputs, int64_t rows, const AskedPointer& asked,
           std::function<Response(const PlainPredictions&)> make_response);
  std::string metrics_text() const;

  const ServerOptions options_;
  const std::shared_ptr<MemoryAccount> memory_;
  ServerMetrics metrics_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Served> served_;
  std::vector<ModelPointer> retired_;
  WorkLane small_work_;
  WorkLane large_work_;
  std::atomic<bool> shutting_down_{false};
};

}  // namespace priornet::serving
