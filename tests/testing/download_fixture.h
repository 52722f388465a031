#pragma once

#include <gtest/gtest.h>
#include <testing/file_server.h>
#include <testing/made_up_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "tool/downloads/download.h"

#include <algorithm>
#include <optional>

namespace priornet {

inline DownloadOptions quick() {
  DownloadOptions options;
  options.stall_timeout = std::chrono::milliseconds(300);
  options.pause = std::chrono::milliseconds(0);
  return options;
}

/// A file of made-up bytes, a server that has it, and an empty data root.
class DownloadTest : public testing::Test {
 protected:
  void serve(FileServer::Script script) {
    server.emplace(std::move(script));
    file.urls = {server->url("/source/file.bin")};
  }

  bool get(DownloadOptions options = quick()) {
    return Downloader(std::move(options)).get(file, folder / "", progress);
  }

  void expect_failure(const std::string& reason, DownloadOptions options = quick()) {
    EXPECT_THROWS(NoSourceError, get(std::move(options)),
                  ("set/file.bin: no source has it: " + file.urls[0] + ": " + reason).c_str());
  }

  void part(const std::string& already) const {
    std::filesystem::create_directories(folder / "set");
    folder.file("set/file.bin.part", already);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "set"))
      all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

  std::vector<int64_t> froms() const {
    std::vector<int64_t> all;
    for (const auto& request : server->requests()) all.push_back(request.from);
    return all;
  }

  void expect_whole(const std::vector<std::string>& beside = {}) const {
    EXPECT_EQ(bytes_of(folder / "set/file.bin"), bytes);
    std::vector<std::string> expected{"file.bin"};
    expected.insert(expected.end(), beside.begin(), beside.end());
    EXPECT_EQ(names(), expected);
  }

  const TemporaryFolder folder;
  NoProgress progress;
  const std::string bytes = random_bytes(300'000);
  KnownFile file{"set/file.bin", 300'000, sha256_of_bytes(bytes), "", {}};
  std::optional<FileServer> server;
};

inline FileReply whole(const std::string& bytes) {
  FileReply reply;
  reply.body = bytes;
  return reply;
}

inline FileReply broken(const std::string& bytes, int64_t after) {
  auto reply = whole(bytes);
  reply.break_after = after;
  return reply;
}

inline FileReply status(int code) {
  FileReply reply;
  reply.status = code;
  reply.body = "<html>an error page</html>";
  return reply;
}

}  // namespace priornet
