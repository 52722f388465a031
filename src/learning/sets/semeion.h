#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>

#include "learning/data/byte_stream.h"

namespace priornet {

/// SEMEION: 16x16 black and white digits, one a line of semeion.data, in a folder, an archive or as the file itself.
/// A line holds 256 pixels, 0 or 1 (with or without decimals), and 10 flags of which one is 1: the digit.
/// Images uint8 [N, 1, 16, 16] of 0 and 255, classes "0" to "9".
/// DataError that names file and line (from 1) where it is not that.
Dataset read_semeion(const std::filesystem::path& root);

/// The same from the bytes of semeion.data.
Dataset read_semeion(ByteStream& bytes);

}  // namespace priornet
