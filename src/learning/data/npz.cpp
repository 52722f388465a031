#include "learning/data/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <functional>

#include "learning/data/archive.h"
#include "learning/data/npy.h"

namespace priornet {
namespace {

// Takes an array by its name; the unread rest is skipped.
using ArrayVisitor = std::function<void(const std::string& name, ByteStream& npy)>;

void visit(const std::filesystem::path& path, const ArrayVisitor& visitor) {
  visit_archive(
      path, [](const std::string&) { return true; },
      [&](const std::string& file, ByteStream& npy) {
        visitor(file.ends_with(".npy") ? file.substr(0, file.size() - 4) : file, npy);
      });
}

}  // namespace

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  visit(path, [&](const std::string& name, ByteStream&) { names.push_back(name); });
  return names;
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path) {
  std::vector<NamedTensor> arrays;
  visit(path, [&](const std::string& name, ByteStream& npy) { arrays.push_back({name, read_npy(npy)}); });
  return arrays;
}

torch::Tensor read_npz(const std::filesystem::path& path, const std::string& wanted) {
  torch::Tensor found;
  std::vector<std::string> names;
  visit(path, [&](const std::string& name, ByteStream& npy) {
    names.push_back(name);
    if (name == wanted && !found.defined()) found = read_npy(npy);
  });
  if (!found.defined())
    throw DataError(fmt::format("{}: has no array {}; its arrays: {}", path.string(), wanted, fmt::join(names, ", ")));
  return found;
}

}  // namespace priornet
