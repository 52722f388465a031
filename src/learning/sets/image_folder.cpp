#include "learning/sets/image_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <set>
#include <string_view>
#include <system_error>

#include "learning/base/file_io.h"
#include "learning/base/names.h"
#include "learning/data/byte_stream.h"
#include "learning/data/decoded_pixels.h"
#include "learning/data/file_tree.h"
#include "uncertainty/core/parallel.h"

namespace priornet {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the digits at the front, without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  auto number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const auto one = take_number(left);
      const auto other = take_number(right);
      if (one.size() != other.size()) return one.size() < other.size();
      if (one != other) return one < other;
    } else {
      if (left.front() != right.front())
        return static_cast<unsigned char>(left.front()) < static_cast<unsigned char>(right.front());
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return left.size() != right.size() ? left.size() < right.size() : a < b;
}

bool is_image_path(const std::string& path) {
  const auto name = lower_case(path.substr(path.rfind('/') + 1));
  if (name.starts_with(".") || path.starts_with("__MACOSX/")) return false;
  const auto& endings = image_endings();
  return std::any_of(endings.begin(), endings.end(), [&](const auto& ending) { return name.ends_with(ending); });
}

namespace {

// A batch keeps all threads busy and takes little memory beside the set.
constexpr size_t kBatchImages = 2048;
constexpr size_t kFirstBatchImages = 16;  // of a size not yet known
constexpr size_t kBatchBytes = size_t{64} << 20;
constexpr size_t kBatchPixels = size_t{64} << 20;

// An exception that is not the image's fault is passed on.
void leave_out(SetFiles* files, const std::string& path, const std::string& name, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const DataError& fault) {
    if (files == nullptr) throw;
    files->left_out.push_back({path, without_name(fault.what(), name)});
  }
}

const LeftOut* first_fault(const SetFiles& files) {
  const auto found = std::find_if(files.left_out.begin(), files.left_out.end(),
                                  [](const LeftOut& one) { return one.kind == LeftOut::Kind::kFault; });
  return found == files.left_out.end() ? nullptr : &*found;
}

// Copies a row of a batch to its place; a grey one to each of three planes if the set has colours.
void copy_row(const torch::Tensor& batch, int64_t row, int64_t channels, uint8_t* to) {
  const auto bytes = batch.numel() / batch.size(0);
  const auto* from = batch.data_ptr<uint8_t>() + row * bytes;
  for (int64_t copy = 0; copy < channels / batch.size(1); ++copy)
    std::memcpy(to + copy * bytes, from, static_cast<size_t>(bytes));
}

}  // namespace

size_t ImageCollector::batch_images() const {
  if (first_name_.empty()) return kFirstBatchImages;
  return std::clamp<size_t>(kBatchPixels / static_cast<size_t>(height_ * width_), 1, kBatchImages);
}

void ImageCollector::add(std::string path, std::string name, std::string bytes) {
  waiting_bytes_ += bytes.size();
  const auto content = options_.files != nullptr ? content_hash(bytes) : 0;
  waiting_.push_back({std::move(path), std::move(name), std::move(bytes), content});
  if (waiting_.size() >= batch_images() || waiting_bytes_ >= kBatchBytes) decode_waiting();
}

void ImageCollector::check_size(const Encoded& encoded, const torch::Tensor& image) {
  if (first_name_.empty()) {
    first_name_ = encoded.name;
    height_ = image.size(1);
    width_ = image.size(2);
  } else if (image.size(1) != height_ || image.size(2) != width_) {
    throw SeveralSizes(
        fmt::format("{}: has {}x{} pixels but {} has {}x{}; add a size for images of several sizes, such as ,size=64",
                    encoded.name, image.size(2), image.size(1), first_name_, width_, height_));
  }
}

