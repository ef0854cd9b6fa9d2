// Overflow-checked arithmetic for sizes read from a file.
#pragma once

#include <cstdint>

namespace pagoda {

[[nodiscard]] inline bool checked_add(uint64_t a, uint64_t b, uint64_t& sum) noexcept {
  return !__builtin_add_overflow(a, b, &sum);
}

[[nodiscard]] inline bool checked_multiply(uint64_t a, uint64_t b, uint64_t& product) noexcept {
  return !__builtin_mul_overflow(a, b, &product);
}

}  // namespace pagoda
