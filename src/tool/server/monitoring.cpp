#include "tool/server/monitoring.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <priornet/uncertainty/errors.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace priornet::serving {
namespace {

const std::vector<double> kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
const std::vector<double> kRows = {1, 2, 4, 8, 16, 32, 64, 128, 256};

// A label's value, in which Prometheus wants backslash, quote and line end escaped.
std::string label(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (character == '\\' || character == '"' || character == '\n') result += '\\';
    result += character == '\n' ? 'n' : character;
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

/// What a log shares with its thread.
struct ServerLog::State {
  State(std::filesystem::path name, Trouble said) : path(std::move(name)), trouble(std::move(said)) {}
  ~State() {
    if (file >= 0 && path != "-") ::close(file);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void work();
  void write_all(const std::deque<std::string>& lines, int64_t dropped);
  void open_again();
  void say(const std::string& what) const {
    if (trouble) trouble(path.string() + ": " + what);
  }

  static constexpr size_t kMostLines = 10'000;

  const std::filesystem::path path;
  const Trouble trouble;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> waiting;
  int64_t dropped = 0;
  bool reopen = false;
  bool finishing = false;
  bool ended = false;

  // Of the thread alone.
  int file = -1;
  int64_t lost = 0;        ///< lines, since the last one that could be written
  bool line_open = false;  ///< the last one was written in part
};

namespace {

constexpr std::chrono::seconds kPatience{2};

int opened(const std::filesystem::path& path, int flags) {
  if (path == "-") return STDERR_FILENO;
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | flags, 0666);
}

std::string reason_of(int error) { return std::generic_category().message(error); }

std::string counted(int64_t lines) { return lines == 1 ? "1 line was" : fmt::format("{} lines were", lines); }

// How many bytes were written; fewer than all only after an error, which errno tells.
size_t written(int file, std::string_view text) {
  size_t count = 0;
  while (count < text.size()) {
    const auto now = ::write(file, text.data() + count, text.size() - count);
    if (now >= 0) {
      count += static_cast<size_t>(now);
    } else if (errno == EAGAIN) {  // whoever shares this pipe or terminal with us made it so
      pollfd ready{file, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  return count;
}

}  // namespace

ServerLog::ServerLog(std::filesystem::path path, Trouble trouble)
    : state_(std::make_shared<State>(std::move(path), std::move(trouble))) {
  state_->file = opened(state_->path, 0);
  if (state_->file < 0)
    throw DataError(fmt::format("{}: cannot be written: {}", state_->path.string(), reason_of(errno)));
  worker_ = std::thread([state = state_] { state->work(); });
}

ServerLog::~ServerLog() {
  bool ended = false;
  {
    std::unique_lock lock(state_->mutex);
    state_->finishing = true;
    state_->changed.notify_all();
    ended = state_->changed.wait_for(lock, kPatience, [&] { return state_->ended; });
  }
  if (ended)
    worker_.join();
  else
    worker_.detach();  // it waits for somebody to read
}

void ServerLog::write(const nlohmann::ordered_json& members) {
  auto line = line_of(members);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->waiting.size() >= State::kMostLines) {
      ++state_->dropped;
      return;
    }
    state_->waiting.push_back(std::move(line));
  }
  state_->changed.notify_one();
}

void ServerLog::reopen() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->reopen = true;
  }
  state_->changed.notify_one();
}

void ServerLog::State::work() {
  while (true) {
    std::deque<std::string> lines;
    int64_t more = 0;
    bool again = false;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return finishing || reopen || !waiting.empty(); });
      if (waiting.empty() && !reopen) {
        ended = true;
        changed.notify_all();
        return;
      }
      lines.swap(waiting);
      std::swap(more, dropped);
      std::swap(again, reopen);
    }
    write_all(lines, more);
    if (again) open_again();
  }
}

void ServerLog::State::write_all(const std::deque<std::string>& lines, int64_t more) {
  if (lines.empty()) return;
  std::string text = line_open ? "\n" : "";  // so that the next line can be read
  for (const auto& line : lines) text += line;
  if (more > 0) text += line_of({{"level", "error"}, {"error", counted(more) + " dropped"}});
  const auto count = written(file, text);
  const auto reason = errno;
  const auto rest = std::string_view(text).substr(std::max<size_t>(count, line_open ? 1 : 0));
  if (count > 0) line_open = text[count - 1] != '\n';
  const auto missing = static_cast<int64_t>(std::count(rest.begin(), rest.end(), '\n'));
  if (missing > 0) {
    if (lost == 0) say(fmt::format("cannot be written, and lines are lost: {}", reason_of(reason)));
    lost += missing;
  } else if (lost > 0) {
    const auto said = counted(std::exchange(lost, 0)) + " lost";
    const auto line = line_of({{"level", "error"}, {"error", said}});
    if (written(file, line) < line.size()) line_open = true;
    say("can be written again; " + said);
  }
}

// A pipe that nobody reads is not waited for.
void ServerLog::State::open_again() {
  if (path == "-") return;
  const int other = opened(path, O_NONBLOCK);
  if (other < 0) return say(fmt::format("cannot be opened again, lines go to the old file: {}", reason_of(errno)));
  ::fcntl(other, F_SETFL, ::fcntl(other, F_GETFL) & ~O_NONBLOCK);
  ::close(std::exchange(file, other));
  line_open = false;
}

}  // namespace priornet::serving
