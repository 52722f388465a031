#pragma once

#include <priornet/learning/dataset.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

// What we know about classes that are the same thing under other names: a short list made for the sets of the
// catalogue, not a dictionary.

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

/// The WordNet id that a class's name begins with, "n02123045" of "n02123045 tabby, tabby cat"; empty if it has none.
std::string_view wordnet_id(std::string_view class_name);

/// The classes of the first set that are the same as, or a kind of, a class of the other, in their order: by equal
/// names, and by a list of kinds ("tabby" is a kind of "cat").
/// Names are compared without case, spaces, underscores, hyphens and a plural's ending. A name may be several with
/// commas between, and may begin with its WordNet id: "n02123045 tabby, tabby cat"; one in common is enough.
/// Names are all this goes by: two sets that call their classes "0", "1", ... overlap in all of them.
std::vector<std::string> overlapping_classes(const std::vector<std::string>& class_names,
                                             const std::vector<std::string>& other_class_names);

/// The set without the rows of those classes; the other classes are renumbered without gaps. ArgumentError if the set
/// has no labels, or no class of such a name.
Dataset without_classes(const Dataset& set, const std::vector<std::string>& classes);

}  // namespace priornet
