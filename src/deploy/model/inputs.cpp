#include <priornet/deploy/inputs.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "learning/base/file_io.h"
#include "learning/base/names.h"
#include "learning/data/csv.h"
#include "learning/data/decoded_pixels.h"
#include "learning/data/delimited.h"
#include "learning/data/file_tree.h"
#include "learning/data/npy.h"
#include "learning/sets/image_folder.h"
#include "learning/sets/path_set.h"

namespace priornet {
namespace {

namespace fs = std::filesystem;

Input decoded(const std::string& name, const std::string& bytes, const Predictor& predictor) {
  Input input;
  input.name = name;
  try {
    input.value = predictor.decoded(bytes, name);
  } catch (const DataError& error) {
    input.error = without_name(error.what(), name);
  }
  return input;
}

std::string read_bytes(std::istream& stream, const std::string& name) {
  std::string bytes;
  std::string piece(1 << 16, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) || stream.gcount() > 0) {
    bytes.append(piece, 0, static_cast<size_t>(stream.gcount()));
    if (bytes.size() > static_cast<size_t>(kMostImageBytes))
      throw DataError(fmt::format("{}: has more than {} bytes", name, kMostImageBytes));
  }
  return bytes;
}

class OneInput final : public InputSource {
 public:
  explicit OneInput(Input input) : input_(std::move(input)) {}
  std::optional<Input> next() override { return std::exchange(input_, std::nullopt); }

 private:
  std::optional<Input> input_;
};

class ImageFiles final : public InputSource {
 public:
  ImageFiles(std::vector<std::string> paths, const Predictor& predictor)
      : paths_(std::move(paths)), predictor_(predictor) {}

  std::optional<Input> next() override {
    if (at_ == paths_.size()) return std::nullopt;
    const auto& path = paths_[at_++];
    try {
      const InputFile says_why(path);
      std::ifstream file(path, std::ios::binary);
      return decoded(path, read_bytes(file, path), predictor_);
    } catch (const DataError& error) {
      return Input{path, -1, {}, without_name(error.what(), path)};
    }
  }
  double share() const override { return static_cast<double>(at_) / static_cast<double>(paths_.size()); }

 private:
  std::vector<std::string> paths_;
  const Predictor& predictor_;
  size_t at_ = 0;
};

std::vector<std::string> images_below(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  fs::recursive_directory_iterator entry(
      folder, fs::directory_options::skip_permission_denied | fs::directory_options::follow_directory_symlink);
  FollowedLinks links;
  for (; entry != fs::recursive_directory_iterator(); ++entry) {
    // Hidden files and folders are skipped, as where sets are read: thumbnails, and the files that macOS adds.
    if (entry->path().filename().string().starts_with('.') ||
        (entry->is_symlink(ignored) && entry->is_directory(ignored) && !links.enters(entry->path())))
      entry.disable_recursion_pending();
    else if (!entry->is_directory(ignored) && is_image_path(entry->path().string()))  // or a link to nothing
      paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end(), natural_less);
  return paths;
}

// An .npy and what reads it.
class NpyFile final : public InputSource {
 public:
  NpyFile(const std::string& path, const Predictor& predictor)
      : file_(path, std::ios::binary), rows_(npy_inputs(file_, path, predictor)) {
    size_ = static_cast<double>(fs::file_size(path));
  }
  std::optional<Input> next() override { return rows_->next(); }
  double share() const override {
    const auto at = file_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in);
    return at < 0 ? 1.0 : std::min(1.0, static_cast<double>(at) / std::max(size_, 1.0));
  }

 private:
  mutable std::ifstream file_;
  double size_ = 0;
  std::unique_ptr<InputSource> rows_;
};

std::unique_ptr<InputSource> table_inputs(std::unique_ptr<ByteStream> bytes, const Predictor& predictor,
                                          int64_t expected_bytes);

}  // namespace

std::unique_ptr<InputSource> open_inputs(const std::string& path, const Predictor& predictor) {
  try {
    if (fs::is_directory(path)) {
      auto images = images_below(path);
      if (images.empty()) return std::make_unique<OneInput>(Input{path, -1, {}, "holds no images"});
      return std::make_unique<ImageFiles>(std::move(images), predictor);
    }
    const auto name = lower_case(path);
    if (!is_table_path(path) && !name.ends_with(".npy"))
      return std::make_unique<ImageFiles>(std::vector<std::string>{path}, predictor);
    const InputFile says_why(path);
    if (name.ends_with(".npy")) return std::make_unique<NpyFile>(path, predictor);
    return table_inputs(open_file(path), predictor,
                        name.ends_with(".gz") ? 0 : static_cast<int64_t>(fs::file_size(path)));
  } catch (const fs::filesystem_error& error) {
    return std::make_unique<OneInput>(Input{path, -1, {}, "cannot be read: " + error.code().message()});
  } catch (const DataError& error) {
    return std::make_unique<OneInput>(Input{path, -1, {}, without_name(error.what(), path)});
  }
}

