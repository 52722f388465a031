#include <priornet/experiments/result_cells.h>
#include <priornet/experiments/seed_statistics.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

Estimate in_percent(const Estimate& share) { return {100 * share.value, 100 * share.low, 100 * share.high}; }

/// Wilson's interval of a share: it does not collapse where there are few errors.
Estimate error_of(const InsideEvaluation& inside) {
  constexpr double kSquare = 1.959963984540054 * 1.959963984540054;
  const auto n = static_cast<double>(inside.size);
  const double middle = (inside.error + kSquare / (2 * n)) / (1 + kSquare / n);
  const double margin =
      std::sqrt(kSquare * (inside.error * (1 - inside.error) / n + kSquare / (4 * n * n))) / (1 + kSquare / n);
  return {inside.error, std::max(0.0, middle - margin), std::min(1.0, middle + margin)};
}

class Cells {
 public:
  explicit Cells(const std::vector<ImageResult>& seeds) : seeds_(seeds) {}

  std::vector<ResultCell> all() {
    for (size_t m = 0; m < seeds_.front().models.size(); ++m) {
      add_error(m);
      add_detection(
          m, nullptr,
          [](const ModelResult& result) -> const auto& { return result.report.evaluation.inside.misclassification; });
    }
    const auto& sets = seeds_.front().outside;
    for (size_t s = 0; s < sets.size(); ++s)
      for (size_t m = 0; m < seeds_.front().models.size(); ++m)
        add_detection(
            m, &sets[s], [&](const ModelResult& result) -> const auto& {
              return result.report.evaluation.outside[s].detection;
            });
    return std::move(cells_);
  }

 private:
  ResultCell blank(size_t model, const PlannedSet* set) const {
    const auto& plan = seeds_.front().models[model].plan;
    ResultCell cell;
    cell.outside = set == nullptr ? "" : set->title;
    cell.model = plan.name;
    cell.sigma = plan.config.noise;
    return cell;
  }

  const PublishedRow* published(size_t model, const PlannedSet* set) const {
    const auto& experiment = seeds_.front().experiment;
    if (set != nullptr && set->published.empty()) return nullptr;
    const auto& plan = seeds_.front().models[model].plan;
    return find_published(experiment.published, {set == nullptr ? "" : std::string_view(set->published), plan.name,
                                                 plan.config.noise, experiment.is_noise_table});
  }

  void add(ResultCell cell, const std::vector<Estimate>& seeds, double published) {
    cell.ours = in_percent(over_seeds(seeds));
    if (!std::isnan(published)) cell.published = published;
    cells_.push_back(std::move(cell));
  }

  void add_error(size_t model) {
    auto cell = blank(model, nullptr);
    cell.metric = CellMetric::kError;
    std::vector<Estimate> errors;
    for (const auto* result : results_of_model(seeds_, model))
      errors.push_back(error_of(result->report.evaluation.inside));
    const auto* row = published(model, nullptr);
    add(cell, errors, row == nullptr ? kNoCell : row->error);
  }

  template <class RowsOf>
  void add_detection(size_t model, const PlannedSet* set, RowsOf&& rows_of) {
    const auto* row = published(model, set);
    const auto results = results_of_model(seeds_, model);
    for (const auto metric : {CellMetric::kAuroc, CellMetric::kAupr}) {
      for (size_t measure = 0; measure < kPaperMeasures.size(); ++measure) {
        std::vector<Estimate> estimates;
        for (const auto* result : results) {
          const auto* found = find_measure(rows_of(*result), kPaperMeasures[measure]);
          if (found == nullptr) continue;
          estimates.push_back(metric == CellMetric::kAuroc ? found->detection.auroc : found->detection.aupr);
        }
        // Not one of this model, or of a seed without a single error.
        if (estimates.size() < results.size()) continue;
        auto cell = blank(model, set);
        cell.metric = metric;
        cell.measure = measure;
        const auto& cells = row == nullptr ? kNoRow : metric == CellMetric::kAuroc ? row->auroc : row->aupr;
        add(cell, estimates, cells[measure]);
      }
    }
  }

  static constexpr std::array<double, 4> kNoRow = {kNoCell, kNoCell, kNoCell, kNoCell};
  const std::vector<ImageResult>& seeds_;
  std::vector<ResultCell> cells_;
};

}  // namespace

std::vector<ResultCell> result_cells(const std::vector<ImageResult>& seeds) { return Cells(seeds).all(); }

std::vector<ResultCell> headline_cells(const std::vector<ImageResult>& seeds) {
  auto cells = result_cells(seeds);
  std::erase_if(cells, [](const ResultCell& cell) {
    return cell.metric != CellMetric::kError && (cell.metric != CellMetric::kAuroc || cell.outside.empty() ||
                                                 kPaperMeasures[cell.measure] != "differential_entropy");
  });
  return cells;
}

}  // namespace priornet
