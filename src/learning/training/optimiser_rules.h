#pragma once

#include <cstddef>
#include <tuple>

#include "learning/training/adamw.h"
#include "learning/training/nadam.h"
#include "learning/training/sgd.h"

// The update rules: a rule is one struct in one header, with its name, settings, coefficients per step, one or two
// moments and the update of one parameter, which a CPU and a GPU run. A new one is listed here and nowhere else.

namespace priornet {

using OptimiserRules = std::tuple<NAdam, Sgd, AdamW>;

/// One of them: its place in the list, and the values of its settings in its order.
struct RuleChoice {
  size_t place;
  const double* settings;
  double weight_decay;
};

/// Calls `work` with that rule.
template <class Work, size_t place = 0>
void with_rule(const RuleChoice& choice, const Work& work) {
  if constexpr (place < std::tuple_size_v<OptimiserRules>) {
    if (choice.place == place)
      work(std::tuple_element_t<place, OptimiserRules>::of(choice.settings, choice.weight_decay));
    else
      with_rule<Work, place + 1>(choice, work);
  }
}

}  // namespace priornet
