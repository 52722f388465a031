#include "learning/sets/families.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "learning/data/file_tree.h"

namespace priornet {
namespace {

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<ListedImage> parse_image_list(const std::string& name, std::string_view text) {
  std::vector<ListedImage> images;
  for (int64_t line_number = 1; !text.empty(); ++line_number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const auto space = line.rfind(' ');
    const auto label = space == std::string_view::npos ? std::nullopt : number_in(line.substr(space + 1));
    if (space == 0 || !label || *label < -1)
      throw DataError(
          fmt::format("{}: line {} should be the path of an image and its label, found {:?}", name, line_number, line));
    images.push_back({std::string(line.substr(0, space)), *label});
  }
  if (images.empty()) throw DataError(fmt::format("{}: is empty", name));
  return images;
}

namespace {

/// `row_of` gives nothing for an image that the set does not have.
torch::Tensor rows_of(const std::string& name, const std::vector<ListedImage>& images, const Dataset& set,
                      const std::function<std::optional<int64_t>(const std::filesystem::path& image)>& row_of) {
  const auto rows = torch::empty({static_cast<int64_t>(images.size())}, torch::kInt64);
  std::vector<bool> seen(static_cast<size_t>(set.size()));
  for (size_t i = 0; i < images.size(); ++i) {
    const auto row = row_of(images[i].path);
    if (!row) throw DataError(fmt::format("{}: {} has no image {}", name, set.name, images[i].path));
    if (seen[static_cast<size_t>(*row)])
      throw DataError(fmt::format("{}: image {} is listed twice", name, images[i].path));
    seen[static_cast<size_t>(*row)] = true;
    if (images[i].label >= 0 && set.labels[*row].item<int64_t>() != images[i].label)
      throw DataError(fmt::format("{}: the label of {} should be {}, as in {}, found {}", name, images[i].path,
                                  set.labels[*row].item<int64_t>(), set.name, images[i].label));
    rows[static_cast<int64_t>(i)] = *row;
  }
  return rows;
}

}  // namespace

torch::Tensor rows_by_class(const std::string& name, const std::vector<ListedImage>& images, const Dataset& set) {
  std::map<std::string, std::vector<int64_t>> rows;
  for (int64_t row = 0; row < set.size(); ++row)
    rows[set.class_names.at(static_cast<size_t>(set.labels[row].item<int64_t>()))].push_back(row);
  return rows_of(name, images, set, [&](const std::filesystem::path& image) -> std::optional<int64_t> {
    const auto of_class = rows.find(image.parent_path().filename().string());
    const auto number = number_in(image.stem().string());
    if (of_class == rows.end() || !number || *number < 1 || *number > static_cast<int64_t>(of_class->second.size()))
      return std::nullopt;
    return of_class->second[static_cast<size_t>(*number - 1)];
  });
}

torch::Tensor rows_by_number(const std::string& name, const std::vector<ListedImage>& images, const Dataset& set) {
  constexpr std::string_view kPrefix = "val_";
  return rows_of(name, images, set, [&](const std::filesystem::path& image) -> std::optional<int64_t> {
    const auto stem = image.stem().string();
    if (!stem.starts_with(kPrefix)) return std::nullopt;
    const auto number = number_in(std::string_view(stem).substr(kPrefix.size()));
    return number && *number >= 0 && *number < set.size() ? number : std::nullopt;
  });
}

namespace {

using RowsOfList = torch::Tensor (*)(const std::string& name, const std::vector<ListedImage>& images,
                                     const Dataset& set);

/// The archive has one folder of lists per benchmark: this is the one for CIFAR-10.
constexpr std::string_view kFolder = "/cifar10/";

std::string read_list(const std::filesystem::path& location, const std::string& file) {
  constexpr int64_t kLargest = int64_t{1} << 24;
  std::optional<std::string> text;
  visit_files(
      location, [&](const std::string& path) { return path == file || path.ends_with(std::string(kFolder) + file); },
      [&](const std::string&, ByteStream& bytes) { text = bytes.read_rest(kLargest); });
  if (!text) throw DataError(fmt::format("{}: holds no {}", location.string(), file));
  return *text;
}

SetPart listed(const std::string& name, int64_t count, const std::string& file, const std::string& set,
               RowsOfList rows_of_list) {
  SetPart part;
  part.name = name;
  part.count = count;
  part.files = {file};
  part.chosen_from = set;
  part.choose = [=](const std::filesystem::path& location, const Dataset& whole) {
    const auto list = (location / file).string();
    return rows_of_list(list, parse_image_list(list, read_list(location, file)), whole);
  };
  return part;
}

}  // namespace

CatalogueEntry openood_set() {
  CatalogueEntry entry;
  entry.name = "openood";
  entry.title = "OpenOOD 1.5: the rows of cifar10, cifar100 and tinyimagenet that its CIFAR-10 benchmark lists";
  entry.homepage = "https://github.com/Jingkang50/OpenOOD";
  entry.terms = "The lists: MIT; the images: under the terms of their sets";
  entry.files = {{"openood/benchmark_imglist.zip",
                  0,
                  "",
                  "",
                  {"https://drive.google.com/uc?export=download&id=1lI1j0_fDDvjIt9JlWAw09X8ks-yrR_H1"}}};
  const std::vector<std::pair<KnownFile, SetPart>> lists = {
      {{"", 270'000, "84559ec5225425e7f7363058d5f9442ed21a39c7c66b63c3f1bb8b1ddb935e13", "", {}},
       listed("cifar10-test", 9'000, "test_cifar10.txt", "cifar10:test", rows_by_class)},
      {{"", 30'000, "6f64c4370bf3c61dab3308f7e8c5c94938b112b20d38cca77c1dfa0bcc5c1d89", "", {}},
       listed("cifar10-val", 1'000, "val_cifar10.txt", "cifar10:test", rows_by_class)},
      {{"", 299'279, "f907cb13024ba0fd13099954064df8f2f1ab8e3369c27b95ab44f3c5fc87ad16", "", {}},
       listed("cifar100-test", 9'000, "test_cifar100.txt", "cifar100:test", rows_by_class)},
      {{"", 248'524, "a44fd34e3c925d984063d2ad64969ff71e8fa6f5524fbe9da481c8b0c87b27cd", "", {}},
       listed("tin-test", 7'793, "test_tin.txt", "tinyimagenet:val", rows_by_number)},
      {{"", 31'884, "39e22c5c6c2d95f95ab5ba43106f43ad7aa254ff62316104f406f7f10811f7c2", "", {}},
       listed("tin-val", 1'000, "val_tin.txt", "tinyimagenet:val", rows_by_number)}};
  std::vector<std::string> names;
  for (auto [file, part] : lists) {
    names.push_back(part.files.front());
    file.path = "openood-cifar10/" + names.back();
    entry.files.push_back(file);
    entry.splits.push_back(whole_part(part, fmt::format("{} as {} has them", part.chosen_from, names.back())));
    entry.parts.push_back(std::move(part));
  }
  entry.locations = {{"openood-cifar10", names},
                     {"openood/benchmark_imglist/cifar10", names},
                     {"benchmark_imglist/cifar10", names},
                     {"openood/benchmark_imglist.zip", {}},
                     {"benchmark_imglist.zip", {}}};
  return entry;
}

}  // namespace priornet
