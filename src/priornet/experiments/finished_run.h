#pragma once

#include <priornet/train/config.h>

#include <filesystem>

namespace priornet {

/// Throws DataError where the folder holds a run of another configuration.
void refuse_other_run(const std::filesystem::path& folder, const TrainConfig& config);

/// Whether the folder holds a run of this very configuration that was trained to its end, on a set of `rows` rows.
bool is_finished_run(const std::filesystem::path& folder, const TrainConfig& config, int64_t rows);

/// The seconds that the epochs of a run took, by its metrics.
double training_seconds(const std::filesystem::path& folder);

}  // namespace priornet
