#pragma once

#include <string>
#include <string_view>

namespace priornet {

/// The commit this library was built from, "-dirty" behind it where files differed; "unknown" outside a repository.
/// Its source is written by cmake/source_commit.cmake at each build in which it changes.
std::string_view source_commit();

/// How a result was made, for results.json and the report: enough to make it again.
struct RunRecord {
  std::string command;
  std::string finished;  ///< UTC, ISO 8601
  std::string priornet;  ///< version
  std::string commit;    ///< of the source
  std::string libtorch;  ///< version
  std::string compiler;
  std::string processor;
  std::string device;
  std::string accelerator;  ///< the first GPU's name if there is one
  int threads = 0;
  double seconds = 0.0;
};

/// Everything but `command`, `device` and `seconds`, as it is now.
RunRecord describe_run();

/// All of it, as a JSON object.
std::string to_json(const RunRecord& record);

/// Reads it back; what is not there stays empty. nlohmann's exceptions for text that is no such object.
RunRecord parse_run_record(std::string_view json);

}  // namespace priornet
