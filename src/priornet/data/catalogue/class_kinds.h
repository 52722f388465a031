#pragma once

#include <span>
#include <string_view>

// What we know of classes that are the same thing under other names: a short list made for the sets of the catalogue,
// not a dictionary.

namespace priornet {

/// Two names of one thing.
struct SameClass {
  std::string_view name;
  std::string_view other;
};

/// Whatever belongs to `name` belongs to `of` too; not the other way round.
struct KindOfClass {
  std::string_view wordnet;  ///< the id of its WordNet synset, "n02123045"; empty where no set uses one
  std::string_view name;
  std::string_view of;
};

std::span<const SameClass> same_classes();
std::span<const KindOfClass> kinds_of_classes();

}  // namespace priornet
