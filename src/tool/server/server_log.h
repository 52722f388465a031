#pragma once

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>

namespace priornet::serving {

/// A file of JSON lines, each with the time it was written at. Calls from several threads; a slow disk holds nobody up:
/// a thread of its own writes, and where it does not keep up lines are dropped and their number is said.
class ServerLog {
 public:
  /// "-" is standard error. DataError where the file cannot be written.
  explicit ServerLog(std::filesystem::path path);
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  /// An object; "time" is put before its members.
  void write(const nlohmann::ordered_json& line);

  /// Goes on in a file of the same name, as is wanted where another program has moved the old one away.
  void reopen();

 private:
  void work();
  void open();

  static constexpr size_t kMostLines = 10'000;

  const std::filesystem::path path_;
  std::FILE* file_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  int64_t dropped_ = 0;
  bool reopen_ = false;
  bool finishing_ = false;
  std::thread worker_;
};

}  // namespace priornet::serving
