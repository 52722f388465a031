#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>
#include <string>
#include <vector>

#include "learning/data/byte_stream.h"

// IDX, the format of MNIST and its relatives: a big-endian header of type, rank and sizes, then the values.

namespace priornet {

/// An IDX file of bytes, uint8 of rank 1 to 4, read straight into the tensor's memory. DataError that names the stream,
/// the byte and what was expected there: another magic number, type or rank, fewer or more bytes than the header says.
torch::Tensor read_idx(ByteStream& bytes);

/// A set in two IDX files.
struct IdxSet {
  std::string images;                    ///< the file's name, without .gz: [N, H, W]
  std::string labels;                    ///< the file's name, without .gz: [N]
  std::vector<std::string> class_names;  ///< one per label
  int64_t first_label = 0;               ///< the label of the first class: 1 for EMNIST's letters
  bool transposed = false;               ///< the images are transposed, as EMNIST's are
};

/// Reads a set from the folder or archive that holds its two files. Images uint8 [N, 1, H, W]. DataError also if a file
/// is missing, if there are not as many labels as images, or if a label is not one of the classes: that error names the
/// file, the byte and the row.
Dataset read_idx_set(const std::filesystem::path& root, const IdxSet& set);

}  // namespace priornet
