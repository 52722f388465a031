#include "tool/report/evaluation_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace priornet {
namespace {

// In percent for machines too: the columns say so.
Cell percent(double value) { return Cell::number(100 * value, fmt::format("{:.2f}", 100 * value)); }

Cell percent(const Estimate& estimate) {
  return Cell::number(100 * estimate.value, fmt::format("{:.2f} [{:.2f}, {:.2f}]", 100 * estimate.value,
                                                        100 * estimate.low, 100 * estimate.high));
}

Cell plain(double value, int decimals) {
  return std::isfinite(value) ? Cell::number(value, decimals) : Cell::number(value, "-");
}

std::string run_note(const EvaluationReport& report) {
  const auto& scoring = report.evaluation.scoring;
  auto text = report.checkpoint.empty()
                  ? fmt::format("{} logits from another program", report.method)
                  : fmt::format("{}, {} checkpoint ({})", report.method, report.checkpoint, report.weights);
  if (report.members > 1) text += fmt::format("; ensemble of {}", report.members);
  if (scoring.dropout_samples > 0) text += fmt::format("; {} dropout samples", scoring.dropout_samples);
  if (scoring.noise > 0) text += fmt::format("; noise of sigma {:g} on every input", scoring.noise);
  return text;
}

Table classifier_table(const EvaluationReport& report) {
  const auto& inside = report.evaluation.inside;
  Table table;
  table.title = fmt::format("{} on {}", report.run, inside.name);
  table.columns = {"inputs", "errors", "error %", "NLL", "Brier", "ECE %", "adaptive ECE %"};
  table.add({Cell::number(static_cast<double>(inside.size), 0), Cell::number(static_cast<double>(inside.errors), 0),
             percent(inside.error), plain(inside.log_likelihood, 4), plain(inside.brier, 4),
             percent(inside.calibration_error), percent(inside.adaptive_calibration_error)});
  table.notes.push_back(run_note(report));
  if (const auto& detectors = report.evaluation.scoring.detectors; !detectors.empty()) {
    std::vector<std::string> names;
    for (const auto& one : detectors) names.push_back(one.name);
    table.notes.push_back(
        fmt::format("computed in the same pass, learnt from training inputs: {}", fmt::join(names, ", ")));
  }
  if (const auto& odin = report.odin)
    table.notes.push_back(fmt::format(
        "ODIN at temperature {:g}, step {:g}: chosen on {} against {}, where FPR95 is {:.2f} % and AUROC {:.2f} %",
        odin->choice.settings.temperature, odin->choice.settings.step, odin->inside, odin->outside,
        100 * odin->choice.fpr95, 100 * odin->choice.auroc));
  return table;
}

Table misclassification_table(const InsideEvaluation& inside) {
  Table table;
  table.title = fmt::format("Misclassification on {}", inside.name);
  if (inside.misclassification.empty()) {
    table.columns = {"measure", "AURC %"};
    for (const auto& row : inside.rejection) table.add({row.measure, percent(row.area)});
    table.notes.emplace_back(inside.errors == 0 ? "nothing is misclassified: there is nothing to detect"
                                                : "everything is misclassified: there is nothing to tell apart");
    return table;
  }
  table.columns = {"measure", "AUROC %",  "AUPR %", "average precision %", "FPR95 %", "AUPR %, right",
                   "AURC %",  "E-AURC %", "PRR %"};
  for (size_t i = 0; i < inside.misclassification.size(); ++i) {
    const auto& [measure, d, aupr_negatives] = inside.misclassification[i];
    const auto& rejection = inside.rejection[i];
    table.add({measure, percent(d.auroc), percent(d.aupr), percent(d.average_precision), percent(d.fpr95),
               percent(aupr_negatives), percent(rejection.area), percent(rejection.excess),
               percent(rejection.prediction_rejection_ratio)});
  }
  return table;
}

Table outside_table(const OutsideEvaluation& outside, const InsideEvaluation& inside) {
  Table table;
  table.title = fmt::format("{} ({} inputs) against {} ({})", outside.name, outside.size, inside.name, inside.size);
  table.columns = {"measure", "AUROC %", "AUPR %", "average precision %", "FPR95 %", "AUPR %, in distribution"};
  for (const auto& [measure, d, aupr_negatives] : outside.detection)
    table.add({measure, percent(d.auroc), percent(d.aupr), percent(d.average_precision), percent(d.fpr95),
               percent(aupr_negatives)});
  if (!outside.trivial.name.empty())
    table.notes.push_back(fmt::format("without any network, {} alone tells the sets apart with AUROC {:.2f} %",
                                      outside.trivial.name, 100 * outside.trivial.auroc));
  return table;
}

Table comparison_table(const EvaluationReport& report) {
  Table table;
  table.title = fmt::format("{} less {}: AUROC", report.run, report.against);
  table.columns = {"task", "measure", "this %", "other %", "difference", "z", "p"};
  for (const auto& [set, measure, auroc] : report.comparison)
    table.add({set.empty() ? "misclassification" : set, measure, percent(auroc.first), percent(auroc.second),
               percent(auroc.first - auroc.second), plain(auroc.z, 2),
               Cell::number(auroc.p_value, fmt::format("{:.2g}", auroc.p_value))});
  table.notes.emplace_back("two-sided p of DeLong's paired test; not corrected for the number of rows");
  return table;
}

void add_rows(Table& table, const std::string& task, const std::string& set, double trivial,
              const std::vector<MeasureDetection>& rows) {
  const auto number = [](double value) { return Cell::number(value, fmt::format("{}", value)); };
  for (const auto& [measure, d, aupr_negatives] : rows) {
    std::vector<Cell> row{task, set, measure, number(static_cast<double>(d.positives)),
                          number(static_cast<double>(d.negatives))};
    for (const auto& estimate : {d.auroc, d.aupr, d.average_precision, d.fpr95})
      for (const double value : {estimate.value, estimate.low, estimate.high}) row.push_back(number(value));
    row.push_back(number(aupr_negatives));
    row.push_back(std::isnan(trivial) ? Cell("") : number(trivial));
    table.add(std::move(row));
  }
}

}  // namespace

std::vector<Table> evaluation_tables(const EvaluationReport& report) {
  const auto& evaluation = report.evaluation;
  std::vector<Table> tables{classifier_table(report), misclassification_table(evaluation.inside)};
  for (const auto& outside : evaluation.outside) tables.push_back(outside_table(outside, evaluation.inside));
  if (!report.against.empty()) tables.push_back(comparison_table(report));
  return tables;
}

Table evaluation_rows(const EvaluationReport& report) {
  Table table;
  table.columns = {"task", "set", "measure", "positives", "negatives"};
  for (const auto* metric : {"auroc", "aupr", "average_precision", "fpr95"})
    for (const auto* part : {"", "_low", "_high"}) table.columns.push_back(std::string(metric) + part);
  table.columns.emplace_back("aupr_negatives");
  table.columns.emplace_back("trivial_auroc");
  const auto& inside = report.evaluation.inside;
  add_rows(table, "misclassification", inside.name, std::nan(""), inside.misclassification);
  for (const auto& set : report.evaluation.outside)
    add_rows(table, "detection", set.name, set.trivial.auroc, set.detection);
  return table;
}

}  // namespace priornet
