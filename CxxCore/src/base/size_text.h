// size_text: a number of bytes in the unit that suits it, for messages.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace pagoda {

// "512 bytes", "1.50 KiB", "21.2 GiB": three digits, as the programs show sizes.
inline std::string size_text(int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.2f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace pagoda
