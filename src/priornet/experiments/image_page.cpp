#include <fmt/format.h>
#include <priornet/experiments/image_page.h>
#include <priornet/experiments/image_tables.h>
#include <priornet/report/figure.h>
#include <priornet/report/html.h>

namespace priornet {
namespace {

std::string model_title(const ResultCell& cell, bool with_sigma) {
  return with_sigma ? fmt::format("{}, σ = {:g}", cell.model, cell.sigma) : cell.model;
}

void add_highlights(HtmlPage& page, const std::vector<ImageResult>& seeds) {
  const auto& experiment = seeds.front().experiment;
  std::vector<Highlight> highlights;
  for (const auto& cell : result_cells(seeds)) {
    const auto model = model_title(cell, experiment.is_noise_table);
    if (cell.metric == CellMetric::kError && cell.model != "MCDP" && !experiment.is_noise_table)
      highlights.push_back({fmt::format("{:.2f} %", cell.ours.value), fmt::format("error of the {}", model)});
    const bool is_differential = kPaperMeasures[cell.measure] == "differential_entropy";
    if (cell.metric == CellMetric::kAuroc && is_differential && cell.published && !cell.outside.empty())
      highlights.push_back({fmt::format("{:.2f}", cell.ours.value),
                            fmt::format("AUROC of the {}’s differential entropy, {}", model, cell.outside)});
  }
  page.highlights(highlights);
}

void add_scores(HtmlPage& page, const ImageResult& result, const std::string& svg) {
  page.heading("How the uncertainties spread");
  page.figure({svg,
               fmt::format("Histograms of each model’s uncertainty on {} and on the out-of-distribution sets.",
                           result.experiment.inside_title),
               "The share of inputs by uncertainty, on a logarithmic scale: the further a set’s curve lies to the "
               "right of the in-distribution one, the better it is told apart. Seed " +
                   std::to_string(result.experiment.seed) + "."});
}

void add_sheets(HtmlPage& page, const ImageResult& result, const std::vector<CertaintySheet>& sheets) {
  page.heading("What the network is sure of, and what not");
  page.paragraph(
      fmt::format("Of each set the images that the {} is most certain of (upper row) and least (lower row), "
                  "as it sees them.",
                  result.models.back().plan.name));
  for (const auto& sheet : sheets)
    page.picture({sheet.png, fmt::format("Two rows of images of {}.", sheet.title), sheet.title});
}

void add_record(HtmlPage& page, const std::vector<ImageResult>& seeds, const RunRecord& record) {
  page.heading("How this was run");
  auto list = facts(record);
  const auto first = seeds.front().experiment.seed, last = seeds.back().experiment.seed;
  auto at = list.begin() + 1;
  at = list.insert(at, {"Seeds", first == last ? fmt::format("{}", first)
                                               : fmt::format("{} to {}; pictures show the first", first, last)});
  for (const auto& model : seeds.front().models) {
    const auto& config = model.plan.config;
    const auto samples = model.plan.dropout_samples;
    const auto how = samples > 0          ? fmt::format(", asked with {} dropout samples", samples)
                     : config.members > 1 ? fmt::format(", an ensemble of {}", config.members)
                                          : std::string();
    at = list.insert(at + 1, {model.plan.name + (config.noise > 0 ? fmt::format(", σ = {:g}", config.noise) : ""),
                              fmt::format("{}, {} epochs, {:.0f} s of training{}; configuration in results.json",
                                          model.report.method, config.epochs, model.training_seconds, how)});
  }
  page.facts(list);
}

}  // namespace

std::string image_page(const std::vector<ImageResult>& seeds, const RunRecord& record, const ImagePictures& pictures) {
  const auto& first = seeds.front();
  HtmlPage page(first.experiment.title, first.experiment.lead);
  add_highlights(page, seeds);
  page.heading("In numbers, beside the paper’s");
  for (const auto& table : image_tables(seeds)) page.table(table);
  if (!pictures.scores_svg.empty())
    add_scores(page, first, pictures.scores_svg);
  else
    page.paragraph(fmt::format("The histograms were left out: {}.", kNoGnuplot));
  if (!pictures.sheets.empty()) add_sheets(page, first, pictures.sheets);
  page.heading("Every cell");
  page.table(cell_table(seeds));
  add_record(page, seeds, record);
  return page.text();
}

}  // namespace priornet
