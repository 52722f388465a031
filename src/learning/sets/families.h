#pragma once

#include <priornet/learning/catalogue.h>
#include <priornet/learning/dataset.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "learning/data/byte_stream.h"

// The published sets: the entries of the catalogue, one function per set or family, and the readers of their files. The
// readers of SVHN and LSUN, which also read files given by path, are declared in path_set.h.

namespace priornet {

std::vector<CatalogueEntry> mnist_like_sets();  ///< mnist, fashion-mnist, kmnist
CatalogueEntry emnist_set();
std::vector<CatalogueEntry> cifar_sets();
CatalogueEntry cifar10h_set();
CatalogueEntry svhn_set();
CatalogueEntry omniglot_set();
CatalogueEntry semeion_set();
CatalogueEntry tiny_imagenet_set();
CatalogueEntry lsun_set();
CatalogueEntry openood_set();

/// "0", ..., "9".
std::vector<std::string> digit_names();

/// A split that is a whole part and has its name.
Split whole_part(const SetPart& part, std::string from);

// IDX, the format of MNIST and its relatives: a big-endian header of type, rank and sizes, then the values.

/// An IDX file of bytes, uint8 of rank 1 to 4, read straight into the tensor's memory. DataError that names the stream,
/// the byte and what was expected there: another magic number, type or rank, fewer or more bytes than the header says.
torch::Tensor read_idx(ByteStream& bytes);

/// A set in two IDX files.
struct IdxSet {
  std::string images;                    ///< the file's name, without .gz: [N, H, W]
  std::string labels;                    ///< the file's name, without .gz: [N]
  std::vector<std::string> class_names;  ///< one per label
  int64_t first_label = 0;               ///< the label of the first class: 1 for EMNIST's letters
  bool transposed = false;               ///< the images are transposed, as EMNIST's are
};

/// Reads a set from the folder or archive that holds its two files. Images uint8 [N, 1, H, W]. DataError also if a file
/// is missing, if there are not as many labels as images, or if a label is not one of the classes: that error names the
/// file, the byte and the row.
Dataset read_idx_set(const std::filesystem::path& root, const IdxSet& set);

/// CIFAR's binary version: files of records, each of label bytes and then 32x32 pixels of red, of green, of blue.
struct CifarSet {
  std::vector<std::string> files;        ///< names, in the order their rows are to have
  int64_t label_bytes = 1;               ///< CIFAR-10: 1; CIFAR-100: 2, coarse and fine; the last is the label
  std::vector<std::string> class_names;  ///< one per label
};

/// Reads a set from the folder or archive that holds its files. Images uint8 [N, 3, 32, 32]. DataError that names file,
/// byte and record: a file that is missing, empty, ends within a record or holds another number of records than the
/// first (the format has no header to tell a short file by), or a label that is not one of the classes.
Dataset read_cifar(const std::filesystem::path& root, const CifarSet& set);

/// How many people gave each image of cifar10:test each label (CIFAR-10H; Peterson et al., 2019): rows of numbers
/// [10000, 10] in the order of the test set, one column per class, from cifar10h-counts.npy, int64. DataError, which
/// begins with the file's name, for another array, a negative count, or an image without labels.
Dataset read_cifar10h(const std::filesystem::path& root);

/// SEMEION: 16x16 black and white digits, one per line of semeion.data, in a folder, an archive or as the file itself.
/// A line holds 256 pixels, 0 or 1 (with or without decimals), and 10 flags: the flag of the digit is 1. Images uint8
/// [N, 1, 16, 16] of 0 and 255, classes "0" to "9". DataError that names file and line (from 1) for anything else.
Dataset read_semeion(const std::filesystem::path& root);

/// The same from the bytes of semeion.data.
Dataset read_semeion(ByteStream& bytes);

enum class OmniglotPart {
  kBackground,  ///< 30 alphabets: 964 characters, drawn 20 times each
  kEvaluation,  ///< 20 alphabets: 659 characters
  kAll,         ///< the background set, then the evaluation set
};

/// OMNIGLOT (Lake et al., 2015) from its folders images_background and images_evaluation or their .zip files, in `root`
/// or `root` itself: uint8 [N, 1, 105, 105], black strokes (0) on white (255), as published. Classes are characters,
/// "Greek/character01", in the order of their paths. DataError if a part is missing or holds no drawings, or if a
/// drawing is damaged or of another size.
Dataset read_omniglot(const std::filesystem::path& root, OmniglotPart part);

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

// OpenOOD's image lists (Zhang et al., 2023): which images of published sets its benchmarks take. A line is the path of
// an image and a label, "cifar10/test/airplane/0298.png 0"; -1 stands for out of distribution.

struct ListedImage {
  std::string path;
  int64_t label = -1;
};

/// DataError, which begins with `name` and gives the line, for a line that is not such a pair.
std::vector<ListedImage> parse_image_list(const std::string& name, std::string_view text);

/// The rows, int64 [N], of images that are called CLASS/NUMBER.png: the NUMBER-th of its class, from 1, in the set's
/// own order. Its label, unless it is -1, is the set's. DataError, which begins with `name`, for an image that the set
/// does not have, another label, or an image that is listed twice.
torch::Tensor rows_by_class(const std::string& name, const std::vector<ListedImage>& images, const Dataset& set);

/// The same for images that are called val_NUMBER.JPEG: row NUMBER, from 0.
torch::Tensor rows_by_number(const std::string& name, const std::vector<ListedImage>& images, const Dataset& set);

}  // namespace priornet
