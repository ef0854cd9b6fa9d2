// The generator compared with the known answers published with Random123, and the distribution of its bits.
#include <cstdlib>

#include "sampler/philox.h"
#include "support/test.h"

using namespace pagoda::sampler;

PAGODA_TEST(philox_gives_the_known_answers) {
  using Words = std::array<uint32_t, 4>;
  CHECK((philox_4x32_10({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK((philox_4x32_10({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK((philox_4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

PAGODA_TEST(philox_bits_fill_their_range) {
  const uint64_t seed = pagoda::test::seed(11);
  constexpr int kDraws = 100000, kBins = 10;
  int upper[kBins] = {}, lower[kBins] = {};
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t bits = random_bits_at(seed, static_cast<uint64_t>(i));
    ++upper[(bits >> 32) * kBins >> 32];
    ++lower[(bits & 0xffffffff) * kBins >> 32];
  }
  for (const int* bins : {upper, lower})
    for (int bin = 0; bin < kBins; ++bin) {
      pagoda::test::note("bin " + std::to_string(bins[bin]));
      CHECK(std::abs(bins[bin] - kDraws / kBins) < 500);  // five standard deviations
    }
}

PAGODA_TEST(philox_depends_on_every_half_of_seed_and_counter) {
  const uint64_t base = random_bits_at(1, 1);
  CHECK(base != random_bits_at(2, 1));
  CHECK(base != random_bits_at(1, 2));
  CHECK(base != random_bits_at(1 | (uint64_t{1} << 32), 1));
  CHECK(base != random_bits_at(1, 1 | (uint64_t{1} << 32)));
}
