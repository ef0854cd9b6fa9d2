// The generator against the known answers published with Random123, and its use for uniforms.
#include <cmath>

#include "sampler/philox.h"
#include "sampler/sampler.h"
#include "support/test.h"

using namespace pagoda::sampler;

PAGODA_TEST(philox_gives_the_known_answers) {
  using Words = std::array<uint32_t, 4>;
  CHECK((philox_4x32_10({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK((philox_4x32_10({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK((philox_4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

PAGODA_TEST(philox_uniforms_lie_in_the_unit_interval_and_fill_it) {
  const uint64_t seed = pagoda::test::seed(11);
  constexpr int kDraws = 100000, kBins = 10;
  int bins[kBins] = {};
  for (int i = 0; i < kDraws; ++i) {
    const float single = uniform_at(seed, static_cast<uint64_t>(i));
    const double precise = uniform_double_at(seed, static_cast<uint64_t>(i));
    if (!(single >= 0 && single < 1 && precise >= 0 && precise < 1)) CHECK(false);
    if (std::abs(precise - single) > 0x1.0p-23) CHECK(false);
    ++bins[static_cast<int>(precise * kBins)];
  }
  for (const int count : bins) {
    pagoda::test::note("bin " + std::to_string(count));
    CHECK(std::abs(count - kDraws / kBins) < 500);  // five standard deviations
  }
}

PAGODA_TEST(philox_depends_on_every_half_of_seed_and_counter) {
  const float base = uniform_at(1, 1);
  CHECK(base != uniform_at(2, 1));
  CHECK(base != uniform_at(1, 2));
  CHECK(base != uniform_at(1 | (uint64_t{1} << 32), 1));
  CHECK(base != uniform_at(1, 1 | (uint64_t{1} << 32)));
}
