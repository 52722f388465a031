#include "learning/networks/mlp.h"

#include <fmt/format.h>

#include <cmath>

#include "learning/networks/stage_map.h"
#include "uncertainty/core/checks.h"

namespace priornet {

MLPImpl::MLPImpl(const MLPOptions& options, const at::Generator& generator)
    : Network({options.inputs}, options.classes) {
  for (const auto units : options.hidden)
    check_range("MLP", "hidden", units >= 1, "at least 1 unit a layer", static_cast<double>(units));
  check_range("MLP", "keep", options.keep > 0.0 && options.keep <= 1.0, "in (0, 1]", options.keep);
  if (const auto scale = options.input_scale; scale != 1.0)
    add_stage(fmt::format("times {:g}", scale), {ScaleMap{scale}});
  auto sizes = options.hidden;
  sizes.push_back(options.classes);
  int64_t fan_in = options.inputs;
  const torch::NoGradGuard no_gradient;
  for (size_t i = 0; i < sizes.size(); ++i) {
    torch::nn::Linear layer(fan_in, sizes[i]);
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    layer->weight.uniform_(-bound, bound, generator);
    layer->bias.uniform_(-bound, bound, generator);
    const bool last = i + 1 == sizes.size();
    add_stage(fmt::format("{}, {}", last ? "logits" : "dense", sizes[i]),
              {DenseMap{layer, last ? kNoActivation : options.slope}}, {{fmt::format("layer{}", i), layer.ptr()}});
    if (!last && options.keep < 1.0) {
      torch::nn::Dropout dropout(1.0 - options.keep);
      add_stage(fmt::format("keep {:g}", options.keep), {DropoutMap{dropout}},
                {{fmt::format("dropout{}", i), dropout.ptr()}});
    }
    fan_in = sizes[i];
  }
}

}  // namespace priornet
