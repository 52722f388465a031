#include <priornet/learning/load_set.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "learning/base/names.h"
#include "learning/sets/path_set.h"
#include "learning/sets/prepared_copy.h"

namespace priornet {
namespace {

using Kind = SetModifier::Kind;

/// One modifier while it is parsed: the words of "KEY=VALUE", and the name it is part of.
struct Word {
  std::string_view name;
  std::string_view text;
  std::string key;
  std::string value;
  bool has_value = false;
};

[[noreturn]] void reject(std::string_view name, std::string_view part, const std::string& wanted) {
  throw ArgumentError(fmt::format("data set '{}': '{}' {}", name, part, wanted));
}

// Separators between double quotes are part of a piece.
std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> pieces(1);
  bool quoted = false;
  for (const char c : text) {
    quoted ^= c == '"';
    if (c == separator && !quoted)
      pieces.emplace_back();
    else
      pieces.back().push_back(c);
  }
  return pieces;
}

// The text inside the quotes of "income, gross"; a doubled quote stands for one.
std::string unquoted(const std::string& text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  std::string plain;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    plain.push_back(text[i]);
    if (text[i] == '"' && text[i + 1] == '"') ++i;
  }
  return plain;
}

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int64_t whole_number(const Word& word, int64_t least) {
  const auto number = to_number<int64_t>(word.value);
  if (!number || *number < least)
    reject(word.name, word.text, fmt::format("should be {}=N with a whole number N from {}", word.key, least));
  return *number;
}

SetModifier size_modifier(const Word& word) {
  constexpr int64_t kLargest = 16'384;
  const auto sides = split_at(word.value, 'x');
  const auto height = to_number<int64_t>(sides.front());
  const auto width = to_number<int64_t>(sides.back());
  if (sides.size() > 2 || !height || !width || std::min(*height, *width) < 1 || std::max(*height, *width) > kLargest)
    reject(word.name, word.text,
           fmt::format("should be size=N or size=HEIGHTxWIDTH, whole numbers from 1 to {}", kLargest));
  return {.kind = Kind::kSize, .height = *height, .width = *width};
}

std::vector<std::string> names_in(const Word& word) {
  auto names = split_at(word.value, '|');
  for (auto& name : names) name = unquoted(name);
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); }))
    reject(word.name, word.text,
           fmt::format("should be {}=A|B|..., names of {}", word.key, word.key == "classes" ? "classes" : "columns"));
  return names;
}

[[noreturn]] void reject_second(const Word& word) {
  reject(word.name, word.text, fmt::format("is a second {}=", word.key));
}

Resampling resampling_of(const Word& word) {
  for (const auto& [name, resampling] : kResamplingNames)
    if (word.value == name) return resampling;
  reject(word.name, word.text, "should be resample=nearest, resample=bilinear or resample=bicubic");
}

bool on_or_off(const Word& word) {
  if (word.value != "on" && word.value != "off")
    reject(word.name, word.text, fmt::format("should be {0}=on or {0}=off", word.key));
  return word.value == "on";
}

PixelGrid grid_of(const Word& word) {
  if (word.value == "centres") return PixelGrid::kCentres;
  if (word.value == "corners") return PixelGrid::kCorners;
  reject(word.name, word.text, "should be grid=centres or grid=corners");
}

uint64_t seed_of(const Word& word) {
  const auto seed = to_number<uint64_t>(word.value);
  if (!seed) reject(word.name, word.text, "should be seed=N with a whole number N from 0");
  return *seed;
}

/// A modifier of its own.
template <Kind kind>
void modify(SetName& name, const Word&) {
  name.modifiers.push_back({.kind = kind});
}

/// One with a number from `least` on.
template <Kind kind, int64_t least>
void modify_by_number(SetName& name, const Word& word) {
  name.modifiers.push_back({.kind = kind, .number = whole_number(word, least)});
}

void modify_size(SetName& name, const Word& word) { name.modifiers.push_back(size_modifier(word)); }

void keep_classes(SetName& name, const Word& word) {
  name.modifiers.push_back({.kind = Kind::kClasses, .names = names_in(word)});
}

void leave_out_classes(SetName& name, const Word& word) {
  name.modifiers.push_back({.kind = Kind::kWithout, .names = {word.value}});
}

/// A setting of the whole name, which may be given once.
template <auto setting, auto parse>
void set(SetName& name, const Word& word) {
  if (name.*setting) reject_second(word);
  name.*setting = parse(word);
}

