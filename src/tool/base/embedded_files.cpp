#include "tool/base/embedded_files.h"

#include <priornet/uncertainty/errors.h>

namespace priornet {

std::string_view embedded_file(std::string_view path) {
  for (const auto& file : embedded_files())
    if (file.path == path) return file.text;
  throw Error(std::string(path) + " is not built in");
}

std::filesystem::path model_path(const std::string& name) {
  if (name != kDigitModel) return name;
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const auto path = program.parent_path().parent_path() / "share" / "priornet" / "digits.priornet";
  if (!std::filesystem::exists(path))
    throw Error(std::string(kDigitModel) + ": the digit model should be at " + path.string() +
                ", but it is not there; install priornet again, or name a model file");
  return path;
}

void refuse_digit_model(const std::string& name, std::string_view subcommand) {
  if (name != kDigitModel) return;
  throw DataError(name + " comes with priornet, and " + std::string(subcommand) +
                  " needs results beside the model: copy " + model_path(name).string() +
                  " to a folder of yours and name the copy");
}

}  // namespace priornet
