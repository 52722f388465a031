#pragma once

namespace priornet {

/// A 95 % interval.
struct Interval {
  double low = 0;
  double high = 0;
};

}  // namespace priornet