template <std::vector<std::string> SetName::*columns>
void name_columns(SetName& name, const Word& word) {
  if (!(name.*columns).empty()) reject_second(word);
  name.*columns = names_in(word);
}

void name_label(SetName& name, const Word& word) {
  if (!name.label.empty()) reject_second(word);
  if (!name.is_path) reject(word.name, word.text, "is for a table; the labels of a named set are known");
  name.label = unquoted(word.value);
}

/// How a modifier is written, and what it does to the name of a set.
struct ModifierForm {
  std::string_view key;
  bool takes_value;
  void (*add)(SetName& name, const Word& word);
};

constexpr ModifierForm kForms[] = {{"invert", false, modify<Kind::kInvert>},
                                   {"grey", false, modify<Kind::kGrey>},
                                   {"rgb", false, modify<Kind::kRgb>},
                                   {"size", true, modify_size},
                                   {"resample", true, set<&SetName::resampling, resampling_of>},
                                   {"antialias", true, set<&SetName::antialias, on_or_off>},
                                   {"grid", true, set<&SetName::grid, grid_of>},
                                   {"pad", true, modify_by_number<Kind::kPad, 0>},
                                   {"subset", true, modify_by_number<Kind::kSubset, 1>},
                                   {"seed", true, set<&SetName::seed, seed_of>},
                                   {"first", true, modify_by_number<Kind::kFirst, 1>},
                                   {"last", true, modify_by_number<Kind::kLast, 1>},
                                   {"repeat", true, modify_by_number<Kind::kRepeat, 1>},
                                   {"classes", true, keep_classes},
                                   {"label", true, name_label},
                                   {"drop", true, name_columns<&SetName::drop>},
                                   {"categorical", true, name_columns<&SetName::categorical>},
                                   {"numeric", true, name_columns<&SetName::numeric>},
                                   {"without", true, leave_out_classes}};

// A comma in the name of a file, where the set's path ends.
bool is_part_of_a_path(const Word& word) {
  const auto begin = static_cast<size_t>(word.name.find(word.text));
  for (auto end = begin + word.text.size(); begin != std::string_view::npos; end = word.name.find(',', end + 1)) {
    std::error_code not_there;
    if (std::filesystem::exists(word.name.substr(0, end), not_there)) return true;
    if (end >= word.name.size()) return false;
  }
  return false;
}

[[noreturn]] void reject_unknown(const Word& word) {
  if (is_part_of_a_path(word))
    reject(word.name, word.text,
           "is part of a path, and a path must not hold a comma: make a link without a comma (ln -s) and name that");
  std::vector<std::string> keys;
  for (const auto& form : kForms) keys.push_back(fmt::format("{}{}", form.key, form.takes_value ? "=" : ""));
  const auto nearest = nearest_name(word.key, keys);
  reject(word.name, word.text,
         fmt::format("is not a modifier{} (there are {})",
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest), fmt::join(keys, ", ")));
}

void add(SetName& name, const Word& word) {
  const auto* form =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const auto& one) { return one.key == word.key; });
  if (form == std::end(kForms)) reject_unknown(word);
  if (!form->takes_value && word.has_value) reject(word.name, word.text, fmt::format("should be {} alone", word.key));
  if (form->takes_value && word.value.empty())
    reject(word.name, word.text, fmt::format("should be {}=VALUE", word.key));
  form->add(name, word);
}

bool has(const SetName& name, Kind kind) {
  return std::any_of(name.modifiers.begin(), name.modifiers.end(), [&](const auto& m) { return m.kind == kind; });
}

}  // namespace

ResizeOptions SetName::resize_to(int64_t height, int64_t width, const ResizeOptions& otherwise) const {
  return {height, width, resampling.value_or(otherwise.resampling), antialias.value_or(otherwise.antialias),
          grid.value_or(otherwise.grid)};
}

SetName parse_set_name(std::string_view text) {
  const auto pieces = split_at(text, ',');
  SetName name;
  name.text = text;
  name.is_path = pieces[0].find_first_of("/.") != std::string::npos;
  name.set = name.is_path ? pieces[0] : pieces[0].substr(0, pieces[0].find(':'));
  if (name.set.empty()) reject(text, pieces[0], "should be a name from the catalogue or a path");
  if (name.set.size() < pieces[0].size()) {
    name.split = pieces[0].substr(name.set.size() + 1);
    if (name.split.empty()) reject(text, pieces[0], "should name a split after the colon");
  }
  for (auto piece = pieces.begin() + 1; piece != pieces.end(); ++piece) {
    const auto equals = piece->find('=');
    const bool has_value = equals != std::string::npos;
    add(name, {text, *piece, piece->substr(0, equals), has_value ? piece->substr(equals + 1) : "", has_value});
  }
  if (name.seed && !has(name, Kind::kSubset)) reject(text, fmt::format("seed={}", *name.seed), "needs a subset=N");
  return name;
}

