#include "learning/data/delimited.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <utility>

#include "learning/base/names.h"

namespace priornet {
namespace {

constexpr size_t kPiece = size_t{1} << 18;
constexpr size_t kLongestRow = size_t{1} << 26;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::array kSeparators = {',', ';', '\t', '|'};

bool is_space(char c, char separator) { return c == ' ' || (c == '\t' && separator != '\t'); }

// How often each separator stands in a line, outside quotes.
std::array<int64_t, kSeparators.size()> count_separators(std::string_view line) {
  std::array<int64_t, kSeparators.size()> counts = {};
  bool quoted = false;
  for (const char c : line) {
    quoted ^= c == '"';
    if (quoted) continue;
    for (size_t i = 0; i < kSeparators.size(); ++i) counts[i] += c == kSeparators[i] ? 1 : 0;
  }
  return counts;
}

// The end of the first line, or of a later one if a value in quotes holds line breaks: as in the headers of
// spreadsheets.
size_t end_of_row(std::string_view text) {
  constexpr int kMostLines = 16;  // then the quote is none: 5" inch
  const auto first = std::min(text.find('\n'), text.size());
  bool quoted = false;
  auto begin = size_t{0};
  auto end = first;
  for (int line = 0; line < kMostLines; ++line) {
    quoted ^=
        std::count(text.begin() + static_cast<int64_t>(begin), text.begin() + static_cast<int64_t>(end), '"') % 2 != 0;
    if (!quoted) return end;
    if (end == text.size()) break;
    begin = end + 1;
    end = std::min(text.find('\n', begin), text.size());
  }
  return first;
}

}  // namespace

DelimitedRows::DelimitedRows(ByteStream& bytes) : bytes_(bytes) {
  fill();
  const std::string_view start = buffer_;
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF"))
    throw DataError(fmt::format("{}: is in UTF-16: save the table as UTF-8", name()));
  if (start.starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
  if (at_end_ && start.find_first_not_of(" \t\r\n", begin_) == std::string_view::npos)
    throw DataError(fmt::format("{}: is empty", name()));
  find_separator();
}

// The separator that stands in the first line and equally often in the next ones; of several, the most frequent.
void DelimitedRows::find_separator() {
  constexpr int kLines = 20;
  auto left = std::string_view(buffer_).substr(begin_);
  const auto take_line = [&] {
    const auto end = end_of_row(left);
    const auto line = left.substr(0, end);
    left.remove_prefix(std::min(left.size(), end + 1));
    return line;
  };
  const auto first = count_separators(take_line());
  std::array<int64_t, kSeparators.size()> agreeing = {};
  for (int i = 0; i < kLines && !left.empty(); ++i) {
    const auto counts = count_separators(take_line());
    for (size_t s = 0; s < counts.size(); ++s) agreeing[s] += counts[s] == first[s] ? 1 : 0;
  }
  size_t best = 0;
  for (size_t s = 1; s < kSeparators.size(); ++s)
    if (first[s] > 0 && (first[best] == 0 || std::pair(agreeing[s], first[s]) > std::pair(agreeing[best], first[best])))
      best = s;
  separator_ = kSeparators[best];
}

// Reads another piece of the text, after the part that was not handed over yet.
void DelimitedRows::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const auto kept = buffer_.size();
  if (kept > kLongestRow)
    throw DataError(fmt::format("{}: line {} begins a row of more than {} bytes: a quote may not be closed", name(),
                                next_line_, kLongestRow));
  const auto piece = std::max(kPiece, kept);
  buffer_.resize(kept + piece);
  const auto read = bytes_.read(buffer_.data() + kept, piece);
  buffer_.resize(kept + read);
  at_end_ = read < piece;
}

bool DelimitedRows::next() {
  while (true) {
    while (!parse_row()) {
      if (at_end_ && begin_ >= buffer_.size()) return false;
      if (at_end_) throw DataError(fmt::format("{}: line {} holds a quote that is not closed", name(), next_line_));
      fill();
    }
    line_ = next_line_;
    next_line_ += 1 + breaks_;
    if (values_.size() > 1 || !values_[0].empty() || quoted_) return true;
  }
}

// False if the text in the buffer ends before the row does.
bool DelimitedRows::parse_row() {
  values_.clear();
  unquoted_.clear();
  quoted_ = false;
  breaks_ = 0;
  auto at = begin_;
  if (at >= buffer_.size()) return false;
  while (true) {
    if (!parse_value(at)) return false;
    if (at < buffer_.size() && buffer_[at] == separator_) {
      ++at;
      continue;
    }
    begin_ = std::min(buffer_.size(), at + 1);
    return true;
  }
}

// From `at` to the separator or line end after the value.
bool DelimitedRows::parse_value(size_t& at) {
  const auto size = buffer_.size();
  const auto* text = buffer_.data();
  while (at < size && is_space(text[at], separator_)) ++at;
  if (at < size && text[at] == '"') return parse_quoted(at);
  const auto first = at;
  while (at < size && text[at] != separator_ && text[at] != '\n') ++at;
  if (at == size && !at_end_) return false;
  auto last = at;
  if (last > first && text[last - 1] == '\r' && (at == size || text[at] == '\n')) --last;
  while (last > first && is_space(text[last - 1], separator_)) --last;
  values_.emplace_back(text + first, last - first);
  return true;
}

// If text follows the closing quote, the whole is taken as it is: "5" inch.
bool DelimitedRows::parse_quoted(size_t& at) {
  const std::string_view text = buffer_;
  const auto size = text.size();
  const auto first = at;
  auto from = at + 1;
  std::string joined;
  int64_t breaks = 0;
  while (true) {
    auto end = from;
    while (end < size && text[end] != '"') breaks += text[end++] == '\n' ? 1 : 0;
    if (end == size || (end + 1 == size && !at_end_)) return false;
    at = end + 1;
    if (at == size || text[at] != '"') break;
    joined.append(text.substr(from, at - from));  // including one of the two quotes
    from = at + 1;
  }
  auto rest = at;
  while (rest < size && text[rest] != separator_ && text[rest] != '\n') ++rest;
  if (rest == size && !at_end_) return false;
  const bool goes_on = text.substr(at, rest - at).find_first_not_of(" \t\r") != std::string_view::npos;
  const auto last = text.substr(from, at - 1 - from);
  if (goes_on) {
    values_.push_back(text.substr(first, text.find_last_not_of(" \t\r", rest - 1) + 1 - first));
  } else if (joined.empty()) {
    values_.push_back(last);
  } else {
    unquoted_.push_back(joined.append(last));
    values_.emplace_back(unquoted_.back());
  }
  breaks_ += breaks;
  quoted_ = true;
  at = rest;
  return true;
}

std::vector<std::string> DelimitedRows::names() const {
  std::vector<std::string> names;
  for (const auto& value : values_) names.push_back(printable(value));
  return names;
}

void DelimitedRows::check_length(size_t values_of_first) const {
  if (values_.size() == values_of_first) return;
  throw DataError(fmt::format("{}: line {} has {} {}, line 1 has {}", name(), line_, values_.size(),
                              values_.size() == 1 ? "value" : "values", values_of_first));
}

std::string DelimitedRows::place(size_t column) const {
  return fmt::format("{}: line {}, column {}", name(), line_, column);
}

}  // namespace priornet
