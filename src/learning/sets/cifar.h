#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

/// CIFAR's binary version: files of records, each of label bytes and then 32x32 pixels of red, of green, of blue.
struct CifarSet {
  std::vector<std::string> files;        ///< names, in the order their rows are to have
  int64_t label_bytes = 1;               ///< CIFAR-10: 1; CIFAR-100: 2, coarse and fine, of which the last counts
  std::vector<std::string> class_names;  ///< one a label
};

/// Reads a set from the folder or archive that holds its files. Images uint8 [N, 3, 32, 32].
/// DataError that names file, byte and record: a file missing, empty, that ends within a record or holds another number
/// of records than the first (the format has no header to tell a short file by), a label that is none of the classes'.
Dataset read_cifar(const std::filesystem::path& root, const CifarSet& set);

/// The classes of CIFAR-10, in their order.
std::vector<std::string> cifar10_names();

/// How many people gave each image of cifar10:test each label (CIFAR-10H; Peterson et al., 2019): rows of numbers
/// [10000, 10] in the order of the test set, a column per class, out of cifar10h-counts.npy, int64. DataError, opened
/// by the file's name, for another array, a negative count, or an image that nobody labelled.
Dataset read_cifar10h(const std::filesystem::path& root);

}  // namespace priornet
