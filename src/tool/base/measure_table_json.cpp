#include "tool/base/measure_table_json.h"

#include <priornet/learning/detector.h>
#include <priornet/uncertainty/measure_table.h>

#include <nlohmann/json.hpp>

namespace priornet {

nlohmann::ordered_json measure_table_json() {
  auto table = nlohmann::ordered_json::array();
  for (const auto& measure : measure_table())
    table.push_back({{"name", measure.name},
                     {"label", measure.label},
                     {"unit", measure.unit},
                     {"direction", name_of(measure.direction)},
                     {"cause", name_of(measure.cause)},
                     {"softmax_cause", name_of(measure.softmax_cause)},
                     {"section", measure.section}});
  for (const auto& detector : detector_table())
    if (!detector.is_measure && find_measure_by_name(detector.name) == nullptr)
      table.push_back({{"name", detector.name},
                       {"label", detector.label},
                       {"unit", ""},
                       {"direction", name_of(detector.direction)},
                       {"cause", name_of(detector.cause)},
                       {"softmax_cause", name_of(detector.cause)},
                       {"detector", true}});
  return table;
}

}  // namespace priornet
