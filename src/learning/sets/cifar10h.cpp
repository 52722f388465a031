#include "learning/sets/cifar10h.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include "learning/data/npy.h"
#include "learning/sets/cifar.h"
#include "learning/sets/families.h"
#include "learning/sets/named_files.h"

namespace priornet {
namespace {

constexpr const char* kFile = "cifar10h-counts.npy";

torch::Tensor checked(const std::string& name, const torch::Tensor& counts) {
  const auto classes = static_cast<int64_t>(cifar10_names().size());
  if (counts.scalar_type() != torch::kInt64 || counts.dim() != 2 || counts.size(1) != classes)
    throw DataError(fmt::format("{}: should hold counts, int64 [N, {}]", name, classes));
  if (counts.numel() > 0 && counts.min().item<int64_t>() < 0)
    throw DataError(fmt::format("{}: should hold counts, found {}", name, counts.min().item<int64_t>()));
  const auto nobody = (counts.sum(1) == 0).nonzero();
  if (nobody.size(0) > 0)
    throw DataError(fmt::format("{}: nobody labelled image {}, from 0", name, nobody[0][0].item<int64_t>()));
  return counts.to(torch::kFloat32);
}

}  // namespace

Dataset read_cifar10h(const std::filesystem::path& root) {
  Dataset set;
  visit_named_files(root, {kFile},
                    [&](size_t, ByteStream& bytes) { set.inputs = checked(bytes.name(), read_npy(bytes)); });
  set.name = root.string();
  set.feature_names = cifar10_names();
  return set;
}

CatalogueEntry cifar10h_set() {
  CatalogueEntry entry;
  entry.name = "cifar10h";
  entry.title =
      "CIFAR-10H: how many of about 50 people gave each image of cifar10:test each label, 10 counts per image";
  entry.homepage = "https://github.com/jcpeterson/cifar-10h";
  entry.terms = "CC BY-NC-SA 4.0, to be cited as Peterson et al., 2019";
  entry.show_terms = true;
  entry.files = {{"cifar-10h/cifar10h-counts.npy",
                  0,
                  "",
                  "",
                  {"https://github.com/jcpeterson/cifar-10h/raw/master/data/cifar10h-counts.npy"}}};
  entry.locations = {{"cifar-10h", {kFile}}, {"cifar-10h/data", {kFile}}, {"cifar10h", {kFile}}, {".", {kFile}}};
  entry.parts = {{"test", 10'000, {kFile}, {}, std::nullopt, [](const auto& location, const auto&) {
                    return read_cifar10h(location / kFile);
                  }}};
  entry.splits = {whole_part(entry.parts[0], "the whole file")};
  return entry;
}

}  // namespace priornet
