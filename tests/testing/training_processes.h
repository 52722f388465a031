#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <testing/started_process.h>
#include <testing/temporary_folder.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace priornet {

/// A training run in processes of their own (tests/train/training_process.cpp). NCCL refuses two processes on one GPU
/// unless it takes them for processes of two machines.
class TrainingProcesses {
 public:
  TrainingProcesses(int processes, const std::filesystem::path& folder, const std::vector<std::string>& settings = {}) {
    std::vector<std::string> command{PRIORNET_TRAINING_PROCESS, folder.string()};
    command.insert(command.end(), settings.begin(), settings.end());
    const auto port = free_local_port();
    for (int rank = 0; rank < processes; ++rank)
      started_.push_back(std::make_unique<StartedProcess>(
          command, std::vector<std::string>{fmt::format("RANK={}", rank), fmt::format("WORLD_SIZE={}", processes),
                                            "MASTER_ADDR=127.0.0.1", fmt::format("MASTER_PORT={}", port),
                                            fmt::format("NCCL_HOSTID={}", rank), "NCCL_SOCKET_IFNAME=lo"}));
  }

  StartedProcess& operator[](int rank) { return *started_[static_cast<size_t>(rank)]; }

  /// Waits for all of them.
  void expect_success() {
    for (auto& process : started_) EXPECT_EQ(process->wait(), 0) << process->err();
  }

  /// "process 1 of 2 (HOST, pid 1234)"
  std::string name(int rank) const {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    return fmt::format("process {} of {} ({}, pid {})", rank, started_.size(), host.data(),
                       started_[static_cast<size_t>(rank)]->id());
  }

 private:
  std::vector<std::unique_ptr<StartedProcess>> started_;
};

/// A column of metrics.jsonl.
inline std::vector<double> metric(const std::filesystem::path& run, const std::string& name) {
  std::istringstream lines(bytes_of(run / "metrics.jsonl"));
  std::vector<double> values;
  for (std::string line; std::getline(lines, line);) values.push_back(nlohmann::json::parse(line)[name]);
  return values;
}

/// Trains by one process and by several, for ten epochs, and compares their losses.
inline void expect_same_curve(std::vector<std::string> settings, int processes, double tolerance = 1e-5) {
  settings.emplace_back("epochs=10");
  const TemporaryFolder folder;
  TrainingProcesses(1, folder / "one", settings).expect_success();
  TrainingProcesses(processes, folder / "several", settings).expect_success();
  for (const char* name : {"loss", "inside", "outside", "gradient_norm"}) {
    const auto wanted = metric(folder / "one", name);
    const auto found = metric(folder / "several", name);
    ASSERT_EQ(wanted.size(), 10u);
    ASSERT_EQ(found.size(), 10u);
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(found[i], wanted[i], tolerance * std::max(1.0, wanted[i])) << name << " of epoch " << i + 1;
  }
  EXPECT_LT(metric(folder / "one", "loss").back(), 0.95 * metric(folder / "one", "loss").front());
}

}  // namespace priornet
