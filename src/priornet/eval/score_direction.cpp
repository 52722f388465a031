#include <priornet/eval/score_direction.h>

#include <algorithm>
#include <array>

namespace priornet {

bool is_confidence(std::string_view measure) {
  constexpr std::array<std::string_view, 2> kConfidences = {"max_prob", "precision"};
  return std::find(kConfidences.begin(), kConfidences.end(), measure) != kConfidences.end();
}

}  // namespace priornet
