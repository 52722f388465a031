#include <priornet/data/transforms/random_subset.h>

#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>

namespace priornet {

Dataset random_subset(const Dataset& set, int64_t count, uint64_t seed) {
  check_range("random_subset", "count", count >= 0, "at least 0", static_cast<double>(count));
  if (count > set.size())
    throw DataError(fmt::format("{}: has {} rows, a subset of {} was wanted", set.name, set.size(), count));
  auto generator = make_generator(derive_seed(seed, "random subset"));
  const auto chosen = torch::randperm(set.size(), generator, torch::kInt64).slice(0, 0, count);
  return select(set, std::get<0>(chosen.sort()).to(set.inputs.device()));
}

}  // namespace priornet