std::unique_ptr<InputSource> stream_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor) {
  std::string start(18, '\0');
  bytes.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(bytes.gcount()));
  bytes.clear();
  for (auto c = start.rbegin(); c != start.rend(); ++c) bytes.putback(*c);
  if (!bytes) throw DataError(name + ": cannot be read again from its start");
  try {
    if (start.starts_with("\x93NUMPY")) return npy_inputs(bytes, name, predictor);
    // For a model of images, any other bytes are an image that does not decode; the error says why.
    if (begins_as_image(start) || predictor.model().preprocessing.takes_images())
      return std::make_unique<OneInput>(decoded(name, read_bytes(bytes, name), predictor));
    return csv_inputs(bytes, name, predictor);
  } catch (const DataError& error) {
    return std::make_unique<OneInput>(Input{name, -1, {}, without_name(error.what(), name)});
  }
}

namespace {

class StreamBytes final : public ByteStream {
 public:
  StreamBytes(std::string name, std::istream& bytes) : ByteStream(std::move(name)), bytes_(bytes) {}
  int64_t at_most() const override { return std::numeric_limits<int64_t>::max(); }

 private:
  size_t read_some(void* to, size_t size) override {
    bytes_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    return static_cast<size_t>(bytes_.gcount());
  }

  std::istream& bytes_;
};

// The rows of a table, by the model's encoding or, if it has none, as numbers.
class TableInputs final : public InputSource {
 public:
  TableInputs(std::unique_ptr<ByteStream> bytes, const Preprocessing& preprocessing, int64_t expected_bytes)
      : bytes_(std::move(bytes)),
        rows_(*bytes_),
        preprocessing_(preprocessing),
        features_(preprocessing.shape.at(0)),
        expected_bytes_(expected_bytes) {
    rows_.next();  // a text without rows is refused before
    const auto names = rows_.names();
    columns_ = names.size();
    const auto own = preprocessing.encoding ? preprocessing.encoding->column_names() : preprocessing.feature_names;
    held_ = are_numbers(names) && !names_all(names, own);
    if (preprocessing.encoding)
      match_encoder(names);
    else
      match_columns(names, preprocessing.feature_names);
  }

  std::optional<Input> next() override {
    Input input;
    input.name = bytes_->name();
    try {
      if (broken_ || (!held_ && !rows_.next())) return std::nullopt;
    } catch (const DataError& error) {
      input.error = without_name(error.what(), input.name);
      broken_ = true;
    }
    held_ = false;
    input.row = row_++;
    if (input.error.empty()) input.error = read(input);
    if (!input.error.empty()) input.value = torch::Tensor();
    return input;
  }

  double share() const override {
    if (expected_bytes_ == 0) return 0;
    return std::min(1.0, static_cast<double>(bytes_->offset()) / static_cast<double>(expected_bytes_));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}: {}", bytes_->name(), what));
  }

  void match_encoder(const std::vector<std::string>& names) {
    const auto own = preprocessing_.encoding->column_names();
    if (held_ && columns_ != own.size())
      fail(fmt::format("should have {} columns, has {}; or names in its first line", own.size(), columns_));
    try {
      encoder_.emplace(*preprocessing_.encoding, held_ ? own : names, has_decimal_commas(rows_.separator()));
    } catch (const DataError& error) {
      fail(error.what());
    }
    for (const auto& column : encoder_->absent_columns())
      absent_.push_back(fmt::format("{}: this column is not there; its values count as missing", column));
  }

  void match_columns(const std::vector<std::string>& found, const std::vector<std::string>& names) {
    const auto wanted = static_cast<size_t>(features_);
    if (!held_ && !names.empty()) {
      for (const auto& name : names) {
        const auto at = std::find(found.begin(), found.end(), printable(name));
        if (at == found.end()) fail(fmt::format("has no column {}; its columns: {}", name, fmt::join(found, ", ")));
        if (std::find(at + 1, found.end(), *at) != found.end()) fail(fmt::format("two columns have the name {}", name));
        place_.push_back(static_cast<size_t>(at - found.begin()));
      }
      return;
    }
    if (columns_ != wanted) fail(fmt::format("should have {} columns, has {}", wanted, columns_));
    for (size_t i = 0; i < wanted; ++i) place_.push_back(i);
  }

