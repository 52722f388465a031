#include "learning/base/run_record.h"

#include <priornet/version.h>

#include <ATen/Parallel.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"

namespace priornet {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

/// The name from the driver: no CUDA library is needed, so that every build can ask.
std::string accelerator_name() {
  std::error_code error;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream information(gpu.path() / "information");
    for (std::string line; std::getline(information, line);)
      if (line.starts_with("Model:")) return line.substr(line.find_first_not_of(" \t", line.find(':') + 1));
  }
  return "";
}

}  // namespace

RunRecord describe_run() {
  RunRecord record;
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  record.finished = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  record.priornet = PRIORNET_VERSION;
  record.commit = source_commit();
  record.libtorch = TORCH_VERSION;
#ifdef __clang__
  record.compiler = __VERSION__;
#else
  record.compiler = fmt::format("g++ {}", __VERSION__);
#endif
  record.processor = processor_name();
  record.accelerator = accelerator_name();
  record.threads = at::get_num_threads();
  return record;
}

std::string to_json(const RunRecord& record) {
  const nlohmann::ordered_json json = {
      {"command", record.command},   {"seconds", record.seconds},     {"device", record.device},
      {"threads", record.threads},   {"processor", record.processor}, {"accelerator", record.accelerator},
      {"priornet", record.priornet}, {"commit", record.commit},       {"libtorch", record.libtorch},
      {"compiler", record.compiler}, {"finished", record.finished}};
  return json_text(json);
}

RunRecord parse_run_record(std::string_view text) {
  const auto json = parse_json(text);
  const auto word = [&](const char* key) { return json.value(key, std::string()); };
  RunRecord record;
  record.command = word("command");
  record.finished = word("finished");
  record.priornet = word("priornet");
  record.commit = word("commit");
  record.libtorch = word("libtorch");
  record.compiler = word("compiler");
  record.processor = word("processor");
  record.device = word("device");
  record.accelerator = word("accelerator");
  record.threads = static_cast<int>(whole_number_of(json, "threads", 0));
  record.seconds = json.value("seconds", 0.0);
  return record;
}

}  // namespace priornet
