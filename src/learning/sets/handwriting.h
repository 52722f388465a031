#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>

#include "learning/data/byte_stream.h"

namespace priornet {

/// SEMEION: 16x16 black and white digits, one per line of semeion.data, in a folder, an archive or as the file itself.
/// A line holds 256 pixels, 0 or 1 (with or without decimals), and 10 flags: the flag of the digit is 1. Images uint8
/// [N, 1, 16, 16] of 0 and 255, classes "0" to "9". DataError that names file and line (from 1) for anything else.
Dataset read_semeion(const std::filesystem::path& root);

/// The same from the bytes of semeion.data.
Dataset read_semeion(ByteStream& bytes);

enum class OmniglotPart {
  kBackground,  ///< 30 alphabets: 964 characters, drawn 20 times each
  kEvaluation,  ///< 20 alphabets: 659 characters
  kAll,         ///< the background set, then the evaluation set
};

/// OMNIGLOT (Lake et al., 2015) from its folders images_background and images_evaluation or their .zip files, in `root`
/// or `root` itself: uint8 [N, 1, 105, 105], black strokes (0) on white (255), as published. Classes are characters,
/// "Greek/character01", in the order of their paths. DataError if a part is missing or holds no drawings, or if a
/// drawing is damaged or of another size.
Dataset read_omniglot(const std::filesystem::path& root, OmniglotPart part);

}  // namespace priornet
