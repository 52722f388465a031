#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>

namespace priornet {

/// A set in NumPy's formats: an .npz with an array `inputs` or `images`, and `labels` if there are any, or the
/// inputs alone as an .npy. Inputs are images, uint8 [N, C, H, W] or [N, H, W], or finite numbers, float32 or float64
/// [N, D] (kept as float32); labels are integers [N], 0 to 65,535, and the classes are called by their numbers.
/// DataError that names file, array and row if it is not that.
Dataset read_array_set(const std::filesystem::path& path);

}  // namespace priornet
