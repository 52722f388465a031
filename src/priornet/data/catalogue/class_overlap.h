#pragma once

#include <priornet/data/dataset.h>

#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// The WordNet id that a class's name begins with, "n02123045" of "n02123045 tabby, tabby cat"; empty if it has none.
std::string_view wordnet_id(std::string_view class_name);

/// The classes of the first set that are the same as, or a kind of, a class of the other, in their order: by equal
/// names, and by the list of class_kinds.h ("tabby" is a kind of "cat").
/// Names are compared without case, spaces, underscores, hyphens and a plural's ending. A name may be several with
/// commas between, and may begin with its WordNet id: "n02123045 tabby, tabby cat"; one in common is enough.
/// Names are all this goes by: two sets that call their classes "0", "1", ... overlap in all of them.
std::vector<std::string> overlapping_classes(const std::vector<std::string>& class_names,
                                             const std::vector<std::string>& other_class_names);

/// The set without the rows of those classes; the labels of the others close up.
/// ArgumentError if the set has no labels or no class of such a name.
Dataset without_classes(const Dataset& set, const std::vector<std::string>& classes);

}  // namespace priornet