  // What is wrong, or nothing.
  std::string read(Input& input) {
    const auto& values = rows_.values();
    if (values.size() != columns_) return fmt::format("should have {} values, has {}", columns_, values.size());
    input.value = torch::empty({features_}, torch::kFloat32);
    auto* numbers = input.value.data_ptr<float>();
    if (encoder_) {
      std::vector<EncodingRemark> remarks;
      encoder_->encode(values, numbers, &remarks);
      input.notes = absent_;
      input.table_notes = absent_.size();
      for (const auto& remark : remarks) {
        auto text = to_text(remark, *preprocessing_.encoding);
        if (!is_absent(remark)) input.notes.push_back(std::move(text));
      }
      return "";
    }
    for (size_t i = 0; i < place_.size(); ++i) {
      double number = 0;
      if (parse_csv_number(values[place_[i]], number) != ParsedNumber::kNumber || !std::isfinite(number) ||
          std::abs(number) > std::numeric_limits<float>::max())
        return fmt::format("column {}: {} is not a finite number", place_[i] + 1, shown_field(values[place_[i]]));
      numbers[i] = static_cast<float>(number);
    }
    return "";
  }

  bool is_absent(const EncodingRemark& remark) const {
    const auto& absent = encoder_->absent_columns();
    const auto& column = preprocessing_.encoding->columns[remark.column].name;
    return std::find(absent.begin(), absent.end(), column) != absent.end();
  }

  std::unique_ptr<ByteStream> bytes_;
  DelimitedRows rows_;
  const Preprocessing& preprocessing_;
  int64_t features_;
  int64_t expected_bytes_;
  size_t columns_ = 0;
  std::optional<RowEncoder> encoder_;
  std::vector<std::string> absent_;  ///< notes about the table, the same for each row
  std::vector<size_t> place_;        ///< the column of each feature, if there is no encoding
  bool held_ = false;                ///< the first line is a row
  bool broken_ = false;
  int64_t row_ = 0;
};

std::unique_ptr<InputSource> table_inputs(std::unique_ptr<ByteStream> bytes, const Predictor& predictor,
                                          int64_t expected_bytes) {
  if (predictor.model().preprocessing.takes_images())
    throw DataError(bytes->name() + ": holds rows of numbers, the model takes images");
  return std::make_unique<TableInputs>(std::move(bytes), predictor.model().preprocessing, expected_bytes);
}

class NpyInputs final : public InputSource {
 public:
  NpyInputs(std::istream& bytes, const std::string& name, const Predictor& predictor)
      : bytes_(name, bytes), predictor_(predictor), header_(read_npy_header(bytes_)) {
    const auto& shape = header_.shape;
    const bool images = predictor.model().preprocessing.takes_images();
    const auto features = predictor.model().preprocessing.shape[0];
    const bool bytes_fit = header_.dtype == torch::kUInt8 && (shape.size() == 3 || shape.size() == 4);
    const bool numbers_fit = header_.dtype != torch::kUInt8 && shape.size() == 2 && shape[1] == features;
    if (!(images ? bytes_fit : numbers_fit))
      throw DataError(
          fmt::format("{}: should be {}, found {} [{}]", name,
                      images ? "images uint8 [N, H, W] or [N, C, H, W]" : fmt::format("numbers [N, {}]", features),
                      torch::toString(header_.dtype), fmt::join(shape, ", ")));
    item_ = {shape.begin() + 1, shape.end()};
    if (images && item_.size() == 2) item_.insert(item_.begin(), 1);
    check_item(name);
  }

  std::optional<Input> next() override {
    if (row_ == header_.shape[0] || broken_) return std::nullopt;
    Input input;
    input.name = bytes_.name();
    input.row = row_++;
    const auto values = torch::empty(item_, header_.dtype);
    try {
      broken_ = true;  // unless the bytes of the input are there
      bytes_.read_exactly(values.data_ptr(), values.nbytes(), "an input");
      broken_ = false;
      input.value = prepared(values);
    } catch (const DataError& error) {
      input.error = without_name(error.what(), input.name);
    }
    return input;
  }

 private:
  // Memory holds one image at a time, so its size has the same limit as an image file's.
  void check_item(const std::string& name) const {
    constexpr double kMost = 1 << 28;
    double values = 1;
    for (const auto size : item_) values *= static_cast<double>(size);
    if (values < 1 || values > kMost)
      throw DataError(fmt::format("{}: its inputs are impossibly large, [{}]", name, fmt::join(item_, ", ")));
  }

  torch::Tensor prepared(const torch::Tensor& values) const {
    if (values.dim() == 3) return predictor_.fitted(values);
    auto numbers = values.to(torch::kFloat32);
    if (!numbers.isfinite().all().item<bool>()) throw DataError("holds a value that is not a finite number");
    return numbers;
  }

  StreamBytes bytes_;
  const Predictor& predictor_;
  NpyHeader header_;
  std::vector<int64_t> item_;  ///< shape of one input
  int64_t row_ = 0;
  bool broken_ = false;  ///< nothing can follow
};

}  // namespace

std::unique_ptr<InputSource> csv_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor) {
  return table_inputs(std::make_unique<StreamBytes>(name, bytes), predictor, 0);
}

std::unique_ptr<InputSource> npy_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor) {
  return std::make_unique<NpyInputs>(bytes, name, predictor);
}

}  // namespace priornet
