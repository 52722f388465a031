#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/prepared_copy.h>
#include <priornet/data/catalogue/read_through_copy.h>

namespace priornet {
namespace {

Dataset read_original(const CopiedSource& source, const LoadOptions& options) {
  NoProgress silence;
  Progress& progress = options.progress == nullptr ? silence : *options.progress;
  const auto task = "reading " + source.base.string();
  progress.report(task, 0, 1);
  auto set = source.read();
  if (set.name.empty()) set.name = source.base.string();
  if (source.count > 0 && set.size() != source.count)
    throw DataError(fmt::format("{}: {} should hold {} images, found {}", source.base.string(), source.name,
                                source.count, set.size()));
  check_dataset(set);
  progress.report(task, 1, 1);
  return set;
}

}  // namespace

Dataset read_through_copy(const CopiedSource& source, const LoadOptions& options) {
  if (!options.prepared_copies) return read_original(source, options);
  const auto file = prepared_copy_file(options.root, source.name);
  // Before reading: should the files change meanwhile, the copy is out of date rather than wrong.
  const auto fingerprint = source_fingerprint(source.base, source.files);
  if (auto copy = map_prepared_copy(file, fingerprint); copy && (source.count == 0 || copy->size() == source.count))
    return std::move(*copy);
  auto set = read_original(source, options);
  write_prepared_copy(file, set, fingerprint);
  return set;
}

std::optional<Dataset> copy_without_source(const std::string& name, const LoadOptions& options) {
  if (!options.prepared_copies) return std::nullopt;
  return map_prepared_copy(prepared_copy_file(options.root, name), std::nullopt);
}

std::string copy_name(const CatalogueEntry& entry, const SetPart& part, const std::optional<ResizeOptions>& resize) {
  return entry.name + "-" + part.name + resize_suffix(resize);
}

std::string resize_suffix(const std::optional<ResizeOptions>& resize) {
  if (!resize) return "";
  const bool points = !resize->antialias && resize->resampling != Resampling::kNearest;
  return fmt::format("-{}x{}-{}{}", resize->height, resize->width, name_of(resize->resampling),
                     points ? "-points" : "");
}

}  // namespace priornet
