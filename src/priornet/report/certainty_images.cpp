#include <priornet/data/transforms/fitting.h>
#include <priornet/report/base64.h>
#include <priornet/report/certainty_images.h>
#include <priornet/report/short_number.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace priornet {
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
  return json.dump() + "\n";
}

}  // namespace priornet
