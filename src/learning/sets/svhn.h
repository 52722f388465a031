#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>

#include "learning/data/byte_stream.h"

namespace priornet {

/// SVHN's cropped digits as published, train_32x32.mat and the like: a MATLAB 5 file of X, uint8 [32, 32, 3, N], and
/// y, [N, 1], where 10 stands for the digit 0. Images uint8 [N, 3, 32, 32], classes "0" to "9".
/// DataError that names file, variable and row if it is not that.
Dataset read_svhn(const std::filesystem::path& mat_file);

/// The same from a stream.
Dataset read_svhn(ByteStream& bytes);

}  // namespace priornet
