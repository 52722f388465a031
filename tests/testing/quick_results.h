#pragma once

#include <gtest/gtest.h>
#include <testing/temporary_folder.h>
#include "tool/experiments/experiment.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace priornet {

/// The cells of an experiment in profile quick, with only these published sets.
class QuickResults {
 public:
  QuickResults(const char* experiment, const std::vector<std::filesystem::path>& sets) {
    // Prepared copies are written beside the links, not beside the published files.
    std::filesystem::create_directory(folder_ / "data");
    for (const auto& set : sets) std::filesystem::create_directory_symlink(set, (folder_ / "data") / set.filename());
    ::setenv("PRIORNET_DATA", (folder_ / "data").c_str(), 1);
    ExperimentOptions options;
    options.profile = Profile::kQuick;
    options.out = folder_ / "out";
    NoProgress progress;
    experiment_named(experiment).run(options, progress);
    cells_ = nlohmann::json::parse(bytes_of(folder_ / "out" / "results.json"))["cells"];
  }

  /// Fails the test if there is no such cell.
  double cell(const char* set, const char* model, const char* metric, const char* measure) const {
    for (const auto& row : cells_)
      if (row["out of distribution"] == set && row["model"] == model && row["metric"] == metric &&
          row["measure"] == measure)
        return row["ours"].get<double>();
    ADD_FAILURE() << "no cell " << set << ", " << model << ", " << metric << ", " << measure;
    return 0.0;
  }

 private:
  TemporaryFolder folder_;
  nlohmann::json cells_;
};

}  // namespace priornet
