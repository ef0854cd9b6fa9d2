// Fuzzes config.json and generation_config.json: any bytes give a validated configuration or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/config/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = pagoda::io::parse_model_config(text, "config.json");
  if (config.is_ok() && static_cast<int32_t>(config->layers.size()) != config->num_layers) __builtin_trap();
  (void)pagoda::io::parse_eos_token_ids(text, "generation_config.json", 1 << 20);
  return 0;
}
