#pragma once

#include <priornet/learning/catalogue.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/resize.h>
#include <priornet/uncertainty/errors.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// How a data set is named, in configurations and on the command line: SET[:SPLIT][,MODIFIER...]
//
//   mnist:test   omniglot,invert,size=28   tinyimagenet:val,without=cifar10,size=32   ./photos,grey,size=64
//
// SET is a name of the catalogue, the name of a folder of images in the data root, or a path: whatever has a / or a .
// in it. Folders and paths have no splits, and a path no comma. Modifiers work in the order given:
//   invert            light becomes dark
//   grey, rgb         one channel, three
//   size=N, size=HxW  another size
//   pad=N             N black pixels more on every side
//   subset=N          N rows drawn at random
//   first=N, last=N   the first or last N rows
//   repeat=N          all rows N times, one copy after the other
//   classes=A|B       only the rows of these classes
//   without=SET       only the rows of classes that the other set does not have
// and these say how, wherever they stand:
//   resample=nearest|bilinear|bicubic, antialias=on|off   for size; bilinear and on unless given
//   grid=centres|corners  for size without antialias; corners as TensorFlow 1 resized (resize.h)
//   seed=N            for subset; 0 unless given
//   label=COLUMN      which column of a table holds the labels
//   drop=A|B, categorical=A|B, numeric=A|B   columns of a table to leave out, or of a type that they do not look like
// A value with a comma or a bar in it stands in double quotes: label="income, gross".

namespace priornet {

struct TableEncoding;

struct SetModifier {
  enum class Kind { kInvert, kGrey, kRgb, kSize, kPad, kSubset, kFirst, kLast, kRepeat, kClasses, kWithout };

  Kind kind;
  int64_t number = 0;                   ///< of pad, subset, first, last, repeat
  int64_t height = 0;                   ///< of size
  int64_t width = 0;                    ///< of size
  std::vector<std::string> names = {};  ///< of classes; one for without
};

struct SetName {
  std::string text;   ///< all of it, as it was given
  std::string set;    ///< a name of the catalogue, or a path
  std::string split;  ///< empty if none was named
  bool is_path = false;
  std::vector<SetModifier> modifiers;
  std::optional<Resampling> resampling;
  std::optional<bool> antialias;
  std::optional<PixelGrid> grid;
  std::optional<uint64_t> seed;
  std::string label;
  std::vector<std::string> drop;         ///< columns of a table
  std::vector<std::string> categorical;  ///< likewise
  std::vector<std::string> numeric;      ///< likewise

  /// How images become `height` x `width`; what the name leaves open is as in `otherwise`.
  ResizeOptions resize_to(int64_t height, int64_t width, const ResizeOptions& otherwise = {}) const;
};

/// ArgumentError that names the part which is wrong and what is allowed there. Does not check that the set or split
/// exists.
SetName parse_set_name(std::string_view text);

/// A set whose files are missing. The message says where they should be, how to get them and how to lay them out by
/// hand.
class AbsentSet : public DataError {
 public:
  AbsentSet(const std::string& message, std::string remedy) : DataError(message), remedy_(std::move(remedy)) {}

  /// How to get it, on any machine.
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// Images of several sizes, while the set's name gives no size. The message says what to add.
class SeveralSizes : public DataError {
 public:
  using DataError::DataError;
};

/// A file that became a row: its path below the folder of the set, and a hash of its bytes.
struct SetFile {
  std::string path;
  uint64_t content = 0;
};

/// What lies in the folder of a set and is not in the set.
struct LeftOut {
  enum class Kind {
    kNoImage,     ///< by its name: a text, a thumbnail database
    kEmptyClass,  ///< a class folder without images
    kFault        ///< an image that is damaged, unreadable, of no known kind, or in no class folder
  };
  std::string path;
  std::string why;
  Kind kind = Kind::kFault;
};

/// The files behind a folder or an archive of images.
struct SetFiles {
  std::vector<SetFile> rows;  ///< one per row; none where a modifier chose among them, or rows come from no files
  std::vector<LeftOut> left_out;
};

struct LoadOptions {
  std::filesystem::path root = data_root();
  bool prepared_copies = true;   ///< use existing ones, write missing ones
  Progress* progress = nullptr;  ///< is told about sets that are read from their original files
  bool strict = false;           ///< a fault among the user's own images, or an empty class, is a DataError
  SetFiles* files = nullptr;     ///< is told about the user's own images; up to one in a hundred may be left out
  std::shared_ptr<const TableEncoding> encoding = {};  ///< of a model: tables are read as the model takes them
  std::vector<std::string>* notes = nullptr;           ///< is told what in a table was not as expected, in words
};

/// The set of that name, from its prepared copy or from its original files, with its split taken and the
/// modifiers applied. Dataset::name is `name`.
/// AbsentSet; DataError for an unknown name, damaged files, another number of images than the catalogue says, or a
/// modifier that the set cannot take.
Dataset load_set(const std::string& name, const LoadOptions& options = {});

/// The same for a name that was parsed before.
Dataset load_set(const SetName& name, const LoadOptions& options = {});

/// Whether two names mean the same set: paths may be written differently.
bool is_same_set(const std::string& one, const std::string& other);

}  // namespace priornet
