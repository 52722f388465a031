#include <fmt/format.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/images.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"

namespace priornet::tool {
namespace {

namespace fs = std::filesystem;

struct SetExportOptions {
  std::string set;
  std::string folder;
  fs::path root;
};

// One folder per class, named like it: characters with a meaning to a file system become dashes, and a name that
// another class has already gets a number.
std::vector<std::string> class_folders(const std::vector<std::string>& classes) {
  std::vector<std::string> folders;
  for (auto name : classes) {
    for (auto& c : name)
      if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '-';
    if (name.empty() || name[0] == '.') name = "_" + name;
    const auto is_taken = [&](const std::string& folder) {
      return std::find(folders.begin(), folders.end(), folder) != folders.end();
    };
    auto folder = name;
    for (int number = 2; is_taken(folder); ++number) folder = fmt::format("{}-{}", name, number);
    folders.push_back(folder);
  }
  return folders;
}

// Not AtomicFile: tens of thousands of images would wait for the disk one by one.
void write_image(const fs::path& path, const torch::Tensor& image) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const auto bytes = encode_png(image);
  std::FILE* file = error ? nullptr : std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (!written && !error) error.assign(errno, std::generic_category());
  written = (file == nullptr || std::fclose(file) == 0) && written;
  if (written) return;
  if (!error) error.assign(errno, std::generic_category());
  if (file != nullptr) ::unlink(path.c_str());  // part of an image is not an image
  throw DataError(fmt::format("{}: cannot be written: {}", path.string(), error.message()));
}

void run(const SetExportOptions& options) {
  StoppableProgress progress;
  LoadOptions load{chosen_root(options.root), true, &progress};
  const auto set = load_set(options.set, load);
  if (!set.has_images()) throw DataError(fmt::format("{}: should hold images, holds rows of numbers", set.name));
  if (fs::exists(options.folder) && !fs::is_empty(options.folder))
    throw DataError(fmt::format("{}: exists already and is not empty", options.folder));
  const auto width = std::to_string(set.size()).size();
  const auto folders = class_folders(set.class_names);
  for (int64_t i = 0; i < set.size(); ++i) {
    if (i % 1000 == 0) progress.report("writing images", i, set.size());
    auto folder = fs::path(options.folder);
    if (set.has_labels()) folder /= folders[static_cast<size_t>(set.labels[i].item<int64_t>())];
    write_image(folder / fmt::format("{:0{}}.png", i, width), set.inputs[i]);
  }
  progress.report("writing images", set.size(), set.size());
  print(fmt::format("{} images written to {}. This path now names a set.\n", set.size(), options.folder));
}

}  // namespace

void describe_data_export(Command& command) {
  const auto options = std::make_shared<SetExportOptions>();
  command.options = {{.name = "set", .to = &options->set, .help = "SET[:SPLIT][,MODIFIER...]", .required = true},
                     {.name = "folder",
                      .to = &options->folder,
                      .help = "Folder to write to; it must be new or empty",
                      .required = true},
                     root_option(options->root)};
  command.examples = {"priornet data export fashion-mnist:train ./clothes"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
