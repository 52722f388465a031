#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/catalogue.h>
#include <priornet/data/catalogue/class_overlap.h>
#include <priornet/data/catalogue/modifiers.h>
#include <priornet/data/transforms/pixels.h>
#include <priornet/data/transforms/random_subset.h>

#include <algorithm>

namespace priornet {
namespace {

using Kind = SetModifier::Kind;
using Names = std::vector<std::string>;

[[noreturn]] void fail(const SetName& name, const std::string& what) {
  throw DataError(fmt::format("data set '{}': {}", name.text, what));
}

void need_labels(const Dataset& set, const SetName& name, const char* modifier) {
  if (!set.has_labels()) fail(name, fmt::format("{}= needs labels, and the set has none", modifier));
}

Dataset with_images(Dataset set, torch::Tensor images) {
  set.inputs = std::move(images);
  return set;
}

void check_count(const Dataset& set, const SetName& name, const char* modifier, int64_t count) {
  if (count > set.size())
    fail(name, fmt::format("{}={} asks for more rows than the {} there are", modifier, count, set.size()));
}

Dataset only_classes(const Dataset& set, const SetName& name, const Names& wanted) {
  need_labels(set, name, "classes");
  for (const auto& one : wanted)
    if (std::find(set.class_names.begin(), set.class_names.end(), one) == set.class_names.end())
      fail(name, fmt::format("there is no class {} (there are {})", one, fmt::join(set.class_names, ", ")));
  Names others;
  for (const auto& one : set.class_names)
    if (std::find(wanted.begin(), wanted.end(), one) == wanted.end()) others.push_back(one);
  return others.empty() ? set : without_classes(set, others);
}

// From the catalogue where it knows them, for the other set need not be there.
Names class_names_of(const std::string& other, const LoadOptions& options) {
  const auto other_name = parse_set_name(other);
  if (!other_name.is_path) {
    const auto& entry = find_entry(other_name.set);
    const auto& part = find_part(entry, find_split(entry, other_name.split).rows.front().part);
    if (!part.class_names.empty()) return part.class_names;
  }
  return load_set(other_name, options).class_names;
}

Dataset without_overlap(const Dataset& set, const SetName& name, const std::string& other, const LoadOptions& options) {
  need_labels(set, name, "without");
  const auto shared = overlapping_classes(set.class_names, class_names_of(other, options));
  if (shared.size() == set.class_names.size()) fail(name, fmt::format("without={} leaves no class", other));
  return shared.empty() ? set : without_classes(set, shared);
}

Dataset modified(Dataset set, const SetName& name, const SetModifier& modifier, const LoadOptions& options) {
  const auto n = modifier.number;
  switch (modifier.kind) {
    case Kind::kInvert:
      return with_images(set, invert(set.inputs));
    case Kind::kGrey:
      return with_images(set, to_grey(set.inputs));
    case Kind::kRgb:
      return with_images(set, to_rgb(set.inputs));
    case Kind::kSize:
      return with_images(set, resize(set.inputs, name.resize_to(modifier.height, modifier.width)));
    case Kind::kPad:
      return with_images(set, pad(set.inputs, Padding{n, n, n, n, 0}));
    case Kind::kSubset:
      check_count(set, name, "subset", n);
      return random_subset(set, n, name.seed.value_or(0));
    case Kind::kFirst:
      check_count(set, name, "first", n);
      return slice(set, 0, n);
    case Kind::kLast:
      check_count(set, name, "last", n);
      return slice(set, set.size() - n, n);
    case Kind::kClasses:
      return only_classes(set, name, modifier.names);
    case Kind::kWithout:
      return without_overlap(set, name, modifier.names.front(), options);
  }
  return set;
}

bool is_for_images(Kind kind) {
  return kind == Kind::kInvert || kind == Kind::kGrey || kind == Kind::kRgb || kind == Kind::kSize ||
         kind == Kind::kPad;
}

}  // namespace

Dataset modified(Dataset set, const SetName& name, bool is_resized, const LoadOptions& options) {
  set.name = name.text;
  bool has_size = is_resized;
  for (const auto& modifier : name.modifiers) {
    const bool is_size = modifier.kind == Kind::kSize;
    has_size = has_size || is_size;
    if (is_size && is_resized) {  // by the reader; a second size is a size again
      is_resized = false;
      continue;
    }
    if (is_for_images(modifier.kind) && !set.has_images())
      fail(name, "invert, grey, rgb, size= and pad= are for images, and the set holds numbers");
    set = modified(std::move(set), name, modifier, options);
  }
  if ((name.resampling || name.antialias) && !has_size) fail(name, "resample= and antialias= need a size=");
  return set;
}

std::optional<ResizeOptions> resize_on_reading(const SetName& name, const std::optional<ResizeOptions>& otherwise) {
  const auto fallback = otherwise.value_or(ResizeOptions{});
  for (const auto& modifier : name.modifiers)
    if (modifier.kind == Kind::kSize) return name.resize_to(modifier.height, modifier.width, fallback);
  if (!otherwise) return std::nullopt;
  return name.resize_to(otherwise->height, otherwise->width, fallback);
}

}  // namespace priornet
