#include <priornet/deploy/serve/answers.h>

namespace priornet::serving {
namespace {

template <typename Value>
void append_rows(std::vector<Value>& to, const std::vector<Value>& from, int64_t begin, int64_t count, int64_t width) {
  if (from.empty()) return;
  to.insert(to.end(), from.begin() + begin * width, from.begin() + (begin + count) * width);
}

}  // namespace

void Answers::append(const Answers& from, int64_t begin, int64_t count) {
  rows += count;
  classes = from.classes;
  append_rows(prediction, from.prediction, begin, count, 1);
  append_rows(probability, from.probability, begin, count, 1);
  append_rows(probabilities, from.probabilities, begin, count, classes);
  append_rows(log_alpha, from.log_alpha, begin, count, classes);
  append_rows(decisions, from.decisions, begin, count, 1);
  scores.resize(from.scores.size());
  for (size_t i = 0; i < scores.size(); ++i) append_rows(scores[i], from.scores[i], begin, count, 1);
}

}  // namespace priornet::serving
