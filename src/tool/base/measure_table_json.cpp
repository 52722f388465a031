#include "tool/base/measure_table_json.h"

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
  return table;
}

}  // namespace priornet
