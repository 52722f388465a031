#include <bench/output.h>
#include <fmt/format.h>

#include <cstdio>

#include "learning/base/json_text.h"
#include "uncertainty/dirichlet/instruction_set.h"

namespace priornet::bench {
namespace {

nlohmann::json number_or_null(int64_t value) { return value == 0 ? nlohmann::json() : nlohmann::json(value); }

}  // namespace

Output::Output(bool json)
    : json_(json),
      all_({{"instructions", name_of(best_instruction_set())},
            {"results", nlohmann::json::array()},
            {"reading", nlohmann::json::array()}}) {}

void Output::say(const std::string& line) const {
  if (json_) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Output::add(const Comparison& line) {
  const auto or_dash = [](int64_t value) { return value == 0 ? std::string("-") : std::to_string(value); };
  const auto rate = line.bytes_per_row * line.rows_per_second;
  say(fmt::format("{:<22} {:<8} {:>5} {:>8} {:>13.4g} {:>13.4g} {:>7.1f}x{}", line.work, line.dtype,
                  or_dash(line.classes), or_dash(line.threads), line.rows_per_second, line.plain_rows_per_second,
                  line.ratio(), rate == 0 ? "" : fmt::format(" {:>7.1f}", rate / 1e9)));
  all_["results"].push_back({{"work", line.work},
                             {"dtype", line.dtype},
                             {"classes", number_or_null(line.classes)},
                             {"threads", number_or_null(line.threads)},
                             {"rows_per_second", line.rows_per_second},
                             {"plain_rows_per_second", line.plain_rows_per_second},
                             {"bytes_per_second", rate == 0 ? nlohmann::json() : nlohmann::json(rate)},
                             {"ratio", line.ratio()}});
}

void Output::add(const ReadingTimes& line) {
  say(fmt::format("{:<26} {:>8.1f} {:>10.1f} {:>10.1f} {:>7.2f}x", line.work, static_cast<double>(line.bytes) / 1e6,
                  1e3 * line.seconds, 1e3 * line.plain_seconds, line.ratio()));
  all_["reading"].push_back({{"work", line.work},
                             {"bytes", line.bytes},
                             {"seconds", line.seconds},
                             {"plain_seconds", line.plain_seconds},
                             {"ratio", line.ratio()}});
}

void Output::add(const Ceilings& found) {
  ceilings_ = found;
  say(fmt::format("This machine at best: {:.0f} TFLOP/s (bfloat16 product of 8192 x 8192), {:.2f} TB/s (copy)",
                  found.matmul_operations_per_second / 1e12, found.copy_bytes_per_second / 1e12));
  all_["ceilings"] = {{"matmul_operations_per_second", found.matmul_operations_per_second},
                      {"copy_bytes_per_second", found.copy_bytes_per_second}};
}

void Output::add(const TrainingTimes& line) {
  const auto& method = line.what.method;
  const double share = line.operations_per_second() / ceilings_.matmul_operations_per_second;
  say(fmt::format("{:<17} {:<4} {:>4} + {:<4} {:<7} {:>10.0f} {:>8.3f} {:>8.3f} {:>8.1f} {:>6.1f}% {:>12.0f} {:>6.1f}x",
                  line.what.network, method, line.what.inside, line.what.outside,
                  line.what.factor_analysis ? "factors" : "set", line.images_per_second(), 1e3 * line.seconds,
                  1e3 * line.host_seconds, line.operations_per_second() / 1e12, 100 * share,
                  line.plain_images_per_second(), line.images_per_second() / line.plain_images_per_second()));
  all_["training"].push_back({{"network", line.what.network},
                              {"method", method},
                              {"inside", line.what.inside},
                              {"outside", line.what.outside},
                              {"factor_analysis", line.what.factor_analysis},
                              {"images_per_second", line.images_per_second()},
                              {"plain_images_per_second", line.plain_images_per_second()},
                              {"seconds_per_step", line.seconds},
                              {"host_seconds_per_step", line.host_seconds},
                              {"operations_per_second", line.operations_per_second()},
                              {"share_of_matmul", share}});
}

void Output::add(const WayTimes& line) {
  const auto per_second = [&](double seconds) { return static_cast<double>(line.what.images()) / seconds; };
  say(fmt::format("{:<9} {:>4} + {:<4} {:<20} {:>10.0f} {:>12.0f} {:>7.1f}%", line.what.network, line.what.inside,
                  line.what.outside, line.without, per_second(line.seconds), per_second(line.without_seconds),
                  100 * line.gain()));
  all_["ways"].push_back({{"network", line.what.network},
                          {"inside", line.what.inside},
                          {"outside", line.what.outside},
                          {"without", line.without},
                          {"images_per_second", per_second(line.seconds)},
                          {"images_per_second_without", per_second(line.without_seconds)},
                          {"gain", line.gain()}});
}

void Output::add(const PartTimes& line) {
  say(fmt::format("{:<34} {:>9.1f} us {:>9.1f} GB/s", line.part, 1e6 * line.seconds, line.bytes / line.seconds / 1e9));
  all_["parts"].push_back(
      {{"part", line.part}, {"seconds", line.seconds}, {"bytes_per_second", line.bytes / line.seconds}});
}

void Output::add(const ScoringCost& line) {
  if (line.is_reference) reference_ = line.images_per_second;
  const double cost = reference_ / line.images_per_second;
  say(fmt::format("{:<28} {:>6} {:>12.0f} {:>7.1f}x", line.how, line.passes, line.images_per_second, cost));
  all_["scoring"].push_back(
      {{"how", line.how}, {"passes", line.passes}, {"images_per_second", line.images_per_second}, {"cost", cost}});
}

void Output::add(const PredictionSpeed& line) {
  say(fmt::format("{:>5} {:>12.0f} {:>20.0f}", line.batch, line.inputs_per_second, line.inputs_per_cpu_second));
  all_["prediction"].push_back({{"batch", line.batch},
                                {"inputs_per_second", line.inputs_per_second},
                                {"inputs_per_cpu_second", line.inputs_per_cpu_second}});
}

void Output::add(const ServingTimes& line) {
  say(fmt::format("{:<12} {:>5} {:>6} {:>12.0f} {:>12.0f} {:>7.1f}x {:>10.1f} {:>12.0f} {:>10.1f} {:>10.1f}",
                  line.network, line.batch, line.connections, line.batched.requests_per_second,
                  line.one_by_one.requests_per_second, line.ratio(), 1e3 * line.batched.p99_seconds,
                  line.at_half_load.requests_per_second, 1e3 * line.at_half_load.median_seconds,
                  1e3 * line.at_half_load.p99_seconds));
  const auto json = [](const LoadResult& load) {
    return nlohmann::json{{"requests_per_second", load.requests_per_second},
                          {"median_seconds", load.median_seconds},
                          {"p99_seconds", load.p99_seconds},
                          {"answered", load.answered},
                          {"failed", load.failed}};
  };
  all_["serving"].push_back({{"network", line.network},
                             {"batch", line.batch},
                             {"connections", line.connections},
                             {"batched", json(line.batched)},
                             {"one_by_one", json(line.one_by_one)},
                             {"at_half_load", json(line.at_half_load)},
                             {"ratio", line.ratio()}});
}

void Output::finish() const {
  if (json_) fmt::print("{}\n", json_text(all_, 2));
}

}  // namespace priornet::bench
