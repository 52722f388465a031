#pragma once

#include <priornet/experiments/run_record.h>
#include <priornet/experiments/synthetic.h>

#include <optional>
#include <string>
#include <vector>

namespace priornet {

/// The figures of the page, as SVG.
struct SyntheticSvgs {
  std::string figure1, figure2, figure3, comparison;
};

/// The report of the synthetic experiment: what is seen, figures where there are any, tables, how it was run.
std::string synthetic_page(const std::vector<SyntheticResult>& results, const RunRecord& record,
                           const std::optional<SyntheticSvgs>& svgs);

}  // namespace priornet
