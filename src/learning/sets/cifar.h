#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

/// CIFAR's binary version: files of records, each of label bytes and then 32x32 pixels of red, of green, of blue.
struct CifarSet {
  std::vector<std::string> files;        ///< names, in the order their rows are to have
  int64_t label_bytes = 1;               ///< CIFAR-10: 1; CIFAR-100: 2, coarse and fine; the last is the label
  std::vector<std::string> class_names;  ///< one per label
};

/// Reads a set from the folder or archive that holds its files. Images uint8 [N, 3, 32, 32]. DataError that names file,
/// byte and record: a file that is missing, empty, ends within a record or holds another number of records than the
/// first (the format has no header to tell a short file by), or a label that is not one of the classes.
Dataset read_cifar(const std::filesystem::path& root, const CifarSet& set);

/// The classes of CIFAR-10, in their order.
std::vector<std::string> cifar10_names();

/// How many people gave each image of cifar10:test each label (CIFAR-10H; Peterson et al., 2019): rows of numbers
/// [10000, 10] in the order of the test set, one column per class, from cifar10h-counts.npy, int64. DataError, which
/// begins with the file's name, for another array, a negative count, or an image without labels.
Dataset read_cifar10h(const std::filesystem::path& root);

}  // namespace priornet
