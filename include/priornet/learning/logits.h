#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

struct LogitsOptions {
  std::string array;  ///< which array of an .npz or .safetensors; empty: its only one, or the one called "logits"
  bool takes_any_value = false;  ///< also values that are not finite
};

/// Logits from .npy, .npz, .safetensors or .csv (a header, which names every class, is skipped), float32 or float64 on
/// the CPU; half precision, bfloat16 too, comes as float32, and Fortran order as ours.
/// One file: [N, K], or [M, N, K] for an ensemble, as in the file. Several files: the members of an ensemble, each
/// [N, K] and of the same shape, stacked to [M, N, K].
/// DataError, which names the file: another rank or dtype, a single class, no rows, a value that is not finite, with
/// its row and column (from 0), or a first line of a .csv that may be a header or a row: one with numbers and other
/// things, a name left out as over an index, the numbers 0, 1, 2, ... of three classes or more.
torch::Tensor read_logits(const std::vector<std::filesystem::path>& paths, const LogitsOptions& options = {});

/// Signs that an array is not logits [N, K] or [M, N, K], in words, each to be followed by what to do: its rows look
/// like probabilities or log-probabilities, or it looks transposed. Empty if there are none.
std::vector<std::string> doubts_about_logits(const torch::Tensor& logits);

/// Features of inputs, float32 [N, F], from the same formats: the input of a network's last layer. The only array of an
/// .npz or .safetensors, or the one called "features". DataError as in read_logits(), or if there are not `rows` of
/// them.
torch::Tensor read_features(const std::filesystem::path& path, int64_t rows);

/// Labels of rows, int64 [N], from .npy or .csv of one column: whole numbers from 0, below `classes`. DataError, which
/// names the file, for anything else, or if there are not `rows` of them.
torch::Tensor read_labels(const std::filesystem::path& path, int64_t rows, int64_t classes);

}  // namespace priornet
