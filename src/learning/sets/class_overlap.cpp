#include <priornet/learning/class_overlap.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "learning/base/names.h"

namespace priornet {
namespace {

constexpr SameClass kSame[] = {
    {"zero", "0"},
    {"one", "1"},
    {"two", "2"},
    {"three", "3"},
    {"four", "4"},
    {"five", "5"},
    {"six", "6"},
    {"seven", "7"},
    {"eight", "8"},
    {"nine", "9"},
    {"car", "automobile"},
    {"aeroplane", "airplane"},
    {"plane", "airplane"},
    {"motorbike", "motorcycle"},
    {"bike", "bicycle"},
    {"sofa", "couch"},
    {"tv", "television"},
    {"bell pepper", "sweet pepper"},
    {"computer keyboard", "keyboard"},
    // Irregular plurals.
    {"buses", "bus"},
    {"geese", "goose"},
    {"men", "man"},
    {"mice", "mouse"},
    {"wolves", "wolf"},
    {"women", "woman"},
};

// A kind of a class is what a person who learnt the class would call by its name. Left out on purpose, since that
// person would not: big cats (cat), wolves and foxes (dog), gazelles (deer), gondolas (ship), buses, streetcars and
// tractors (truck), alligators (crocodile), bison (cattle), missiles (rocket), seashores (sea).
constexpr KindOfClass kKinds[] = {
    // Classes of TinyImageNet that are classes of CIFAR-10: 22 of its 200.
    {"n02123045", "tabby", "cat"},
    {"n02123394", "Persian cat", "cat"},
    {"n02124075", "Egyptian cat", "cat"},
    {"n02085620", "Chihuahua", "dog"},
    {"n02094433", "Yorkshire terrier", "dog"},
    {"n02099601", "golden retriever", "dog"},
    {"n02099712", "Labrador retriever", "dog"},
    {"n02106662", "German shepherd", "dog"},
    {"n02113799", "standard poodle", "dog"},
    {"n01641577", "bullfrog", "frog"},
    {"n01644900", "tailed frog", "frog"},
    {"n01855672", "goose", "bird"},
    {"n02002724", "black stork", "bird"},
    {"n02056570", "king penguin", "bird"},
    {"n02058221", "albatross", "bird"},
    {"n02814533", "beach wagon", "automobile"},
    {"n03100240", "convertible", "automobile"},
    {"n03670208", "limousine", "automobile"},
    {"n04285008", "sports car", "automobile"},
    {"n03796401", "moving van", "truck"},
    {"n03977966", "police van", "truck"},
    {"n03662601", "lifeboat", "ship"},
    // A class of CIFAR-100 that is one of CIFAR-10. Its authors kept pickups out of CIFAR-10's trucks, so the images do
    // not repeat, but a network that learnt "truck" is not wrong to call a pickup a truck.
    {"", "pickup truck", "truck"},
    // Classes of TinyImageNet that are classes of CIFAR-100, beside those of equal names.
    {"n01443537", "goldfish", "aquarium fish"},
    {"n01742172", "boa constrictor", "snake"},
    {"n01774384", "black widow", "spider"},
    {"n01774750", "tarantula", "spider"},
    {"n01983481", "American lobster", "lobster"},
    {"n01984695", "spiny lobster", "lobster"},
    {"n02132136", "brown bear", "bear"},
    {"n02165456", "ladybug", "beetle"},
    {"n02279972", "monarch butterfly", "butterfly"},
    {"n02281406", "sulphur butterfly", "butterfly"},
    {"n02403003", "ox", "cattle"},
    {"n02437312", "Arabian camel", "camel"},
    {"n02504458", "African elephant", "elephant"},
    {"n02823428", "beer bottle", "bottle"},
    {"n03937543", "pill bottle", "bottle"},
    {"n03983396", "pop bottle", "bottle"},
    {"n02917067", "bullet train", "train"},
    {"n03201208", "dining table", "table"},
    {"n03902125", "pay-phone", "telephone"},
    {"n04099969", "rocking chair", "chair"},
    {"n04146614", "school bus", "bus"},
    {"n04487081", "trolleybus", "bus"},
    {"n04311004", "steel arch bridge", "bridge"},
    {"n04366367", "suspension bridge", "bridge"},
    {"n04532670", "viaduct", "bridge"},
    {"n09193705", "alp", "mountain"},
};

}  // namespace

std::span<const SameClass> same_classes() { return kSame; }
std::span<const KindOfClass> kinds_of_classes() { return kKinds; }

namespace {

using Names = std::unordered_set<std::string>;

std::string singular(std::string name) {
  const auto drop = [&](size_t ending, const char* instead) { name.replace(name.size() - ending, ending, instead); };
  for (const auto* ending : {"ches", "shes", "sses", "xes"})
    if (name.ends_with(ending)) return drop(2, ""), name;
  if (name.size() > 4 && name.ends_with("ies")) return drop(3, "y"), name;
  const bool stays = name.size() < 4 || name.ends_with("ss") || name.ends_with("us") || name.ends_with("is");
  if (name.ends_with("s") && !stays) drop(1, "");
  return name;
}

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '\'') letters += lower_case(c);
  return singular(letters);
}

