#include <priornet/learning/method.h>

#include "learning/training/method_list.h"

namespace priornet {
namespace {

constexpr const char* kTable = "method";

}  // namespace

const std::vector<MethodInfo>& methods() {
  static const auto all = listed_methods();
  return all;
}

const MethodInfo& method_info(const std::string& name) {
  return methods()[place_of(choices_of(methods()), kTable, name)];
}

std::unique_ptr<Method> make_method(const MethodOptions& options) {
  const auto table = choices_of(methods());
  const auto place = place_of(table, kTable, options.name);
  return methods()[place].make(settings_of(table, kTable, place, options.settings));
}

}  // namespace priornet
