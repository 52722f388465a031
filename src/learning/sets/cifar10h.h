#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>

namespace priornet {

/// How many people gave each image of cifar10:test each label (CIFAR-10H; Peterson et al., 2019): rows of numbers
/// [10000, 10] in the order of the test set, a column per class, out of cifar10h-counts.npy, int64. DataError, opened
/// by the file's name, for another array, a negative count, or an image that nobody labelled.
Dataset read_cifar10h(const std::filesystem::path& root);

}  // namespace priornet
