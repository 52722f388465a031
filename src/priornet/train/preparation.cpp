#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/tensor_file.h>
#include <priornet/data/dataset.h>
#include <priornet/data/files/content_hash.h>
#include <priornet/train/preparation.h>
#include <priornet/train/standardise.h>

#include <array>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

constexpr const char* kPreparationFile = "preparation.safetensors";

template <class P>  // of a Preparation, to be written or read
auto parts_of(P& preparation) {
  return std::array{std::pair{"mean", &preparation.mean}, std::pair{"deviation", &preparation.deviation},
                    std::pair{"validation_rows", &preparation.validation_rows},
                    std::pair{"calibration_rows", &preparation.calibration_rows}};
}

}  // namespace

bool Preparation::empty() const {
  return !mean.defined() && !validation_rows.defined() && !calibration_rows.defined() && feature_names.empty();
}

torch::Tensor Preparation::standardised(const torch::Tensor& inputs) const {
  if (!mean.defined() || inputs.dim() != 2) return inputs;
  return standardised_rows(inputs, mean.to(inputs.device()), deviation.to(inputs.device()));
}

void measure_scale(Preparation& preparation, const torch::Tensor& rows) {
  const auto exact = rows.to(torch::kFloat64);
  const auto mean = exact.mean(0);
  const auto deviation = exact.sub(mean).square().mean(0).sqrt();
  // What rounding leaves of a constant feature is no scale.
  const auto varies = deviation > mean.abs() * 1e-6;
  preparation.mean = mean.to(torch::kFloat32).to(torch::kCPU);
  preparation.deviation =
      torch::where(varies, deviation, torch::ones_like(deviation)).to(torch::kFloat32).to(torch::kCPU);
}

std::string training_content(const Dataset& set) {
  const auto hash = [](const torch::Tensor& values) {
    const auto bytes = values.to(torch::kCPU).contiguous();
    return content_hash({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
  };
  return fmt::format("{}-{:016x}-{:016x}", set.size(), set.has_labels() ? hash(set.labels) : 0,
                     set.has_images() ? 0 : hash(set.inputs));
}

void write_preparation(const std::filesystem::path& run, const Preparation& preparation) {
  const auto path = run / kPreparationFile;
  if (preparation.empty()) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return;
  }
  std::vector<NamedTensor> tensors;
  for (const auto& [name, values] : parts_of(preparation))
    if (values->defined()) tensors.push_back({name, *values});
  write_tensor_file(
      path, tensors,
      {{"features",
        nlohmann::json(preparation.feature_names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)},
       {"content", preparation.content}});
}

Preparation read_preparation(const std::filesystem::path& run) {
  const auto path = run / kPreparationFile;
  Preparation preparation;
  if (!std::filesystem::exists(path)) return preparation;
  const auto file = read_tensor_file(path);
  for (const auto& [name, values] : parts_of(preparation))
    for (const auto& tensor : file.tensors)
      if (tensor.name == name) *values = tensor.values.clone();
  try {
    preparation.feature_names = nlohmann::json::parse(file.metadata.at("features")).get<std::vector<std::string>>();
  } catch (const std::exception&) {
    throw DataError(path.string() + ": its features should be a list of names");
  }
  if (const auto content = file.metadata.find("content"); content != file.metadata.end())
    preparation.content = content->second;
  const auto& [mean, deviation, validation, calibration, names, noted] = preparation;
  const bool sound =
      mean.defined() == deviation.defined() &&
      (!mean.defined() || (mean.scalar_type() == torch::kFloat32 && mean.dim() == 1 &&
                           deviation.scalar_type() == torch::kFloat32 && deviation.sizes() == mean.sizes()));
  if (!sound) throw DataError(path.string() + ": its mean and deviation should be a number a feature");
  if (mean.defined() && !names.empty() && names.size() != static_cast<size_t>(mean.size(0)))
    throw DataError(path.string() + ": its features should be as many as their means");
  for (const auto& rows : {validation, calibration})
    if (rows.defined() && (rows.scalar_type() != torch::kInt64 || rows.dim() != 1))
      throw DataError(path.string() + ": its rows should be a list of whole numbers");
  return preparation;
}

}  // namespace priornet
