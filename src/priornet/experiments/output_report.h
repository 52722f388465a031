#pragma once

#include <priornet/experiments/output_folder.h>

namespace priornet {

/// Reads the results that were just written to the folder and adds what follows from them: table.md, table.tex and
/// report.html. What read_results throws.
void write_report(OutputFolder& out);

}  // namespace priornet
