#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The text files of TinyImageNet. Lines may end in \n or \r\n; empty ones are skipped. `name` begins messages.

namespace priornet {

/// 'n' and eight digits, which name a meaning in WordNet: n02123045.
bool is_wordnet_id(std::string_view text);

/// wnids.txt: one id per line. DataError for anything else, or for an id that stands there twice.
std::vector<std::string> parse_wnids(const std::string& name, std::string_view text);

/// val_annotations.txt: image and id, then a box that is not used here, with tabs between. By image.
std::map<std::string, std::string> parse_annotations(const std::string& name, std::string_view text);

/// words.txt: id, a tab, and its meaning. The wanted ids, by id; other lines are skipped.
std::map<std::string, std::string> parse_words(std::string_view text, const std::vector<std::string>& wanted);

enum class TinyImageNetPart {
  kTrain,       ///< 100,000 images, 500 per class
  kValidation,  ///< 10,000 images, 50 per class
  kTest,        ///< 10,000 images, whose labels were never published
};

/// TinyImageNet from its folder or its .zip, or from a folder or archive that holds the folder tiny-imagenet-200: uint8
/// [N, 3, 64, 64] (grey images become RGB), in the order of their names with numbers as numbers. Classes stand in the
/// order of wnids.txt and are named by words.txt: "n02123045 tabby, tabby cat". Without wnids.txt they are those of the
/// images, sorted; without words.txt their names are the WordNet ids. A validation set without val_annotations.txt may
/// have one folder per class. DataError if the part is missing, an image is damaged or has no class, an annotated image
/// is missing, or a line of a text file has another form.
Dataset read_tiny_imagenet(const std::filesystem::path& root, TinyImageNetPart part);

}  // namespace priornet
