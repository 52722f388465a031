#include <fuzz/rejection.h>
#include <priornet/learning/config.h>

#include <optional>
#include <string>

using namespace priornet;

// A configuration. What is written of it must be read, and as the same. max_len: 4096
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::optional<TrainConfig> config;
  try {
    config = read_config(TomlText{"what was found", std::string(text_of(data, size))});
  } catch (const ConfigError&) {
    return 0;
  }
  const auto written = to_toml(*config);
  if (to_toml(read_config(TomlText{"what was written", written})) != written) __builtin_trap();
  return 0;
}
