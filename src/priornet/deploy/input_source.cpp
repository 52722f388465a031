#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/core/lower_case.h>
#include <priornet/data/formats/image_collection.h>
#include <priornet/deploy/input_source.h>
#include <priornet/deploy/row_inputs.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace priornet {
namespace {

namespace fs = std::filesystem;

// A message without the name that opens it.
std::string without_name(std::string message, const std::string& name) {
  return message.starts_with(name + ": ") ? message.substr(name.size() + 2) : message;
}

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

 private:
  std::vector<std::string> paths_;
  const Predictor& predictor_;
  size_t at_ = 0;
};

std::vector<std::string> images_below(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied);
  for (; entry != fs::recursive_directory_iterator(); ++entry) {
    // Hidden files and folders are passed over, as where sets are read: thumbnails, what a Mac leaves beside a file.
    if (entry->path().filename().string().starts_with('.'))
      entry.disable_recursion_pending();
    else if (!entry->is_directory(ignored) && is_image_path(entry->path().string()))  // or a link to nothing
      paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end(), natural_less);
  return paths;
}

// A file and what reads it.
class FileRows final : public InputSource {
 public:
  FileRows(const std::string& path, const Predictor& predictor, bool npy) : file_(path, std::ios::binary) {
    rows_ = npy ? npy_inputs(file_, path, predictor) : csv_inputs(file_, path, predictor);
  }
  std::optional<Input> next() override { return rows_->next(); }

 private:
  std::ifstream file_;
  std::unique_ptr<InputSource> rows_;
};

bool is_image_start(std::string_view start) {
  return start.starts_with("\x89PNG") || start.starts_with("\xff\xd8\xff") ||
         (start.starts_with("RIFF") && start.substr(std::min<size_t>(8, start.size())).starts_with("WEBP"));
}

}  // namespace

std::unique_ptr<InputSource> open_inputs(const std::string& path, const Predictor& predictor) {
  try {
    if (fs::is_directory(path)) {
      auto images = images_below(path);
      if (images.empty()) return std::make_unique<OneInput>(Input{path, -1, {}, "holds no images"});
      return std::make_unique<ImageFiles>(std::move(images), predictor);
    }
    const auto name = lower_case(path);
    if (!name.ends_with(".csv") && !name.ends_with(".npy"))
      return std::make_unique<ImageFiles>(std::vector<std::string>{path}, predictor);
    const InputFile says_why(path);
    return std::make_unique<FileRows>(path, predictor, name.ends_with(".npy"));
  } catch (const fs::filesystem_error& error) {
    return std::make_unique<OneInput>(Input{path, -1, {}, "cannot be read: " + error.code().message()});
  } catch (const DataError& error) {
    return std::make_unique<OneInput>(Input{path, -1, {}, without_name(error.what(), path)});
  }
}

std::unique_ptr<InputSource> stream_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor) {
  std::string start(12, '\0');
  bytes.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(bytes.gcount()));
  bytes.clear();
  for (auto c = start.rbegin(); c != start.rend(); ++c) bytes.putback(*c);
  if (!bytes) throw DataError(name + ": cannot be read from its beginning");
  try {
    if (start.starts_with("\x93NUMPY")) return npy_inputs(bytes, name, predictor);
    // To a model of images, bytes of any other kind are an image that does not decode, and say why.
    if (is_image_start(start) || predictor.model().preprocessing.takes_images())
      return std::make_unique<OneInput>(decoded(name, read_bytes(bytes, name), predictor));
    return csv_inputs(bytes, name, predictor);
  } catch (const DataError& error) {
    return std::make_unique<OneInput>(Input{name, -1, {}, without_name(error.what(), name)});
  }
}

}  // namespace priornet
