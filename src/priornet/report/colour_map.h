#pragma once

#include <torch/types.h>

namespace priornet {

/// How numbers become colours; each runs evenly in lightness from its lowest value to its highest.
enum class ColourMap {
  kViridis,  ///< dark violet to yellow (van der Walt and Smith)
  kBlues,    ///< white to navy (ColorBrewer)
  kYlOrRd,   ///< pale yellow to dark red (ColorBrewer)
};

struct ColourRange {
  double low = 0.0;
  double high = 1.0;
};

/// Values of any shape [...] to uint8 [..., 3], red green blue. What lies beyond the range takes the colour of its
/// end; NaN takes that of `low`.
torch::Tensor colours(const torch::Tensor& values, ColourMap map, const ColourRange& range);

}  // namespace priornet
