#include "tool/server/server_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>

namespace priornet::serving {
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
  // What clients sent need not be UTF-8, and JSON has an escape for each control character.
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
      open();  // where that fails lines are lost until the next time; the server goes on
    }
  }
}

}  // namespace priornet::serving
