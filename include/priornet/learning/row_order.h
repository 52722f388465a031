#pragma once

#include <cstdint>

namespace priornet {

/// The orders of the passes that are in use, in memory that stays where it is: pass k in slot k % slots. So a kernel
/// finds the row of any place by itself; place p lies in pass p / size.
struct PassRing {
  const int64_t* rows = nullptr;  ///< [slots, size]; null: there is no order, place n of a step is row n
  int64_t size = 0;
  int64_t slots = 0;
};

}  // namespace priornet
