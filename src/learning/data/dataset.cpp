#include <priornet/learning/dataset.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "learning/data/byte_stream.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

Dataset with_rows(const Dataset& set, torch::Tensor inputs, torch::Tensor labels) {
  return {set.name, std::move(inputs), std::move(labels), set.class_names, set.feature_names, set.encoding};
}

torch::Tensor rows_among_inputs(const Dataset& set, const torch::Tensor& indices) {
  return set.rows.defined() ? set.rows.index_select(0, indices.to(torch::kCPU)) : indices;
}

// If the set lies in a file, the chosen rows lie in a file too.
torch::Tensor rows_of(const Dataset& set, const torch::Tensor& indices) {
  if (!set.inputs.is_cpu()) return set.inputs.index_select(0, indices);
  auto shape = set.inputs.sizes().vec();
  shape[0] = indices.numel();
  auto rows = memory_for(set.name, shape, set.inputs.scalar_type());
  return torch::index_select_out(rows, set.inputs, 0, rows_among_inputs(set, indices));
}

}  // namespace

Dataset select(const Dataset& set, const torch::Tensor& indices) {
  return with_rows(set, rows_of(set, indices), set.has_labels() ? set.labels.index_select(0, indices) : set.labels);
}

Dataset view_of(const Dataset& set, const torch::Tensor& indices) {
  const auto bytes = set.size() == 0 ? 0 : static_cast<int64_t>(set.inputs[0].nbytes()) * indices.numel();
  if (!set.has_images() || !set.inputs.is_cpu() || bytes <= room_for_values()) return select(set, indices);
  auto view = with_rows(set, set.inputs, set.has_labels() ? set.labels.index_select(0, indices) : set.labels);
  view.rows = rows_among_inputs(set, indices);
  return view;
}

torch::Tensor inputs_at(const Dataset& set, int64_t first, int64_t count) {
  return set.rows.defined() ? set.inputs.index_select(0, set.rows.narrow(0, first, count))
                            : set.inputs.narrow(0, first, count);
}

Dataset slice(const Dataset& set, int64_t first, int64_t count) {
  check_range("slice", "first", first >= 0 && first <= set.size(), fmt::format("in [0, {}]", set.size()), first);
  check_range("slice", "count", count >= 0 && count <= set.size() - first,
              fmt::format("in [0, {}]", set.size() - first), count);
  auto part = with_rows(set, set.rows.defined() ? set.inputs : set.inputs.narrow(0, first, count),
                        set.has_labels() ? set.labels.narrow(0, first, count) : set.labels);
  if (set.rows.defined()) part.rows = set.rows.narrow(0, first, count);
  return part;
}

torch::Tensor class_counts(const Dataset& set) { return torch::bincount(set.labels, {}, set.num_classes()); }

void check_dataset(const Dataset& set) {
  const auto& inputs = set.inputs;
  const auto require = [&](bool holds, const std::string& wanted) {
    if (!holds) throw DataError(fmt::format("{}: {}", set.name, wanted));
  };
  require(inputs.defined(), "holds no inputs");
  const bool images = inputs.dim() == 4 && inputs.scalar_type() == torch::kUInt8;
  const bool numbers = inputs.dim() == 2 && inputs.scalar_type() == torch::kFloat32;
  require(images || numbers,
          fmt::format("inputs should be images, uint8 [N, C, H, W], or numbers, float32 [N, D]; found "
                      "{} of rank {}",
                      c10::toString(inputs.scalar_type()), inputs.dim()));
  if (!set.has_labels()) return;
  require(set.labels.dim() == 1 && set.labels.scalar_type() == torch::kInt64, "labels should be int64 [N]");
  require(set.labels.size(0) == set.size(), fmt::format("has {} inputs but {} labels", set.size(), set.labels.size(0)));
  if (set.size() == 0) return;
  const auto wrong = set.labels.lt(0).logical_or(set.labels.ge(set.num_classes())).nonzero();
  if (wrong.size(0) == 0) return;
  const auto row = wrong[0].item<int64_t>();
  throw DataError(fmt::format("{}: label {} of row {} (counted from 0) should be in [0, {})", set.name,
                              set.labels[row].item<int64_t>(), row, set.num_classes()));
}

namespace {

// Labels that number the classes of `names`; new classes are added to `names`.
torch::Tensor renumbered(const Dataset& set, std::vector<std::string>& names, std::map<std::string, int64_t>& numbers) {
  std::vector<int64_t> number_of;
  for (const auto& name : set.class_names) {
    const auto [found, is_new] = numbers.try_emplace(name, static_cast<int64_t>(names.size()));
    if (is_new) names.push_back(name);
    number_of.push_back(found->second);
  }
  return torch::tensor(number_of, torch::kInt64).index_select(0, set.labels);
}

torch::Tensor joined(const std::string& name, const std::vector<torch::Tensor>& parts) {
  auto shape = parts[0].sizes().vec();
  shape[0] = 0;
  for (const auto& part : parts) shape[0] += part.size(0);
  if (!parts[0].is_cpu()) return torch::cat(parts);
  auto whole = memory_for(name, shape, parts[0].scalar_type());
  return torch::cat_out(whole, parts);
}

}  // namespace

