// Fnv1a: incremental 64-bit FNV-1a hash, sensitive to order; not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pagoda {

class Fnv1a {
 public:
  void add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) value_ = (value_ ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3;
  }
  void add(uint64_t number) noexcept { add(std::as_bytes(std::span(&number, 1))); }
  void add(std::string_view text) noexcept {  // hashes the length too, so that "a", "bc" and "ab", "c" differ
    add(uint64_t{text.size()});
    add(std::as_bytes(std::span(text)));
  }
  uint64_t value() const noexcept { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace pagoda
