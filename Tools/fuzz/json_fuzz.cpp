// Fuzzes the JSON reader: any bytes give a value or an error, within the limits.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = pagoda::io::parse_json(text);
  if (value.is_ok() && value->is_object()) (void)value->find("key");
  return 0;
}
