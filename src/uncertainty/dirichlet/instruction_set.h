#pragma once

namespace priornet {

/// The instruction sets that the CPU kernels exist for. Portable code runs everywhere, two doubles at a time. What the
/// others gain on the whole job, in CPU-seconds of `priornet measure` on one thread, with portable code, AVX2 and
/// AVX-512: 60,000 rows of 1000 classes 4.9, 2.4 and 1.8; a million rows of 10 classes, where files take most of the
/// time, 2.6, 2.1 and 2.1. The kernels alone, as multiples of the rows per second of LibTorch's textbook formulas in
/// the same run (`priornet bench --only measures`): 1.1, 7.6 and 15.4 for 100 classes in float32.
enum class InstructionSet { kPortable, kAvx2, kAvx512 };

/// The widest set that this CPU and this build have. PRIORNET_INSTRUCTIONS=portable|avx2|avx512 in the environment asks
/// for a narrower one.
InstructionSet best_instruction_set();

bool is_supported(InstructionSet instructions);

const char* name_of(InstructionSet instructions);

/// Calls function.template operator()<lanes>() with the number of doubles in a vector of the set.
template <class Function>
void with_lanes(InstructionSet instructions, const Function& function) {
#if defined(__x86_64__)
  if (instructions == InstructionSet::kAvx512) return function.template operator()<8>();
  if (instructions == InstructionSet::kAvx2) return function.template operator()<4>();
#endif
  static_cast<void>(instructions);
  return function.template operator()<2>();
}

}  // namespace priornet
