// bf16 products with vdpbf16ps (AVX-512 BF16), for machines without AMX. Its summation order is its own, but the same
// for any number of rows: per 32 columns a chain of the instruction, which adds the odd and then the even product of a
// pair, and one addition to the result. Intel's cores run it at half the speed of float products, AMD's at twice: see
// dispatch.cpp.
#include "device/cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang attribute push(                                                                          \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma,f16c"))), \
    apply_to = function)
namespace pagoda::device::cpu::avx512bf16 {

constexpr bool kFused = true, kHardwareF16 = true, kUnsignedWeights = true;

#include "device/cpu/kernels/vector.h"
// clang-format off: order matters
#include "device/cpu/kernels/packed_weights.h"
// clang-format on

template <int Rows, int Blocks>
static void multiply(const PackedTile& t, int64_t m, int64_t block) {
  Vec total[Rows][Blocks] = {};
  for (int64_t column = 0; column < t.groups * kPackedColumns; column += 32) {
    __m512 sums[Rows][Blocks];
    for (auto& row : sums)
      for (__m512& sum : row) sum = _mm512_setzero_ps();
    const int64_t to_next = ahead(t, Blocks, column * 2 * kBlockChannels);
    for (int l = 0; l < 16; ++l) {
      __m512bh w[Blocks];
      for (int j = 0; j < Blocks; ++j) {
        const std::byte* p = t.weights + (block + j) * t.block_bytes + column * 2 * kBlockChannels + l * 64;
        __builtin_prefetch(p + to_next);
        w[j] = load_as<__m512bh>(p);
      }
      for (int r = 0; r < Rows; ++r) {
        const int pair = load_as<int>(t.x + (m + r) * t.x_stride + column * 2 + l * 4);
        const __m512bh x = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(pair));
        for (int j = 0; j < Blocks; ++j) sums[r][j] = _mm512_dpbf16_ps(sums[r][j], w[j], x);
      }
    }
    for (int r = 0; r < Rows; ++r)
      for (int j = 0; j < Blocks; ++j) total[r][j] += __builtin_bit_cast(Vec, sums[r][j]);
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Blocks; ++j) store_channels(t, m + r, block + j, total[r][j]);
}

template <int Blocks>
static void multiply_rows(const PackedTile& t, int64_t block) {
  int64_t m = 0;
  for (; m + 2 <= t.m; m += 2) multiply<2, Blocks>(t, m, block);
  if (m < t.m) multiply<1, Blocks>(t, m, block);
}

void matmul_bf16(const PackedTile& t) {
  int64_t block = 0;
  for (; block + 4 <= t.blocks; block += 4) multiply_rows<4>(t, block);
  for (; block < t.blocks; ++block) multiply_rows<1>(t, block);
}

}  // namespace pagoda::device::cpu::avx512bf16

#pragma clang attribute pop
#endif
