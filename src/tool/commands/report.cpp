#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <memory>

#include "learning/base/file_io.h"
#include "tool/base/embedded_files.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/experiments/reasons_figures.h"
#include "tool/report/figure.h"
#include "tool/report/page.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

struct ReportOptions {
  std::vector<std::string> folders;
  std::string format = "html";
  std::string out;
};

std::string markdown_of(const std::vector<StoredResults>& all) {
  std::string text;
  for (const auto& results : all)
    text += fmt::format("{}# {}\n\n{}", text.empty() ? "" : "\n", markdown_text(results.title), to_markdown(results));
  return text;
}

std::string latex_of(const std::vector<StoredResults>& all) {
  std::string text = "% needs \\usepackage{booktabs}\n";
  for (const auto& results : all) text += fmt::format("\n{}", to_latex(results));
  return text;
}

std::string csv_of(const std::vector<StoredResults>& all) {
  std::vector<Table> tables;
  for (const auto& results : all)
    for (auto table : results.tables) {
      table.title = fmt::format("{}: {}", results.title, table.title);
      tables.push_back(std::move(table));
    }
  return to_csv(long_form(tables));
}

std::string rendered(const std::vector<StoredResults>& all, const std::string& format) {
  if (format == "markdown") return markdown_of(all);
  if (format == "latex") return latex_of(all);
  if (format == "csv") return csv_of(all);
  return report_page(all);
}

// What a file of this format is called.
std::vector<std::string> endings_of(const std::string& format) {
  if (format == "markdown") return {".md"};
  if (format == "latex") return {".tex"};
  if (format == "csv") return {".csv"};
  return {".html", ".htm"};
}

// The pictures of `reproduce reasons`, into a folder.
void write_figures(const std::vector<StoredResults>& all, const std::string& folder) {
  std::vector<NamedFigure> figures;
  for (const auto& results : all)
    if (const auto means = stored_means(results.document)) figures = reasons_figures(*means);
  if (figures.empty()) throw DataError("nothing to draw: only results of priornet reproduce reasons have such figures");
  OutputFolder out(folder.empty() ? "." : folder);
  for (const auto& [name, figure] : figures) out.write(name + ".svg", render(figure, FigureFormat::kSvg));
  for (const auto& file : out.files()) print(fmt::format("Written: {}\n", file.string()));
}

void report(const ReportOptions& options) {
  const bool is_figures = options.format == "svg";
  if (!is_figures) check_ending("--out", options.out, endings_of(options.format));
  std::vector<StoredResults> all;
  for (const auto& given : options.folders) {
    refuse_digit_model(given, "report");
    for (const auto& folder : folders_with_results(given)) all.push_back(read_results(folder));
    for (const auto& run : runs_without_results(given))
      note(fmt::format("{}: is left out, because it was not evaluated yet", run.string()));
  }
  if (is_figures) {
    write_figures(all, options.out);
    return;
  }
  const bool is_page = options.format == "html";
  const auto text = rendered(all, options.format);
  if (options.out.empty() && !is_page) {
    print(text);
    return;
  }
  const auto path = options.out.empty() ? std::string("report.html") : options.out;
  AtomicFile file(path);
  file.write(text);
  file.commit();
  print(fmt::format("Written: {}\n", path));
}

}  // namespace

void describe_report(Command& command) {
  const auto options = std::make_shared<ReportOptions>();
  command.options = {
      {.name = "DIR",
       .to = &options->folders,
       .help = "What to show: a run or a model file that was evaluated, a folder from priornet "
               "reproduce, or a folder with several of them",
       .required = true},
      {.name = "--format",
       .to = &options->format,
       .help = "html: the page; markdown, csv or latex: every table; svg: the figures of `reproduce "
               "reasons`",
       .shows_default = true,
       .choices = {"html", "markdown", "csv", "latex", "svg"}},
      {.name = "--out",
       .to = &options->out,
       .help = "File to write; by default report.html, and standard output for tables. With svg: the folder "
               "to write to; by default this one"}};
  command.notes = "The page opens from disk and loads nothing from the web.";
  command.examples = {"priornet report photos.priornet --out photos.html", "priornet report runs/dpn --out dpn.html",
                      "priornet report results --out report.html",
                      "priornet report results/synthetic --format latex --out tables.tex",
                      "priornet report results/reasons --format svg --out figures"};
  command.run = [options](const Invocation&) { report(*options); };
}

}  // namespace priornet::tool
