#include "tool/experiments/published_cells.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>

#include "tool/experiments/published.h"

namespace priornet {
namespace {

constexpr double kPublishedRounding = 0.05;

constexpr const char* kRule =
    "A cell is met where its 95 % interval reaches the published number, and surpassed where the whole interval lies "
    "beyond it. Published numbers are rounded to 0.1: within 0.05 they agree. With one seed the interval is that of "
    "the test inputs, with several that of the mean over seeds.";

constexpr const char* kApart =
    "Counted apart: the paper's M.I. of the DPN on CIFAR-10 and SVHN, which is most likely the entropy: the authors' "
    "code returns that, and the two columns agree within 0.1 in every row. Ours is the mutual information.";

/// What a row of the count is about.
std::string kind_of(const ResultCell& cell) {
  if (cell.counted_apart) return "M.I. of the DPN, apart";
  if (cell.metric == CellMetric::kError) return "error";
  return fmt::format("{}, {}", cell.outside.empty() ? "misclassification" : "out of distribution",
                     name_of(cell.metric));
}

struct Count {
  std::string kind;
  std::array<int64_t, 3> by_standing{};  ///< by Standing

  int64_t all() const { return by_standing[0] + by_standing[1] + by_standing[2]; }
  int64_t met() const { return by_standing[0] + by_standing[1]; }
};

void add_count(Table& table, const Count& count) {
  std::vector<Cell> row{count.kind, fmt::format("{} of {}", count.met(), count.all())};
  for (const auto number : count.by_standing) row.push_back(Cell::number(static_cast<double>(number), 0));
  table.add(std::move(row));
}

}  // namespace

Standing standing_of(const ResultCell& cell) {
  if (!cell.published) throw ArgumentError("standing_of: the cell should have a published number");
  const bool lower_is_better = cell.metric == CellMetric::kError;
  const double sign = lower_is_better ? -1.0 : 1.0;
  const double worst = sign * (lower_is_better ? cell.ours.high : cell.ours.low);
  const double best = sign * (lower_is_better ? cell.ours.low : cell.ours.high);
  const double published = sign * *cell.published;
  if (worst > published + kPublishedRounding) return Standing::kBetter;
  return best < published - kPublishedRounding ? Standing::kWorse : Standing::kEqual;
}

Table published_count(const std::vector<ResultCell>& cells) {
  Table table{"Published cells that are met or surpassed",
              {"cells", "met or surpassed", "surpassed", "agree", "missed"},
              {},
              {kRule}};
  Count all{"all", {}};
  std::vector<Count> counts;
  bool apart = false, aupr = false;
  for (const auto& cell : cells) {
    if (!cell.published) continue;
    const auto kind = kind_of(cell);
    auto found = std::find_if(counts.begin(), counts.end(), [&](const Count& count) { return count.kind == kind; });
    if (found == counts.end()) found = counts.insert(counts.end(), Count{kind, {}});
    const auto standing = static_cast<size_t>(standing_of(cell));
    ++found->by_standing[standing];
    if (!cell.counted_apart) ++all.by_standing[standing];
    apart = apart || cell.counted_apart;
    aupr = aupr || (cell.metric == CellMetric::kAupr && !cell.outside.empty());
  }
  // Cells that are counted apart stand below the sum, which leaves them out.
  const auto is_apart = [](const Count& count) { return count.kind.ends_with("apart"); };
  const auto below = std::stable_partition(counts.begin(), counts.end(), std::not_fn(is_apart));
  if (!counts.empty()) counts.insert(below, all);
  for (const auto& count : counts) add_count(table, count);
  if (aupr)
    table.notes.emplace_back(
        "AUPR out of distribution is compared as the paper has it: in balanced sets, where there are enough inputs. "
        "AUPR of misclassification is as the network errs, more or less often than the paper's.");
  if (apart) table.notes.emplace_back(kApart);
  return table;
}

Table published_misses(const std::vector<ResultCell>& cells, bool with_sigma) {
  Table table{"Published cells that are missed, in %", {"out of distribution", "model"}, {}, {kRule}};
  if (with_sigma) table.columns.emplace_back("sigma");
  for (const auto* column : {"metric", "measure", "ours", "95 % interval", "published", "difference", "counted"})
    table.columns.emplace_back(column);
  for (const auto& cell : cells) {
    if (!cell.published || standing_of(cell) != Standing::kWorse) continue;
    std::vector<Cell> row{cell.outside.empty() ? Cell("misclassification") : Cell(cell.outside), cell.model};
    if (with_sigma) row.emplace_back(fmt::format("{:g}", cell.sigma));
    const double difference = cell.ours.value - *cell.published;
    row.insert(row.end(),
               {name_of(cell.metric),
                cell.metric == CellMetric::kError ? Cell("-") : Cell(std::string(kPaperMeasureNames[cell.measure])),
                Cell::number(cell.ours.value, 2), fmt::format("{:.2f} to {:.2f}", cell.ours.low, cell.ours.high),
                Cell::number(*cell.published, 1), Cell::number(difference, fmt::format("{:+.2f}", difference)),
                cell.counted_apart ? "apart" : "yes"});
    table.add(std::move(row));
  }
  return table;
}

}  // namespace priornet
