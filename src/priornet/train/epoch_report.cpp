#include <priornet/train/epoch_report.h>

#include <nlohmann/json.hpp>

namespace priornet {

EpochReport report_of(const torch::Tensor& sums) {
  const auto values = sums.to(torch::kCPU);
  const auto mean = [&](StepSum which) { return values[which].item<double>() / values[kCount].item<double>(); };
  EpochReport report;
  report.loss = mean(kLoss);
  report.inside = mean(kInside);
  report.outside = mean(kOutside);
  report.cross_entropy = mean(kCrossEntropy);
  report.gradient_norm = mean(kGradientNorm);
  return report;
}

std::string to_json(const EpochReport& report) {
  nlohmann::ordered_json json = {{"epoch", report.epoch},
                                 {"loss", report.loss},
                                 {"inside", report.inside},
                                 {"outside", report.outside},
                                 {"cross_entropy", report.cross_entropy},
                                 {"gradient_norm", report.gradient_norm},
                                 {"rate", report.rate},
                                 {"seconds", report.seconds},
                                 {"images_a_second", report.images_a_second}};
  if (const auto& validation = report.validation) {
    auto& part = json["validation"];
    part = {
        {"error", validation->error}, {"nll", validation->log_likelihood_loss}, {"ece", validation->calibration_error}};
    for (const auto& [name, mean] : validation->inside) part["inside"][name] = mean;
    for (const auto& [name, mean] : validation->outside) part["outside"][name] = mean;
  }
  return json.dump();
}

}  // namespace priornet
