#include "tool/report/image_sheets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/images.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "tool/report/page.h"
#include "tool/report/table.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

constexpr int64_t kGap = 4;
constexpr int64_t kGround = 0x80;  // neither the black nor the white that images end in
constexpr int64_t kSmallestSide = 64;
constexpr int64_t kLargestOnSheet = 192;

void check_arguments(const torch::Tensor& images, const ContactSheetOptions& options) {
  constexpr auto kFunction = "contact_sheet";
  if (images.dim() != 4 || images.scalar_type() != torch::kUInt8 || (images.size(1) != 1 && images.size(1) != 3) ||
      images.numel() == 0)
    throw ArgumentError(fmt::format("{}: images should be uint8 [N, 1 or 3, H, W], found {} {}", kFunction,
                                    c10::toString(images.scalar_type()), fmt::join(images.sizes(), "x")));
  for (const auto& [name, value, least] :
       {std::tuple("rows", options.rows, 1), std::tuple("columns", options.columns, 1),
        std::tuple("scale", options.scale, 0)})
    check_range(kFunction, name, value >= least, fmt::format("at least {}", least), static_cast<double>(value));
  if (options.labels.defined() && (options.labels.dim() != 1 || options.labels.scalar_type() != torch::kInt64 ||
                                   options.labels.size(0) != images.size(0)))
    throw ArgumentError(fmt::format("{}: labels should be int64 [{}]", kFunction, images.size(0)));
}

// Which images stand in each row.
std::vector<std::vector<int64_t>> arrange(int64_t count, const ContactSheetOptions& options) {
  std::vector<std::vector<int64_t>> rows;
  if (!options.labels.defined()) {
    for (int64_t first = 0; first < count && static_cast<int64_t>(rows.size()) < options.rows;
         first += options.columns) {
      auto& row = rows.emplace_back();
      for (int64_t n = first; n < std::min(first + options.columns, count); ++n) row.push_back(n);
    }
    return rows;
  }
  const auto labels = options.labels.cpu().contiguous();
  const auto* label = labels.data_ptr<int64_t>();
  for (int64_t n = 0; n < count; ++n) {
    if (label[n] < 0 || label[n] >= options.rows) continue;
    if (static_cast<int64_t>(rows.size()) <= label[n]) rows.resize(static_cast<size_t>(label[n]) + 1);
    auto& row = rows[static_cast<size_t>(label[n])];
    if (static_cast<int64_t>(row.size()) < options.columns) row.push_back(n);
  }
  return rows;
}

// Every n-th pixel of large images.
torch::Tensor thinned(const torch::Tensor& images) {
  const auto step = (std::max(images.size(2), images.size(3)) + kLargestOnSheet - 1) / kLargestOnSheet;
  return images.slice(2, step / 2, {}, step).slice(3, step / 2, {}, step);
}

}  // namespace

torch::Tensor contact_sheet(const torch::Tensor& images, const ContactSheetOptions& options) {
  check_arguments(images, options);
  const auto rows = arrange(images.size(0), options);
  size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  if (columns == 0) throw ArgumentError("contact_sheet: labels should name a class that has a row");
  const auto shown = thinned(images);
  const auto side = std::max(shown.size(2), shown.size(3));
  const auto scale = options.scale > 0 ? options.scale : (kSmallestSide + side - 1) / side;
  const auto height = scale * shown.size(2);
  const auto width = scale * shown.size(3);
  auto sheet = torch::full({3, kGap + static_cast<int64_t>(rows.size()) * (height + kGap),
                            kGap + static_cast<int64_t>(columns) * (width + kGap)},
                           kGround, torch::kUInt8);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < rows[r].size(); ++c)
      sheet.narrow(1, kGap + static_cast<int64_t>(r) * (height + kGap), height)
          .narrow(2, kGap + static_cast<int64_t>(c) * (width + kGap), width)
          .copy_(shown[rows[r][c]].repeat_interleave(scale, 1).repeat_interleave(scale, 2));
  return sheet;
}

void write_contact_sheet(const std::filesystem::path& path, const torch::Tensor& images,
                         const ContactSheetOptions& options) {
  const auto png = encode_png(contact_sheet(images, options));
  AtomicFile file(path);
  file.write(png);
  file.commit();
}

namespace {

using ImageJson = nlohmann::ordered_json;

std::string pixels_of(const torch::Tensor& images) {
  const auto bytes = images.contiguous();
  return base64({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
}

ImageJson image_json(const SetScores& scores, const std::string& measure, int64_t row) {
  const auto probabilities = scores.probabilities[row];
  const auto* precision = scores.find("precision");
  const auto shown = precision == nullptr ? probabilities : probabilities * (*precision)[row];
  ImageJson json = {{"value", short_number((*scores.find(measure))[row].item<double>(), 5)},
                    {"class", probabilities.argmax(0).item<int64_t>()}};
  std::vector<double> values(shown.data_ptr<double>(), shown.data_ptr<double>() + shown.numel());
  json[precision == nullptr ? "p" : "alpha"] = short_numbers(std::move(values), 4);
  return json;
}

}  // namespace

std::string certainty_json(const std::vector<CertaintySet>& sets, const CertaintyOptions& options) {
  const auto& inside = sets.front();
  const std::string measure =
      inside.scores->find("differential_entropy") != nullptr ? "differential_entropy" : "entropy";
  const auto shape = image_shape(*inside.set);
  ImageJson json = {{"seed", options.seed},
                    {"model", options.model},
                    {"measure", measure},
                    {"classes", inside.set->class_names},
                    {"shape", {shape.channels, shape.height, shape.width}},
                    {"sets", ImageJson::array()}};
  for (const auto& [title, set, scores] : sets) {
    const auto order = scores->find(measure)->argsort();
    const auto count = std::min(options.count, set->size() / 2);
    const auto rows = torch::cat({order.narrow(0, 0, count), order.narrow(0, order.size(0) - count, count)});
    ImageJson part = {{"title", title},
                      {"pixels", pixels_of(fit_to(select(*set, rows), shape).inputs)},
                      {"images", ImageJson::array()}};
    for (int64_t i = 0; i < rows.size(0); ++i) {
      const auto row = rows[i].item<int64_t>();
      auto image = image_json(*scores, measure, row);
      if (set == inside.set && set->has_labels()) image["label"] = set->labels[row].item<int64_t>();
      part["images"].push_back(std::move(image));
    }
    json["sets"].push_back(std::move(part));
  }
  return json_text(json) + "\n";
}

}  // namespace priornet