namespace {

[[noreturn]] void fail_as_absent(const CatalogueEntry& entry, const SetPart& part, const LoadOptions& options) {
  const auto remedy = fmt::format("priornet data get {} gets it", entry.name);
  throw AbsentSet(fmt::format("{} ({}) is not in {}: {}; by hand, {}", entry.name, part.name, options.root.string(),
                              remedy, layout_by_hand(entry, options.root)),
                  remedy);
}

Dataset load_part(const CatalogueEntry& entry, const SetPart& part, const SetName& name, const LoadOptions& options) {
  if (part.choose) {
    const auto location = find_location(entry, part, options.root);
    if (!location) fail_as_absent(entry, part, options);
    return read_chosen_rows(part, *location, options);
  }
  const auto resize = part.resize ? resize_on_reading(name, part.resize) : std::nullopt;
  const auto name_of_copy = copy_name(entry, part, resize);
  const auto location = find_location(entry, part, options.root);
  if (!location) {
    auto copy = copy_without_source(name_of_copy, options);
    if (!copy || copy->size() != part.count) fail_as_absent(entry, part, options);
    return std::move(*copy);
  }
  return read_through_copy({name_of_copy, *location, source_files(part, *location), part.count,
                            [&] { return part.read(*location, resize); }},
                           options);
}

Dataset load_named_set(const SetName& name, const LoadOptions& options) {
  if (!in_catalogue(name.set) && name.split.empty() && is_own_set(name.set, options))
    return load_own_set(name, options);
  const auto& entry = entry_named(name.set);
  const auto& split = split_named(entry, name.split);
  bool is_resized = false;
  std::map<std::string, Dataset> parts;
  std::vector<Dataset> pieces;
  for (const auto& rows : split.rows) {
    const auto& part = part_named(entry, rows.part);
    auto loaded = parts.find(part.name);
    if (loaded == parts.end()) loaded = parts.emplace(part.name, load_part(entry, part, name, options)).first;
    pieces.push_back(slice(loaded->second, rows.first, rows.count));
    is_resized = part.resize.has_value();
  }
  return modified(concatenate(pieces), name, is_resized, options);
}

}  // namespace

Dataset read_chosen_rows(const SetPart& part, const std::filesystem::path& location, const LoadOptions& options) {
  const auto whole = load_set(part.chosen_from, options);
  const auto rows = part.choose(location, whole);
  if (rows.size(0) != part.count)
    throw DataError(fmt::format("{}: lists {} images, but should list {}", (location / part.files.front()).string(),
                                rows.size(0), part.count));
  return select(whole, rows);
}

Dataset load_set(const SetName& name, const LoadOptions& options) {
  try {
    auto set = name.is_path ? load_path_set(name, options) : load_named_set(name, options);
    set.name = name.text;
    return set;
  } catch (const std::filesystem::filesystem_error& error) {
    throw DataError(fmt::format("{}: cannot be read: {}", error.path1().string(), error.code().message()));
  }
}

Dataset load_set(const std::string& name, const LoadOptions& options) {
  return load_set(parse_set_name(name), options);
}

Dataset load_set_for_shape(const std::string& name, torch::IntArrayRef shape, const LoadOptions& options) {
  auto parsed = parse_set_name(name);
  try {
    return load_set(parsed, options);
  } catch (const SeveralSizes&) {
    if (shape.size() != 3) throw;
    parsed.modifiers.push_back({.kind = Kind::kSize, .height = shape[1], .width = shape[2]});
    auto set = load_set(parsed, options);
    if (options.notes != nullptr)
      options.notes->push_back(
          fmt::format("{}: its images have several sizes; they are resized to {}x{}, which the "
                      "model takes",
                      name, shape[1], shape[2]));
    return set;
  }
}

bool is_same_set(const std::string& one, const std::string& other) {
  const auto path = [](const std::string& name) { return name.substr(0, name.find(',')); };
  std::error_code not_there;
  return one == other || (one.substr(path(one).size()) == other.substr(path(other).size()) &&
                          std::filesystem::equivalent(path(one), path(other), not_there));
}

}  // namespace priornet
