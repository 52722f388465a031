#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>

namespace priornet {

enum class OmniglotPart {
  kBackground,  ///< 30 alphabets: 964 characters, drawn 20 times each
  kEvaluation,  ///< 20 alphabets: 659 characters
  kAll,         ///< the background set, then the evaluation set
};

/// OMNIGLOT (Lake et al., 2015) from its folders images_background and images_evaluation or their .zip files, in `root`
/// or `root` itself: uint8 [N, 1, 105, 105], black strokes (0) on white (255), as published. Classes are characters,
/// "Greek/character01", in the order of their paths.
/// DataError where a part is missing or holds no drawings, or a drawing is none or of another size.
Dataset read_omniglot(const std::filesystem::path& root, OmniglotPart part);

}  // namespace priornet
