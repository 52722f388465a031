#pragma once

#include <priornet/uncertainty/drift.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace priornet::serving {

/// Counts by upper bounds, like Prometheus histograms.
class CountedHistogram {
 public:
  explicit CountedHistogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

  void add(double value);
  /// Lines of the text format; `labels` without braces, may be empty.
  void write(std::string& text, const std::string& name, const std::string& labels) const;

 private:
  std::vector<double> bounds_;
  std::vector<int64_t> counts_;
  double sum_ = 0.0;
};

/// The server's counters; calls from several threads.
class ServerMetrics {
 public:
  /// `route` is a pattern, never a client's path: the number of series stays small.
  void request(std::string_view route, int status, std::chrono::duration<double> time);
  void batch(const std::string& model, int64_t rows);
  void verdict(const std::string& model, std::string_view verdict);

  struct Gauges {
    int64_t connections = 0;
    std::map<std::string, int64_t> waiting;   ///< inputs in the queue, by model
    std::map<std::string, DriftState> drift;  ///< of the inputs of each model
    int64_t decoding = 0;                     ///< inputs that wait to be decoded
    int64_t memory = 0;                       ///< bytes on the account of requests
  };
  /// All of it as Prometheus reads it (text format 0.0.4), with the memory of this process.
  std::string text(const Gauges& gauges) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, int64_t> requests_;
  std::map<std::string, CountedHistogram, std::less<>> seconds_;
  std::map<std::string, CountedHistogram, std::less<>> batches_;
  std::map<std::pair<std::string, std::string>, int64_t> verdicts_;
};

/// Bytes of memory that this process holds; 0 if unknown.
int64_t resident_bytes();

/// A file of JSON lines, each with the time it was written. Calls from several threads; a slow disk delays no caller: a
/// separate thread writes. Lines that it cannot write in time, or at all, are dropped, and their number is logged.
class ServerLog {
 public:
  /// Is told when lines cannot be written, and when they can again.
  using Trouble = std::function<void(const std::string& what)>;

  /// "-" is standard error. DataError if the file cannot be written. `trouble` may be called until the log is gone, and
  /// after that where its thread could not be ended.
  explicit ServerLog(std::filesystem::path path, Trouble trouble = {});
  /// Writes what is waiting. If nobody reads the other end of a pipe, it gives up after two seconds.
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  /// An object; "time" is put before its members.
  void write(const nlohmann::ordered_json& line);

  /// Reopens the file under the same name, after another program has moved the old one away. If that fails, later lines
  /// still go to the old file.
  void reopen();

 private:
  struct State;

  std::shared_ptr<State> state_;  ///< shared with the thread, which may be left behind
  std::thread worker_;
};

}  // namespace priornet::serving
