#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// The text files of TinyImageNet. Lines may end in \n or \r\n; empty ones are passed over. `name` opens messages.

namespace priornet {

/// 'n' and eight digits, which name a meaning in WordNet: n02123045.
bool is_wordnet_id(std::string_view text);

/// wnids.txt: one id a line. DataError for anything else, or an id that stands there twice.
std::vector<std::string> parse_wnids(const std::string& name, std::string_view text);

/// val_annotations.txt: image and id, then a box that is of no use here, with tabs between. By image.
std::map<std::string, std::string> parse_annotations(const std::string& name, std::string_view text);

/// words.txt: id, a tab, and what it means. The ids that are wanted, by id; what is no such line is passed over.
std::map<std::string, std::string> parse_words(std::string_view text, const std::vector<std::string>& wanted);

}  // namespace priornet
