// Philox 4x32-10: a counter-based random generator: 128 bits as a pure function of a 128-bit counter and a 64-bit key.
#pragma once

#include <array>
#include <cstdint>

namespace pagoda::sampler {

std::array<uint32_t, 4> philox_4x32_10(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) noexcept;

// 64 random bits for the token with index `counter`.
uint64_t random_bits_at(uint64_t seed, uint64_t counter) noexcept;

}  // namespace pagoda::sampler