void ImageCollector::decode_waiting() {
  if (waiting_.empty()) return;
  std::vector<torch::Tensor> images(waiting_.size());
  // One per image, so that the reported fault does not depend on the threads.
  std::vector<std::exception_ptr> errors(waiting_.size());
  parallel_for(0, static_cast<int64_t>(waiting_.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      try {
        images[i] = decode_image(waiting_[i].bytes, waiting_[i].name, options_.channels);
        if (options_.resize) images[i] = resize(images[i], *options_.resize);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  });
  for (size_t i = 0; i < waiting_.size(); ++i) {
    if (errors[i]) {
      leave_out(options_.files, waiting_[i].path, waiting_[i].name, errors[i]);
      continue;
    }
    check_size(waiting_[i], images[i]);
    channels_ = std::max(channels_, images[i].size(0));
    paths_.push_back(std::move(waiting_[i].path));
    contents_.push_back(waiting_[i].content);
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  std::erase_if(images, [](const torch::Tensor& image) { return !image.defined(); });
  if (images.empty()) return;
  auto batch =
      memory_for(first_name_, {static_cast<int64_t>(images.size()), channels_, height_, width_}, torch::kUInt8);
  for (size_t i = 0; i < images.size(); ++i)
    copy_row(images[i].unsqueeze(0), 0, channels_,
             batch.data_ptr<uint8_t>() + static_cast<int64_t>(i) * channels_ * height_ * width_);
  keep(std::move(batch));
}

// In memory, unless the set would take half of the room there: it is held twice while it is sorted.
void ImageCollector::keep(torch::Tensor batch) {
  bytes_ += static_cast<int64_t>(batch.nbytes());
  batches_.push_back(std::move(batch));
  if (options_.pixels == nullptr || (!options_.pixels->has_begun() && bytes_ <= room_for_values() / 2)) return;
  try {
    for (const auto& one : batches_) append_to_file(one);
    batches_.clear();
  } catch (const DataError&) {
    if (file_images_ > 0) throw;
    options_.pixels = nullptr;  // cannot be written there: memory_for finds another place
  }
}

void ImageCollector::append_to_file(const torch::Tensor& batch) {
  if (file_images_ > 0 && file_channels_ < channels_) {  // the first that has colours
    const auto grey = options_.pixels->take({file_images_, file_channels_, height_, width_});
    file_images_ = 0;
    file_channels_ = channels_;
    for (const auto& some : grey.split(static_cast<int64_t>(batch_images()))) append_to_file(some);
  }
  file_channels_ = channels_;
  options_.pixels->append(batch.size(1) == channels_ ? batch : batch.repeat({1, channels_ / batch.size(1), 1, 1}));
  file_images_ += batch.size(0);
}

// A folder is read in our order; an archive has an order of its own.
torch::Tensor ImageCollector::sorted_in_file(const std::vector<size_t>& sorted) {
  const std::vector<int64_t> shape = {file_images_, channels_, height_, width_};
  if (std::is_sorted(sorted.begin(), sorted.end())) return options_.pixels->values(shape);
  const auto as_read = options_.pixels->take(shape);
  for (const auto row : sorted) options_.pixels->append(as_read[static_cast<int64_t>(row)]);
  return options_.pixels->values(shape);
}

ImageCollection ImageCollector::finish(const std::string& set_name, const PathOrder& order) {
  decode_waiting();
  if (paths_.empty()) {
    const auto* fault = options_.files != nullptr ? first_fault(*options_.files) : nullptr;
    throw DataError(fmt::format("{}: holds no {} image{}", set_name, image_format_names(),
                                fault == nullptr ? "" : fmt::format("; {}: {}", fault->path, fault->why)));
  }
  std::vector<size_t> sorted(paths_.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return order(paths_[a], paths_[b]); });
  std::vector<int64_t> place(paths_.size());
  ImageCollection collection;
  for (size_t row = 0; row < sorted.size(); ++row) {
    place[sorted[row]] = static_cast<int64_t>(row);
    if (options_.files != nullptr) options_.files->rows.push_back({paths_[sorted[row]], contents_[sorted[row]]});
    collection.paths.push_back(std::move(paths_[sorted[row]]));
  }
  if (options_.pixels != nullptr && options_.pixels->has_begun()) {
    collection.images = sorted_in_file(sorted);
    return collection;
  }
  collection.images =
      memory_for(set_name, {static_cast<int64_t>(sorted.size()), channels_, height_, width_}, torch::kUInt8);
  auto* to = collection.images.data_ptr<uint8_t>();
  auto next = place.begin();
  for (auto& batch : batches_) {
    for (int64_t row = 0; row < batch.size(0); ++row)
      copy_row(batch, row, channels_, to + *next++ * channels_ * height_ * width_);
    batch.reset();  // as the set fills, so that memory never holds it twice
  }
  return collection;
}

ImageCollection collect_images(const std::filesystem::path& root, const PathFilter& wanted,
                               const ImageFolderOptions& options, const PathOrder& order) {
  std::error_code ignored;
  if (!std::filesystem::exists(root, ignored)) throw DataError(fmt::format("{}: is not there", root.string()));
  ImageCollector collector(options);
  const auto note = [&](const std::string& path) {
    if (options.files != nullptr && !path.ends_with('/'))
      options.files->left_out.push_back({path, "does not have the name of an image", LeftOut::Kind::kNoImage});
    return false;
  };
  FaultVisitor on_fault;
  if (options.files != nullptr)
    on_fault = [&](const std::string& path, const DataError& error) {
      if (dynamic_cast<const SeveralSizes*>(&error) != nullptr) throw;  // not the fault of one image
      options.files->left_out.push_back({path, without_name(error.what(), (root / path).string())});
    };
  visit_files(
      root, [&](const std::string& path) { return is_image_path(path) ? wanted(path) : note(path); },
      [&](const std::string& path, ByteStream& bytes) {
        collector.add(path, bytes.name(), bytes.read_rest(kMostImageBytes));
      },
      on_fault, order);
  return collector.finish(root.string(), order);
}

namespace {

// The length of the folders, with their last '/', that all paths share, as long as each path keeps a folder of its own.
size_t shared_folders(const std::vector<std::string>& paths) {
  size_t shared = 0;
  while (true) {
    const auto end = paths.front().find('/', shared);
    if (end == std::string::npos) return shared;
    const auto folder = paths.front().substr(0, end + 1);
    const auto inside = [&](const std::string& path) {
      return path.starts_with(folder) && path.find('/', folder.size()) != std::string::npos;
    };
    if (!std::all_of(paths.begin(), paths.end(), inside)) return shared;
    shared = folder.size();
  }
}

// If the folders are parts of a set with the classes below, the parts would be learnt as classes.
bool are_parts_of_a_set(const std::vector<std::string>& folders) {
  static const std::set<std::string> kParts{"train", "training", "test", "testing", "val", "valid", "validation"};
  return folders.size() > 1 &&
         std::all_of(folders.begin(), folders.end(), [](const std::string& name) { return kParts.contains(name); });
}

void note_empty_classes(const std::filesystem::path& root, const std::set<std::string>& classes, SetFiles* files) {
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(root, error); !error && at != std::filesystem::end(at);
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (!at->is_directory(error) || name.starts_with(".") || classes.contains(printable(name))) continue;
    constexpr const char* kWhy = "a class folder should hold images, found none";
    if (files == nullptr) throw DataError(fmt::format("{}: {}", at->path().string(), kWhy));
    files->left_out.push_back({name + "/", kWhy, LeftOut::Kind::kEmptyClass});
  }
}

}  // namespace