Dataset concatenate(const std::vector<Dataset>& sets) {
  check_range("concatenate", "number of sets", !sets.empty(), "at least 1", 0);
  const auto& first = sets.front();
  if (sets.size() == 1) return first;
  Dataset whole{first.name, {}, {}, {}, first.feature_names, first.encoding};
  std::vector<torch::Tensor> inputs, labels;
  std::map<std::string, int64_t> numbers;
  for (const auto& set : sets) {
    if (set.inputs.scalar_type() != first.inputs.scalar_type() ||
        set.inputs.sizes().slice(1) != first.inputs.sizes().slice(1))
      throw DataError(fmt::format("{}: inputs should have the shape and dtype of {}", set.name, first.name));
    if (set.has_labels() != first.has_labels())
      throw DataError(
          fmt::format("{}: has {} labels, unlike {}", set.name, set.has_labels() ? "its" : "no", first.name));
    inputs.push_back(set.rows.defined() ? rows_of(set, torch::arange(set.size(), torch::kInt64)) : set.inputs);
    if (set.has_labels()) labels.push_back(renumbered(set, whole.class_names, numbers));
  }
  whole.inputs = joined(whole.name, inputs);
  if (first.has_labels()) whole.labels = torch::cat(labels);
  return whole;
}

Dataset with_features(const Dataset& set, const std::vector<std::string>& names) {
  const auto& found = set.feature_names;
  if (set.has_images() || names.empty() || found.empty() || found == names) return set;
  auto columns = torch::empty({static_cast<int64_t>(names.size())}, torch::kInt64);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto at = std::find(found.begin(), found.end(), names[i]);
    if (at == found.end())
      throw DataError(fmt::format("{}: has no column {}; its columns: {}", set.name, names[i], fmt::join(found, ", ")));
    columns[static_cast<int64_t>(i)] = at - found.begin();
  }
  auto result = set;
  result.inputs = set.inputs.index_select(1, columns.to(set.inputs.device()));
  result.feature_names = names;
  result.encoding = nullptr;  // it is for other columns
  return result;
}

torch::Tensor labels_among(const Dataset& set, const std::vector<std::string>& names, const std::string& owner) {
  const auto labels = set.labels.to(torch::kCPU);
  if (set.class_names == names || names.empty() || set.class_names.empty()) return labels;
  auto renumbered = torch::empty({set.num_classes()}, torch::kInt64);
  for (int64_t c = 0; c < set.num_classes(); ++c) {
    const auto& name = set.class_names[static_cast<size_t>(c)];
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end() && (labels == c).any().item<bool>())
      throw DataError(fmt::format("{}: holds the class {}, which {} does not have", set.name, name, owner));
    renumbered[c] = found - names.begin();
  }
  return renumbered.index_select(0, labels);
}

namespace {

// Sums of whole numbers: nothing is rounded, however many pixels there are.
ChannelStatistics of_grey_levels(const torch::Tensor& counts) {
  const auto* count = counts.data_ptr<int64_t>();
  int64_t pixels = 0, sum = 0;
  ChannelStatistics statistics;
  for (int64_t level = 255; level >= 0; --level) {
    if (count[level] == 0) continue;
    if (pixels == 0) statistics.maximum = static_cast<double>(level);
    statistics.minimum = static_cast<double>(level);
    pixels += count[level];
    sum += level * count[level];
  }
  statistics.mean = static_cast<double>(sum) / static_cast<double>(pixels);
  double squares = 0;
  for (int64_t level = 0; level < 256; ++level) {
    const double distance = static_cast<double>(level) - statistics.mean;
    squares += distance * distance * static_cast<double>(count[level]);
  }
  statistics.standard_deviation = std::sqrt(squares / static_cast<double>(pixels));
  return statistics;
}

ChannelStatistics of_images(const torch::Tensor& channel) {
  constexpr int64_t kImages = 1024;  // at a time: their pixels are laid side by side
  auto counts = torch::zeros({256}, torch::kInt64);
  for (int64_t first = 0; first < channel.size(0); first += kImages) {
    const auto some = channel.narrow(0, first, std::min(kImages, channel.size(0) - first));
    counts += torch::bincount(some.flatten(), {}, 256);
  }
  return of_grey_levels(counts);
}

ChannelStatistics of_numbers(const torch::Tensor& column) {
  const auto values = column.to(torch::kFloat64);
  return {values.mean().item<double>(), values.std(false).item<double>(), values.min().item<double>(),
          values.max().item<double>()};
}

}  // namespace

std::vector<ChannelStatistics> channel_statistics(const Dataset& set) {
  if (set.size() == 0) throw DataError(fmt::format("{}: holds no rows", set.name));
  std::vector<ChannelStatistics> statistics;
  for (int64_t c = 0; c < set.inputs.size(1); ++c) {
    const auto channel = set.inputs.select(1, c);
    statistics.push_back(set.has_images() ? of_images(channel) : of_numbers(channel));
  }
  return statistics;
}

Dataset random_subset(const Dataset& set, int64_t count, uint64_t seed) {
  check_range("random_subset", "count", count >= 0, "at least 0", static_cast<double>(count));
  if (count > set.size())
    throw DataError(fmt::format("{}: has {} rows, but a subset of {} was asked for", set.name, set.size(), count));
  auto generator = make_generator(derive_seed(seed, "random subset"));
  const auto chosen = torch::randperm(set.size(), generator, torch::kInt64).slice(0, 0, count);
  return select(set, std::get<0>(chosen.sort()).to(set.inputs.device()));
}

}  // namespace priornet
