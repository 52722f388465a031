#include <priornet/report/figure_data.h>

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace priornet {

std::string figure_bytes(const torch::Tensor& tensor) {
  const auto flat = tensor.contiguous();
  return {static_cast<const char*>(flat.data_ptr()), flat.nbytes()};
}

std::string figure_text(const torch::Tensor& points) {
  const auto table = points.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto value = table.accessor<double, 2>();
  std::string text;
  for (int64_t i = 0; i < table.size(0); ++i) {
    if (std::isnan(value[i][0]))
      text += '\n';
    else
      fmt::format_to(std::back_inserter(text), "{:.5f} {:.5f}\n", value[i][0], value[i][1]);
  }
  return text;
}

}  // namespace priornet