void label_in_order(Dataset& set, const std::vector<std::string>& class_of_row) {
  set.labels = torch::empty({static_cast<int64_t>(class_of_row.size())}, torch::kInt64);
  set.class_names.clear();
  auto* label = set.labels.data_ptr<int64_t>();
  for (const auto& folder : class_of_row) {
    const auto name = printable(folder);
    if (set.class_names.empty() || set.class_names.back() != name) set.class_names.push_back(name);
    *label++ = set.num_classes() - 1;
  }
}

Dataset read_image_folder(const std::filesystem::path& root, const ImageFolderOptions& options) {
  std::error_code ignored;
  const bool on_disk = std::filesystem::is_directory(root, ignored);
  // Sorted by class first: plain order would put a-b/1.png before a/1.png.
  const auto by_class = [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char c, unsigned char d) {
      return (c == '/' ? 0 : c) < (d == '/' ? 0 : d);
    });
  };
  const auto wanted = [&](const std::string& path) {
    const bool lost = on_disk && options.files != nullptr && path.find('/') == std::string::npos;
    if (lost) options.files->left_out.push_back({path, "should lie in the folder of its class"});
    return !lost;
  };
  auto collection = collect_images(root, wanted, options, by_class);
  const auto skipped = on_disk ? 0 : shared_folders(collection.paths);
  std::vector<std::string> class_of_row;
  bool has_folders_below = true;
  for (const auto& path : collection.paths) {
    const auto end = path.find('/', skipped);
    if (end == std::string::npos)
      throw DataError(fmt::format("{}: image {} should lie in the folder of its class", root.string(), path));
    class_of_row.push_back(path.substr(skipped, end - skipped));
    has_folders_below = has_folders_below && path.find('/', end + 1) != std::string::npos;
  }
  Dataset set{root.string(), std::move(collection.images), {}, {}, {}};
  label_in_order(set, class_of_row);
  if (has_folders_below && are_parts_of_a_set(set.class_names))
    throw DataError(fmt::format("{}: holds {}, which are parts of a set, not classes: name one of them, such as {}/{}",
                                set.name, fmt::join(set.class_names, " and "), set.name, set.class_names.front()));
  if (on_disk) note_empty_classes(root, {set.class_names.begin(), set.class_names.end()}, options.files);
  return set;
}

Dataset read_flat_images(const std::filesystem::path& root, const ImageFolderOptions& options) {
  auto collection = collect_images(
      root, [](const std::string&) { return true; }, options);
  return {root.string(), std::move(collection.images), {}, {}, {}};
}

}  // namespace priornet
