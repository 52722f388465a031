#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/load.h>
#include <priornet/data/images/encode_png.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "data_commands.h"
#include "standard_output.h"
#include "stoppable_progress.h"

namespace priornet::tool {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string set;
  std::string folder;
  std::string root;
};

// A class as a folder is called: what a file system takes for more than a name becomes a dash.
std::string folder_name(std::string name) {
  for (auto& c : name)
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '-';
  return name.empty() || name[0] == '.' ? "_" + name : name;
}

// No AtomicFile: tens of thousands of images would wait for the disk one by one.
void write_image(const fs::path& path, const torch::Tensor& image) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const auto bytes = encode_png(image);
  std::FILE* file = error ? nullptr : std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written = (file == nullptr || std::fclose(file) == 0) && written;
  if (written) return;
  if (!error) error.assign(errno, std::generic_category());
  throw DataError(fmt::format("{}: cannot be written: {}", path.string(), error.message()));
}

void run(const ExportOptions& options) {
  StoppableProgress progress;
  LoadOptions load{options.root.empty() ? data_root() : fs::path(options.root), true, &progress};
  const auto set = load_set(options.set, load);
  if (!set.has_images()) throw DataError(fmt::format("{}: should hold images, holds rows of numbers", set.name));
  if (fs::exists(options.folder) && !fs::is_empty(options.folder))
    throw DataError(fmt::format("{}: is there already, and not empty", options.folder));
  const auto width = std::to_string(set.size()).size();
  for (int64_t i = 0; i < set.size(); ++i) {
    if (i % 1000 == 0) progress.report("writing images", i, set.size());
    const auto folder = set.has_labels()
                            ? fs::path(options.folder) /
                                  folder_name(set.class_names[static_cast<size_t>(set.labels[i].item<int64_t>())])
                            : fs::path(options.folder);
    write_image(folder / fmt::format("{:0{}}.png", i, width), set.inputs[i]);
  }
  progress.report("writing images", set.size(), set.size());
  print(fmt::format("{} images in {}, a set by its path\n", set.size(), options.folder));
}

}  // namespace

void add_data_export(CLI::App& data) {
  auto* command = data.add_subcommand("export", "Write the images of a set as PNG files, a folder a class");
  const auto options = std::make_shared<ExportOptions>();
  command->add_option("set", options->set, "SET[:SPLIT][,MODIFIER...]")->required();
  command->add_option("folder", options->folder, "Where to; new or empty")->required();
  command->add_option("--root", options->root, "The data root; else PRIORNET_DATA and its defaults");
  command->footer("Example:\n  priornet data export fashion-mnist:train ./clothes");
  command->callback([options] { run(*options); });
}

}  // namespace priornet::tool
