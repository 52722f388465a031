#include "uncertainty/dirichlet/instruction_set.h"

#include <cstdlib>
#include <string_view>

namespace priornet {
namespace {

InstructionSet detect() {
  InstructionSet best = InstructionSet::kPortable;
  if (is_supported(InstructionSet::kAvx2)) best = InstructionSet::kAvx2;
  if (is_supported(InstructionSet::kAvx512)) best = InstructionSet::kAvx512;
  const char* wanted = std::getenv("PRIORNET_INSTRUCTIONS");
  if (wanted == nullptr) return best;
  for (const auto set : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512})
    if (std::string_view(wanted) == name_of(set) && is_supported(set)) return set;
  return best;
}

}  // namespace

InstructionSet best_instruction_set() {
  static const InstructionSet best = detect();
  return best;
}

bool is_supported(InstructionSet instructions) {
  if (instructions == InstructionSet::kPortable) return true;
#if defined(__x86_64__)
  if (instructions == InstructionSet::kAvx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

const char* name_of(InstructionSet instructions) {
  switch (instructions) {
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
    case InstructionSet::kPortable:
      break;
  }
  return "portable";
}

}  // namespace priornet
