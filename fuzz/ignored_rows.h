#pragma once

#include "learning/data/decoded_pixels.h"

namespace priornet {

struct IgnoredRows final : PixelRows {
  void begin(int64_t, int64_t, int64_t) override {}
  void take(const uint8_t*) override {}
};

}  // namespace priornet