// One name per thing, whichever of its names is given.
std::string canonical(std::string_view name) {
  static const auto table = [] {
    std::unordered_map<std::string, std::string> names;
    for (const auto& same : same_classes()) names.emplace(plain(same.name), plain(same.other));
    return names;
  }();
  auto key = plain(name);
  const auto found = table.find(key);
  return found == table.end() ? key : found->second;
}

// Names and ids of the classes that these are kinds of.
const std::unordered_map<std::string, std::string>& kinds() {
  static const auto table = [] {
    std::unordered_map<std::string, std::string> all;
    for (const auto& kind : kinds_of_classes()) {
      all.emplace(canonical(kind.name), canonical(kind.of));
      if (!kind.wordnet.empty()) all.emplace(kind.wordnet, canonical(kind.of));
    }
    return all;
  }();
  return table;
}

// The id, if there is one, and every name between commas.
std::vector<std::string> names_of(std::string_view class_name) {
  std::vector<std::string> names;
  if (const auto id = wordnet_id(class_name); !id.empty()) {
    names.emplace_back(id);
    class_name.remove_prefix(std::min(class_name.size(), id.size() + 1));
  }
  while (!class_name.empty()) {
    const auto comma = std::min(class_name.find(','), class_name.size());
    if (auto name = canonical(class_name.substr(0, comma)); !name.empty()) names.push_back(std::move(name));
    class_name.remove_prefix(std::min(comma + 1, class_name.size()));
  }
  return names;
}

bool is_among(const std::string& name, const Names& others) {
  if (others.contains(name)) return true;
  const auto kind = kinds().find(name);
  return kind != kinds().end() && others.contains(kind->second);
}

}  // namespace

std::string_view wordnet_id(std::string_view class_name) {
  const auto id = class_name.substr(0, 9);
  const bool is_id = id.size() == 9 && id[0] == 'n' &&
                     std::all_of(id.begin() + 1, id.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_id && (class_name.size() == 9 || class_name[9] == ' ') ? id : std::string_view();
}

std::vector<std::string> overlapping_classes(const std::vector<std::string>& class_names,
                                             const std::vector<std::string>& other_class_names) {
  Names others;
  for (const auto& other : other_class_names)
    for (auto& name : names_of(other)) others.insert(std::move(name));
  std::vector<std::string> overlap;
  for (const auto& class_name : class_names) {
    const auto names = names_of(class_name);
    if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_among(name, others); }))
      overlap.push_back(class_name);
  }
  return overlap;
}

Dataset without_classes(const Dataset& set, const std::vector<std::string>& classes) {
  if (!set.has_labels()) throw ArgumentError(fmt::format("without_classes: {} has no labels", set.name));
  std::vector<std::string> names;
  auto numbers = torch::full({set.num_classes()}, -1, torch::kInt64);
  for (int64_t old = 0; old < set.num_classes(); ++old) {
    const auto& name = set.class_names[old];
    if (std::find(classes.begin(), classes.end(), name) != classes.end()) continue;
    numbers[old] = static_cast<int64_t>(names.size());
    names.push_back(name);
  }
  for (const auto& name : classes)
    if (std::find(set.class_names.begin(), set.class_names.end(), name) == set.class_names.end())
      throw ArgumentError(fmt::format("without_classes: {} has no class \"{}\"", set.name, name));
  const auto labels = numbers.index_select(0, set.labels);
  const auto rows = labels.ge(0).nonzero().flatten();
  auto kept = select(set, rows);
  kept.labels = labels.index_select(0, rows);
  kept.class_names = std::move(names);
  return kept;
}

}  // namespace priornet
