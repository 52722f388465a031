#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace priornet::serving {

/// Counts by upper bounds, as Prometheus has histograms.
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

/// What the server counts; calls from several threads.
class ServerMetrics {
 public:
  /// `route` is a pattern, never a client's path: the number of series stays small.
  void request(std::string_view route, int status, std::chrono::duration<double> time);
  void batch(const std::string& model, int64_t rows);
  void verdict(const std::string& model, std::string_view verdict);

  struct Gauges {
    int64_t connections = 0;
    std::map<std::string, int64_t> waiting;  ///< inputs in the queue, by model
    int64_t decoding = 0;                    ///< inputs that wait to be decoded
    int64_t memory = 0;                      ///< bytes on the account of requests
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

/// Bytes of memory that this process holds; 0 where that is not known.
int64_t resident_bytes();

}  // namespace priornet::serving
