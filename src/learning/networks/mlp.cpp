#include "learning/networks/mlp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include "learning/networks/layers.h"
#include "uncertainty/core/checks.h"

namespace priornet {

NetworkPlan mlp_plan(const MLPOptions& options) {
  NetworkPlan plan({options.inputs}, options.classes);
  for (const auto units : options.hidden)
    check_range("MLP", "hidden", units >= 1, "at least 1 unit per layer", static_cast<double>(units));
  check_keep("MLP", "keep", options.keep);
  if (options.input_scale != 1.0) plan.add("", std::make_shared<ScaleLayer>(options.input_scale));
  for (size_t i = 0; i <= options.hidden.size(); ++i) {
    const bool last = i == options.hidden.size();
    DenseOptions dense;
    dense.inputs = plan.shape()[0];
    dense.units = last ? options.classes : options.hidden[i];
    if (last) dense.name = "logits";
    if (!last) dense.slope = options.slope;
    plan.add(fmt::format("layer{}", i), std::make_shared<DenseLayer>(dense));
    if (!last && options.keep < 1.0)
      plan.add(fmt::format("dropout{}", i), std::make_shared<DropoutLayer>(options.keep));
  }
  return plan;
}

NetworkPlan mlp_plan(const ModelOptions& given) {
  if (given.input.size() != 1)
    throw ConfigError(
        fmt::format("model mlp takes rows of numbers, not inputs of shape [{}]", fmt::join(given.input, ", ")));
  MLPOptions options{.inputs = given.input[0], .hidden = {100, 100}, .classes = given.classes};
  options.hidden = given.dense.value_or(options.hidden);
  options.slope = given.slope.value_or(options.slope);
  options.keep = given.keep_dense.value_or(options.keep);
  return mlp_plan(options);
}

}  // namespace priornet
