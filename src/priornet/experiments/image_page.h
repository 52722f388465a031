#pragma once

#include <priornet/experiments/image_figures.h>
#include <priornet/experiments/image_run.h>
#include <priornet/experiments/run_record.h>

#include <string>
#include <vector>

namespace priornet {

/// What the page shows beside its tables; each may be empty.
struct ImagePictures {
  std::string scores_svg;
  std::vector<CertaintySheet> sheets;
};

/// The report of an image experiment: tables with the published cells, pictures, how it was run.
std::string image_page(const std::vector<ImageResult>& seeds, const RunRecord& record, const ImagePictures& pictures);

}  // namespace priornet
