// Hash128: incremental 128-bit hash at memory speed, sensitive to order; not collision resistant against an
// attacker.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace pagoda {

inline std::string hex(uint64_t number) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
  return text;
}

struct Hash128Value {
  uint64_t high = 0, low = 0;
  auto operator<=>(const Hash128Value&) const = default;
  std::string text() const { return hex(high) + hex(low); }
};

class Hash128 {
 public:
  void add(uint64_t number) noexcept {
    high_ = (high_ ^ number) * 0x9e3779b97f4a7c15;
    high_ ^= high_ >> 29;
    low_ = (low_ + number) * 0xc2b2ae3d27d4eb4f;
    low_ ^= low_ >> 32;
  }
  void add(std::span<const std::byte> bytes) noexcept {  // hashes the length too, so that padding is unambiguous
    add(uint64_t{bytes.size()});
    for (; !bytes.empty(); bytes = bytes.subspan(bytes.size() < 8 ? bytes.size() : 8)) {
      uint64_t number = 0;
      std::memcpy(&number, bytes.data(), bytes.size() < 8 ? bytes.size() : 8);
      add(number);
    }
  }
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }
  void add(const Hash128Value& value) noexcept { add(value.high), add(value.low); }

  Hash128Value value() const noexcept {  // final mix: the last word added must reach every bit
    Hash128 last = *this;
    last.add(low_);
    last.add(high_);
    return {last.high_, last.low_};
  }

 private:
  uint64_t high_ = 0x243f6a8885a308d3, low_ = 0x13198a2e03707344;
};

}  // namespace pagoda
