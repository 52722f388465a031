#include <priornet/experiments/output_folder.h>

#include <fmt/format.h>
#include <priornet/core/atomic_file.h>
#include <priornet/core/errors.h>

namespace priornet {

OutputFolder::OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", path_.string(), error.message()));
  const AtomicFile probe(path_ / "results.json");  // never committed: leaves nothing behind
}

void OutputFolder::write(std::string_view name, std::string_view bytes) {
  AtomicFile file(path_ / name);
  file.write(bytes);
  file.commit();
  files_.push_back(path_ / name);
}

}  // namespace priornet
