#include <priornet/eval/ranking.h>

#include <algorithm>
#include <functional>

namespace priornet {

Ranking::Ranking(const ScoreSets& scores)
    : positives_(static_cast<int64_t>(scores.positive.size())),
      negatives_(static_cast<int64_t>(scores.negative.size())) {
  check_scores("Ranking", scores);
  std::vector<double> positive(scores.positive.begin(), scores.positive.end());
  std::vector<double> negative(scores.negative.begin(), scores.negative.end());
  const bool worth_a_thread = positives_ + negatives_ > 100000;
#pragma omp parallel sections num_threads(2) if (worth_a_thread)
  {
#pragma omp section
    std::sort(positive.begin(), positive.end(), std::greater<>());
#pragma omp section
    std::sort(negative.begin(), negative.end(), std::greater<>());
  }

  order_.reserve(positive.size() + negative.size());
  auto p = positive.begin();
  auto n = negative.begin();
  while (p != positive.end() || n != negative.end()) {
    const double score = n == negative.end() || (p != positive.end() && *p >= *n) ? *p : *n;
    for (; p != positive.end() && *p == score; ++p) order_.push_back(kPositive);
    for (; n != negative.end() && *n == score; ++n) order_.push_back(0);
    order_.back() |= kEndOfGroup;
  }
}

}  // namespace priornet
