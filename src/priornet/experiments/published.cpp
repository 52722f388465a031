#include <priornet/experiments/published.h>

namespace priornet {

const PublishedRow* find_published(std::span<const PublishedRow> rows, const PublishedKey& key) {
  for (const auto& row : rows) {
    const bool in_noise_table = row.table == kNoiseTable;
    if (row.outside == key.outside && row.model == key.model && row.sigma == key.sigma &&
        in_noise_table == key.in_noise_table)
      return &row;
  }
  return nullptr;
}

}  // namespace priornet
