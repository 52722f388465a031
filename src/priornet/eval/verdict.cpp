#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/data/catalogue/class_overlap.h>
#include <priornet/eval/set_comparison.h>

#include <algorithm>

namespace priornet {
namespace {

constexpr double kSeparable = 0.95;
constexpr double kHard = 0.7;
constexpr size_t kNamesShown = 8;

// 100.0 means all of them.
std::string percent(double auroc) { return fmt::format("{:.1f}", auroc < 1 ? std::min(100 * auroc, 99.9) : 100.0); }

std::string with_name(const StatisticAuroc& statistic) {
  return fmt::format("{} ({})", percent(statistic.auroc), statistic.name);
}

std::string trivial_sentence(const SetComparison& comparison) {
  const auto& best = comparison.strongest_statistic();
  if (best.auroc >= kSeparable) {
    const auto* advice = comparison.out_was_inverted ? "; leave --invert out" : "; try --invert";
    return fmt::format("separable by {} alone: {}{}", best.name, percent(best.auroc),
                       comparison.opposite_polarity ? advice : "");
  }
  if (best.auroc >= kHard)
    return fmt::format("partly told apart by {} alone: {}; a detector should do much better", best.name,
                       percent(best.auroc));
  return "hard to tell by trivial statistics: at most " + with_name(best);
}

std::string polarity_sentence(const SetComparison& comparison) {
  const bool out_is_light = comparison.statistics[0].out_median > comparison.statistics[0].in_median;
  return fmt::format(
      "OUT has the opposite polarity: {}; the other way round trivial statistics reach at most {}",
      out_is_light ? "dark on light where IN is light on dark" : "light on dark where IN is dark on light",
      with_name(strongest(comparison.inverted_statistics)));
}

std::string examples(const std::vector<DuplicatePair>& pairs) {
  return fmt::format("for example number {} of OUT and {} of IN, from 0", pairs[0].out, pairs[0].in);
}

// "12 inputs", "1 input"
std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "tabby" of "n02123045 tabby, tabby cat".
std::string first_name(std::string_view class_name) {
  if (const auto id = wordnet_id(class_name).size(); id > 0 && class_name.size() > id + 1)
    class_name.remove_prefix(id + 1);
  return std::string(class_name.substr(0, class_name.find(',')));
}

std::string listed(const std::vector<std::string>& classes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(classes.size(), kNamesShown); ++i) names.push_back(first_name(classes[i]));
  auto text = fmt::format("{}", fmt::join(names, ", "));
  if (classes.size() > kNamesShown) text += fmt::format(" and {} more", classes.size() - kNamesShown);
  return text;
}

std::string are_of(std::string_view set, const std::vector<std::string>& classes) {
  return classes.size() == 1 ? fmt::format("is one of {}'s, or a kind of one", set)
                             : fmt::format("are {}'s, or kinds of them", set);
}

// "cifar10" of "cifar10:test,grey": what the modifier without= takes. A path may hold a colon.
std::string set_of(const std::string& name) {
  const auto set = name.substr(0, name.find(','));
  return set.find_first_of("/.") == std::string::npos ? set.substr(0, set.find(':')) : set;
}

void add_class_sentences(const SetComparison& comparison, std::vector<std::string>& to) {
  const auto& in = comparison.in;
  const auto& out = comparison.out;
  if (in.num_classes == 0 || out.num_classes == 0) {
    to.push_back(fmt::format("{} no class names: whether the sets share classes cannot be seen",
                             in.num_classes + out.num_classes == 0 ? "the sets have"
                             : out.num_classes == 0                ? "OUT has"
                                                                   : "IN has"));
    return;
  }
  const auto& shared = comparison.out_classes_of_in;
  const auto& covered = comparison.in_classes_of_out;
  if (static_cast<int64_t>(shared.size()) == out.num_classes)
    to.push_back(fmt::format("every class of OUT ({}) is one of IN's: the same classes, in another domain at most",
                             listed(shared)));
  else if (!shared.empty())
    to.push_back(fmt::format("{} of OUT's {} classes {}: {}; {},without={} leaves {} out", shared.size(),
                             out.num_classes, are_of("IN", shared), listed(shared), out.name, set_of(in.name),
                             shared.size() == 1 ? "it" : "them"));
  if (covered.size() > shared.size())
    to.push_back(fmt::format("{} of IN's {} classes {}: {}", covered.size(), in.num_classes, are_of("OUT", covered),
                             listed(covered)));
}

}  // namespace

std::vector<std::string> verdict(const SetComparison& comparison) {
  std::vector<std::string> sentences{trivial_sentence(comparison)};
  if (comparison.opposite_polarity) sentences.push_back(polarity_sentence(comparison));
  const auto& exact = comparison.exact_duplicates;
  const auto& near = comparison.near_duplicates;
  if (!exact.empty())
    sentences.push_back(fmt::format("{} of OUT {} also in IN ({})", counted(exact.size(), "input"),
                                    exact.size() == 1 ? "is" : "are", examples(exact)));
  if (!near.empty())
    sentences.push_back(fmt::format("{}{} of OUT nearly {} one of IN ({})", exact.empty() ? "" : "a further ",
                                    counted(near.size(), "image"), near.size() == 1 ? "repeats" : "repeat",
                                    examples(near)));
  for (const auto& [set, name] : {std::pair(&comparison.in, "IN"), std::pair(&comparison.out, "OUT")})
    if (set->repeated > 0)
      sentences.push_back(
          fmt::format("{} holds {} more than once", name, counted(static_cast<size_t>(set->repeated), "input")));
  add_class_sentences(comparison, sentences);
  if (!comparison.matching.empty())
    sentences.push_back(
        fmt::format("OUT was changed to match IN ({}): that is part of every number", comparison.matching));
  return sentences;
}

}  // namespace priornet
