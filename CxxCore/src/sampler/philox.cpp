// Philox 4x32-10 after Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
#include "sampler/philox.h"

#include "sampler/sampler.h"

namespace pagoda::sampler {
namespace {

constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

std::array<uint32_t, 4> bits_at(uint64_t seed, uint64_t counter) noexcept {
  return philox_4x32_10({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
                        {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

}  // namespace

std::array<uint32_t, 4> philox_4x32_10(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) noexcept {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = kMultiplier0 * c[0];
    const uint64_t product1 = kMultiplier1 * c[2];
    c = {static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(product1),
         static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return c;
}

double uniform_double_at(uint64_t seed, uint64_t counter) noexcept {
  const auto bits = bits_at(seed, counter);
  const uint64_t word = (uint64_t{bits[0]} << 32) | bits[1];
  return static_cast<double>(word >> 11) * 0x1.0p-53;
}

float uniform_at(uint64_t seed, uint64_t counter) noexcept {
  return static_cast<float>(bits_at(seed, counter)[0] >> 8) * 0x1.0p-24f;
}

}  // namespace pagoda::sampler
