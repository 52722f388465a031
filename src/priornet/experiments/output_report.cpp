#include <priornet/experiments/output_report.h>
#include <priornet/report/page.h>

namespace priornet {

void write_report(OutputFolder& out) {
  const auto results = read_results(out.path());
  out.write("table.md", to_markdown(results));
  out.write("table.tex", to_latex(results));
  out.write("report.html", report_page({results}));
}

}  // namespace priornet
