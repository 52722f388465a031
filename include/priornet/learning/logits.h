#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

struct LogitsOptions {
  std::string array;  ///< which array of an .npz; empty: its only one, or the one called "logits"
};

/// Logits from .npy, .npz or .csv (a header, which names every class, is skipped), float32 or float64 on the CPU.
/// One file: [N, K], or [M, N, K] for an ensemble, as the file has it. Several files: the members of an ensemble, each
/// [N, K] and of one shape, stacked to [M, N, K].
/// DataError, which names the file: another rank or dtype, a single class, no rows, a value that is not finite, with
/// its row and column (from 0), or a first line of a .csv that may be a header or a row: one with numbers and other
/// things, a name left out as over an index, the numbers 0, 1, 2, ... of three classes or more.
torch::Tensor read_logits(const std::vector<std::filesystem::path>& paths, const LogitsOptions& options = {});

}  // namespace priornet
