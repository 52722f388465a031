#include "tool/server/monitoring.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace priornet::serving {
namespace {

const std::vector<double> kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
const std::vector<double> kRows = {1, 2, 4, 8, 16, 32, 64, 128, 256};

// A label's value: backslash, quote and line end are escaped.
std::string label(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (character == '\\' || character == '"') result += '\\';
    result += character == '\n' ? ' ' : character;
  }
  return result;
}

void heading(std::string& text, const char* name, const char* kind, const char* help) {
  fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

}  // namespace

void CountedHistogram::add(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<size_t>(bound - bounds_.begin())];
  sum_ += value;
}

void CountedHistogram::write(std::string& text, const std::string& name, const std::string& labels) const {
  int64_t count = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    fmt::format_to(std::back_inserter(text), "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, labels.empty() ? "" : ",",
                   i < bounds_.size() ? fmt::format("{:g}", bounds_[i]) : "+Inf", count);
  }
  fmt::format_to(std::back_inserter(text), "{0}_sum{{{1}}} {2}\n{0}_count{{{1}}} {3}\n", name, labels, sum_, count);
}

void ServerMetrics::request(std::string_view route, int status, std::chrono::duration<double> time) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(route), status}];
  seconds_.try_emplace(std::string(route), kSeconds).first->second.add(time.count());
}

void ServerMetrics::batch(const std::string& model, int64_t rows) {
  const std::lock_guard lock(mutex_);
  batches_.try_emplace(model, kRows).first->second.add(static_cast<double>(rows));
}

void ServerMetrics::verdict(const std::string& model, std::string_view verdict) {
  const std::lock_guard lock(mutex_);
  ++verdicts_[{model, std::string(verdict)}];
}

std::string ServerMetrics::text(const Gauges& gauges) const {
  const std::lock_guard lock(mutex_);
  std::string text;
  const auto line = [&](const std::string& series, int64_t value) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", series, value);
  };
  heading(text, "priornet_requests_total", "counter", "Requests answered, by route and status.");
  for (const auto& [key, count] : requests_)
    line(fmt::format("priornet_requests_total{{path=\"{}\",status=\"{}\"}}", label(key.first), key.second), count);
  heading(text, "priornet_request_seconds", "histogram", "Time from a whole request to its answer.");
  for (const auto& [route, histogram] : seconds_)
    histogram.write(text, "priornet_request_seconds", fmt::format("path=\"{}\"", label(route)));
  heading(text, "priornet_batch_size", "histogram", "Inputs that went through a network together.");
  for (const auto& [model, histogram] : batches_)
    histogram.write(text, "priornet_batch_size", fmt::format("model=\"{}\"", label(model)));
  heading(text, "priornet_verdicts_total", "counter", "Inputs by verdict.");
  for (const auto& [key, count] : verdicts_)
    line(fmt::format("priornet_verdicts_total{{model=\"{}\",verdict=\"{}\"}}", label(key.first), key.second), count);
  heading(text, "priornet_queue_inputs", "gauge", "Inputs that wait for a batch.");
  for (const auto& [model, count] : gauges.waiting)
    line(fmt::format("priornet_queue_inputs{{model=\"{}\"}}", label(model)), count);
  heading(text, "priornet_drift_value", "gauge",
          "Evidence that the inputs differ from the calibration set; starts at 1.");
  for (const auto& [model, drift] : gauges.drift)
    fmt::format_to(std::back_inserter(text), "priornet_drift_value{{model=\"{}\"}} {:.6g}\n", label(model),
                   drift.value);
  heading(text, "priornet_drift_alarm", "gauge", "The input that raised the drift alarm, counted from 1; 0: none.");
  for (const auto& [model, drift] : gauges.drift)
    line(fmt::format("priornet_drift_alarm{{model=\"{}\"}}", label(model)), drift.alarm_input);
  heading(text, "priornet_decoding_inputs", "gauge", "Images and long texts that wait to be decoded.");
  line("priornet_decoding_inputs", gauges.decoding);
  heading(text, "priornet_request_bytes", "gauge", "Memory that requests hold: bodies, decoding, answers.");
  line("priornet_request_bytes", gauges.memory);
  heading(text, "priornet_connections", "gauge", "Open connections.");
  line("priornet_connections", gauges.connections);
  heading(text, "process_resident_memory_bytes", "gauge", "Memory that the process holds.");
  line("process_resident_memory_bytes", resident_bytes());
  return text;
}

int64_t resident_bytes() {
  int64_t all = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

namespace {

// "2026-01-31T12:34:56.789Z"
std::string now() {
  const auto time = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)),
                     milliseconds);
}

std::string line_of(const nlohmann::ordered_json& members) {
  nlohmann::ordered_json line = {{"time", now()}};
  line.update(members);
  // What clients sent may not be UTF-8, and JSON has an escape for each control character.
  return line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

ServerLog::ServerLog(std::filesystem::path path) : path_(std::move(path)) {
  open();
  if (file_ == nullptr)
    throw DataError(fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(errno)));
  worker_ = std::thread([this] { work(); });
}

ServerLog::~ServerLog() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  worker_.join();
  if (file_ != nullptr && file_ != stderr) std::fclose(file_);
}

void ServerLog::open() { file_ = path_ == "-" ? stderr : std::fopen(path_.c_str(), "ae"); }

void ServerLog::write(const nlohmann::ordered_json& members) {
  auto line = line_of(members);
  {
    const std::lock_guard lock(mutex_);
    if (lines_.size() >= kMostLines) {
      ++dropped_;
      return;
    }
    lines_.push_back(std::move(line));
  }
  changed_.notify_one();
}

void ServerLog::reopen() {
  {
    const std::lock_guard lock(mutex_);
    reopen_ = true;
  }
  changed_.notify_one();
}

void ServerLog::work() {
  while (true) {
    std::deque<std::string> lines;
    int64_t dropped = 0;
    bool again = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return finishing_ || reopen_ || !lines_.empty(); });
      if (lines_.empty() && !reopen_) return;
      lines.swap(lines_);
      std::swap(dropped, dropped_);
      std::swap(again, reopen_);
    }
    if (file_ != nullptr) {
      for (const auto& line : lines) std::fwrite(line.data(), 1, line.size(), file_);
      if (dropped > 0) {
        const auto line = line_of({{"level", "error"}, {"error", fmt::format("{} lines were dropped", dropped)}});
        std::fwrite(line.data(), 1, line.size(), file_);
      }
      std::fflush(file_);
    }
    if (again && file_ != stderr) {
      if (file_ != nullptr) std::fclose(file_);
      open();  // if that fails lines are lost until the next time; the server goes on
    }
  }
}

}  // namespace priornet::serving
