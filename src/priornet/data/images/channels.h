#pragma once

namespace priornet {

/// The channels images are wanted with.
enum class Channels {
  kAsStored,  ///< 1 if the file holds grey values alone, else 3
  kGrey,      ///< 1: colours weighted by ITU-R 601-2, (19595 R + 38470 G + 7471 B + 32768) >> 16, as Pillow's "L"
  kRgb,       ///< 3
};

}  // namespace priornet
