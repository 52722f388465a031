#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/formats/word_net.h>

#include <algorithm>
#include <set>

namespace priornet {
namespace {

// Calls take(line, number from 1) for every line that is not empty.
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) take(line, number);
  }
}

std::string_view take_field(std::string_view& line) {
  const auto end = std::min(line.find('\t'), line.size());
  const auto field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

}  // namespace

bool is_wordnet_id(std::string_view text) {
  return text.size() == 9 && text.front() == 'n' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> parse_wnids(const std::string& name, std::string_view text) {
  std::vector<std::string> ids;
  std::set<std::string_view> seen;
  for_each_line(text, [&](std::string_view line, int64_t number) {
    if (!is_wordnet_id(line))
      throw DataError(fmt::format("{}: line {} should be a WordNet id, as n02123045, found {:?}", name, number, line));
    if (!seen.insert(line).second) throw DataError(fmt::format("{}: line {} repeats {}", name, number, line));
    ids.emplace_back(line);
  });
  return ids;
}

std::map<std::string, std::string> parse_annotations(const std::string& name, std::string_view text) {
  std::map<std::string, std::string> id_of;
  for_each_line(text, [&](std::string_view line, int64_t number) {
    auto rest = line;
    const auto image = take_field(rest);
    const auto id = take_field(rest);
    if (image.empty() || !is_wordnet_id(id))
      throw DataError(fmt::format("{}: line {} should hold an image and a WordNet id with a tab between, found {:?}",
                                  name, number, line));
    if (!id_of.try_emplace(std::string(image), id).second)
      throw DataError(fmt::format("{}: line {} annotates {} again", name, number, image));
  });
  return id_of;
}

std::map<std::string, std::string> parse_words(std::string_view text, const std::vector<std::string>& wanted) {
  const std::set<std::string_view> ids(wanted.begin(), wanted.end());
  std::map<std::string, std::string> words;
  for_each_line(text, [&](std::string_view line, int64_t) {
    const auto id = take_field(line);
    if (ids.contains(id) && !line.empty()) words.try_emplace(std::string(id), line);
  });
  return words;
}

}  // namespace priornet
