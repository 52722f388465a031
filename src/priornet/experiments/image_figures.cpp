#include <fmt/format.h>
#include <priornet/data/images/encode_png.h>
#include <priornet/data/transforms/fitting.h>
#include <priornet/experiments/image_figures.h>
#include <priornet/report/contact_sheet.h>
#include <priornet/report/histograms.h>

#include <algorithm>

namespace priornet {
namespace {

constexpr int64_t kShown = 12;  // images a row

std::string shown_measure(const ModelResult& model) {
  return model.report.evaluation.inside_scores.find("differential_entropy") != nullptr ? "differential_entropy"
                                                                                       : "entropy";
}

HistogramPanel panel_of(const ImageResult& result, const ModelResult& model) {
  const auto measure = shown_measure(model);
  const bool is_dirichlet = measure != "entropy";
  const auto& evaluation = model.report.evaluation;
  HistogramPanel panel;
  panel.title = model.plan.name;
  if (result.experiment.is_noise_table) panel.title += fmt::format(", sigma {:g}", model.plan.config.noise);
  panel.axis = is_dirichlet ? "differential entropy, nats" : "entropy, nats";
  panel.lines.push_back({result.experiment.inside_title, *evaluation.inside_scores.find(measure)});
  for (size_t s = 0; s < result.outside.size(); ++s)
    panel.lines.push_back({result.outside[s].title, *evaluation.outside_scores[s].find(measure)});
  return panel;
}

CertaintySheet sheet_of(const std::string& title, const Dataset& set, const SetScores& scores,
                        const std::string& measure, const ImageShape& shape) {
  const auto order = scores.find(measure)->argsort();
  const auto count = std::min(kShown, set.size());
  const auto rows = torch::cat({order.narrow(0, 0, count), order.flip(0).narrow(0, 0, count)});
  const auto images = fit_to(select(set, rows), shape);
  ContactSheetOptions options;
  options.rows = 2;
  options.columns = count;
  options.scale = 2;
  return {title, encode_png(contact_sheet(images.inputs, options))};
}

}  // namespace

Figure draw_scores(const ImageResult& result) {
  std::vector<HistogramPanel> panels;
  for (const auto& model : result.models) panels.push_back(panel_of(result, model));
  return draw_histograms(panels);
}

std::vector<CertaintySheet> certainty_sheets(const ImageResult& result) {
  const auto& model = result.models.back();
  const auto measure = shown_measure(model);
  const auto& evaluation = model.report.evaluation;
  const auto shape = image_shape(result.inside);
  std::vector<CertaintySheet> sheets;
  sheets.push_back(sheet_of(result.experiment.inside_title, result.inside, evaluation.inside_scores, measure, shape));
  for (size_t s = 0; s < result.outside.size(); ++s)
    sheets.push_back(
        sheet_of(result.outside[s].title, result.outside_sets[s], evaluation.outside_scores[s], measure, shape));
  return sheets;
}

}  // namespace priornet
