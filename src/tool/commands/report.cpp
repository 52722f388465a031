#include <fmt/format.h>

#include <memory>

#include "learning/base/file_io.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
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
    text += fmt::format("{}# {}\n\n{}", text.empty() ? "" : "\n", results.title, to_markdown(results));
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

void report(const ReportOptions& options) {
  check_ending("--out", options.out, endings_of(options.format));
  std::vector<StoredResults> all;
  for (const auto& given : options.folders) {
    for (const auto& folder : folders_with_results(given)) all.push_back(read_results(folder));
    for (const auto& run : runs_without_results(given))
      note(fmt::format("{}: is left out, because it was not evaluated yet", run.string()));
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
  command.options = {{.name = "DIR",
                      .to = &options->folders,
                      .help = "What to show: a run or a model file that was evaluated, a folder from priornet "
                              "reproduce, or a folder with several of them",
                      .required = true},
                     {.name = "--format",
                      .to = &options->format,
                      .help = "html: the page; markdown, csv or latex: every table",
                      .shows_default = true,
                      .choices = {"html", "markdown", "csv", "latex"}},
                     {.name = "--out",
                      .to = &options->out,
                      .help = "File to write; by default report.html, and standard output for tables"}};
  command.notes = "The page opens from disk and loads nothing from the web.";
  command.examples = {"priornet report photos.priornet --out photos.html", "priornet report runs/dpn --out dpn.html",
                      "priornet report results --out report.html",
                      "priornet report results/synthetic --format latex --out tables.tex"};
  command.run = [options](const Invocation&) { report(*options); };
}

}  // namespace priornet::tool
