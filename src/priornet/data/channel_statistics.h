#pragma once

#include <priornet/data/dataset.h>

#include <vector>

namespace priornet {

/// Over all pixels of one channel, or all rows of one column.
struct ChannelStatistics {
  double mean = 0;
  double standard_deviation = 0;  ///< of the population
  double minimum = 0;
  double maximum = 0;
};

/// One a channel of images, in grey levels of 0 to 255, counted exactly; or one a column of numbers.
/// A set without rows throws DataError.
std::vector<ChannelStatistics> channel_statistics(const Dataset& set);

}  // namespace priornet
