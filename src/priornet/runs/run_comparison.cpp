#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/eval/score_names.h>
#include <priornet/eval/tensor_span.h>
#include <priornet/runs/run_comparison.h>

namespace priornet {
namespace {

void check_same(const std::string& first, int64_t first_size, const std::string& second, int64_t second_size) {
  if (first != second || first_size != second_size)
    throw ArgumentError(
        fmt::format("compare_runs: both should be of the same sets, found {} ({} rows) and {} ({} rows)", first,
                    first_size, second, second_size));
}

// Calls visit(measure, scores of first, scores of second), high where uncertain, for what both have.
template <class Visit>
void for_each_shared(const SetScores& first, const SetScores& second, const Visit& visit) {
  for (const auto& [name, values] : first.columns)
    if (const auto* other = second.find(name)) visit(name, uncertainty(name, values), uncertainty(name, *other));
}

void compare_misclassification(const Evaluation& first, const Evaluation& second, std::vector<ComparedMeasure>& rows) {
  const auto marks = [](const Evaluation& evaluation) { return evaluation.wrong.to(torch::kUInt8).contiguous(); };
  const auto of_first = marks(first);
  const auto of_second = marks(second);
  for (const auto* evaluation : {&first, &second})
    if (evaluation->inside.errors < 2 || evaluation->inside.errors > evaluation->inside.size - 2) return;
  const auto span_of_marks = [](const torch::Tensor& wrong) {
    return std::span<const uint8_t>(wrong.data_ptr<uint8_t>(), static_cast<size_t>(wrong.numel()));
  };
  for_each_shared(first.inside_scores, second.inside_scores, [&](const auto& measure, const auto& a, const auto& b) {
    rows.push_back(
        {"", measure, delong_paired({span_of(a), span_of_marks(of_first)}, {span_of(b), span_of_marks(of_second)})});
  });
}

}  // namespace

std::vector<ComparedMeasure> compare_runs(const Evaluation& first, const Evaluation& second) {
  check_same(first.inside.name, first.inside.size, second.inside.name, second.inside.size);
  if (first.outside.size() != second.outside.size())
    throw ArgumentError(fmt::format("compare_runs: both should be of the same sets, found {} and {} outside",
                                    first.outside.size(), second.outside.size()));
  std::vector<ComparedMeasure> rows;
  compare_misclassification(first, second, rows);
  for (size_t s = 0; s < first.outside.size(); ++s) {
    const auto& name = first.outside[s].name;
    check_same(name, first.outside[s].size, second.outside[s].name, second.outside[s].size);
    if (first.inside.size < 2 || first.outside[s].size < 2) continue;
    for_each_shared(
        first.outside_scores[s], second.outside_scores[s], [&](const auto& measure, const auto& a, const auto& b) {
          const auto inside_a = uncertainty(measure, *first.inside_scores.find(measure));
          const auto inside_b = uncertainty(measure, *second.inside_scores.find(measure));
          rows.push_back(
              {name, measure,
               delong_paired(PairedScores{{span_of(a), span_of(inside_a)}, {span_of(b), span_of(inside_b)}})});
        });
  }
  return rows;
}

}  // namespace priornet
