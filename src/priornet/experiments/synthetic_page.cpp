#include <priornet/experiments/synthetic_page.h>

#include <fmt/format.h>
#include <priornet/experiments/synthetic_tables.h>
#include <priornet/report/figure.h>
#include <priornet/report/html.h>

namespace priornet {
namespace {

double mean_auroc(const std::vector<SyntheticResult>& results, size_t index, SyntheticModel SyntheticCase::*model,
                  Separation SyntheticModel::*measure) {
  double sum = 0.0;
  for (const auto& result : results) sum += (result.cases[index].*model.*measure).auroc;
  return sum / static_cast<double>(results.size());
}

void add_highlights(HtmlPage& page, const std::vector<SyntheticResult>& results) {
  std::vector<Highlight> highlights;
  const auto& cases = results.front().cases;
  const auto add = [&](size_t i, const char* label, auto model, auto measure) {
    highlights.push_back({fmt::format("{:.4f}", mean_auroc(results, i, model, measure)),
                          fmt::format("AUROC of the {}, σ = {:g}", label, cases[i].classes.sigma)});
  };
  for (size_t i = 0; i < cases.size(); ++i)
    add(i, "DPN’s differential entropy", &SyntheticCase::dpn, &SyntheticModel::differential_entropy);
  add(cases.size() - 1, "DPN’s entropy", &SyntheticCase::dpn, &SyntheticModel::entropy);
  add(cases.size() - 1, "DNN’s entropy", &SyntheticCase::dnn, &SyntheticModel::entropy);
  page.highlights(highlights);
}

void add_figure3(HtmlPage& page, const std::string& svg) {
  page.heading("Which uncertainty knows where the data is?");
  page.paragraph(
      "Three classes, each a Gaussian around its own mean. With σ = 1 they lie apart; with σ = 4 they overlap, so that "
      "even the best possible classifier is often wrong. A Dirichlet Prior Network (DPN) with one hidden layer of 50 "
      "units learns to give a sharp Dirichlet on the data and a flat one on the rest of the plane.");
  page.figure(
      {svg,
       "Six heat maps over the plane from -20 to 20. Top row, classes apart; bottom row, classes overlapping. "
       "Columns: entropy of the true posterior with the data points, entropy of the DPN, differential entropy "
       "of the DPN.",
       "The paper’s figure 3. Left: the entropy of the true posterior, with training points of the three "
       "classes. Middle: the entropy of the DPN’s prediction. Right: the differential entropy of its Dirichlet. "
       "Yellow is uncertain; the dashed line is the edge of the data region, 3 σ around the means."});
  page.list(
      {"Classes apart (top): entropy and differential entropy both are low on the data and high elsewhere. "
       "Either finds what is out of distribution.",
       "Classes overlapping (bottom): entropy is high outside, but also inside, along the boundaries between "
       "the classes. A high value may mean an ambiguous input or an unfamiliar one.",
       "Differential entropy stays low over the whole data region and high outside: it tells unfamiliar from "
       "ambiguous."});
}

void add_tables(HtmlPage& page, const std::vector<SyntheticResult>& results) {
  page.heading("In numbers");
  page.paragraph(
      "How well does each uncertainty separate fresh points of the classes from points drawn evenly from the square "
      "outside the data region? 1 is perfect, 0.5 is a coin toss, below 0.5 the score points the wrong way.");
  page.table(detection_table(results));
  page.table(accuracy_table(results));
}

void add_comparison(HtmlPage& page, const SyntheticOptions& options, const std::string& svg) {
  page.heading("The plain network, and the two parts of the DPN’s entropy");
  page.figure({svg,
               "Six heat maps as before. Columns: entropy of the DNN, expected entropy of the DPN, mutual information "
               "of the DPN.",
               "Left: the entropy of the same network trained as a plain classifier (DNN). Middle and right: the DPN’s "
               "entropy taken apart into expected entropy, meant to be data uncertainty, and mutual information, meant "
               "to be distributional uncertainty. They add up to its entropy; mutual information has a scale of its "
               "own."});
  page.paragraph(
      "The DNN has never seen anything but the data, and its uncertainty follows the class boundaries as far as the "
      "eye reaches: away from them it grows more certain the further an input is from everything it knows.");
  if (options.divergence == Divergence::kForward)
    page.paragraph(
        "The mutual information of this DPN fails where classes overlap, and that is no accident. The forward "
        "KL divergence averages ln μ over the labels met at a point; where labels disagree, its minimum is a Dirichlet "
        "with concentrations below 1, whose mass sits in the corners. Differential entropy calls that sharp, mutual "
        "information calls it spread. The profile “modern” trains with the reverse KL divergence, which averages the "
        "concentrations instead; there mutual information works too.");
  else
    page.paragraph(
        "This DPN was trained with the reverse KL divergence. Where labels disagree it averages the target "
        "concentrations, which gives a sharp peak inside the simplex, so that mutual information is low on all of the "
        "data and high outside. With the paper’s forward divergence (profile “paper”) it points the wrong way where "
        "classes overlap.");
}

void add_simplexes(HtmlPage& page, const SyntheticSvgs& svgs) {
  page.heading("Distributions on a simplex");
  page.paragraph(
      "A prediction over three classes is a point of a triangle: a corner is certainty, the centre is a tie. An "
      "ensemble is a cloud of such points; a Prior Network gives the distribution of the cloud directly.");
  page.figure({svgs.figure1, "Two triangles: forty points, and the smooth density they were drawn from.",
               "The paper’s figure 1: an ensemble of 40 predictions, and the Dirichlet they are drawn from."});
  page.figure({svgs.figure2, "Three triangles: density peaked at a corner, density peaked at the centre, flat density.",
               "The paper’s figure 2, what a Prior Network should give: a sharp peak in a corner for a confident "
               "prediction, a sharp peak in the centre where classes overlap, a flat density out of distribution. "
               "Colour goes by the cube root of the density, so that the flat one shows."});
}

void add_record(HtmlPage& page, const std::vector<SyntheticResult>& results, const RunRecord& record) {
  const auto& options = results.front().options;
  page.heading("How this was run");
  auto list = facts(record);
  list.insert(list.begin() + 1,
              {"Seeds", results.size() == 1 ? fmt::format("{}", options.seed)
                                            : fmt::format("{} to {}; figures show the first", options.seed,
                                                          results.back().options.seed)});
  list.insert(
      list.begin() + 2,
      {"Training", fmt::format("{} epochs of {} points, {} + {} a step; Adam, peak learning rate {:g}; {} KL, "
                               "α₀ = {:g}, ε = 1/α₀; DNN: cross-entropy on the data alone",
                               options.epochs, options.points, options.batch, options.batch, options.learning_rate,
                               options.divergence == Divergence::kForward ? "forward" : "reverse", options.alpha0)});
  page.facts(list);
}

}  // namespace

std::string synthetic_page(const std::vector<SyntheticResult>& results, const RunRecord& record,
                           const std::optional<SyntheticSvgs>& svgs) {
  HtmlPage page(
      "Ambiguous or unfamiliar?",
      "The synthetic experiment of “Predictive Uncertainty Estimation via Prior Networks” (Malinin and Gales, "
      "2018, section 5.1), reproduced by priornet.");
  add_highlights(page, results);
  if (svgs) add_figure3(page, svgs->figure3);
  add_tables(page, results);
  if (svgs) {
    add_comparison(page, results.front().options, svgs->comparison);
    add_simplexes(page, *svgs);
  } else {
    page.paragraph(fmt::format("The figures were left out: {}.", kNoGnuplot));
  }
  add_record(page, results, record);
  return page.text();
}

}  // namespace priornet
