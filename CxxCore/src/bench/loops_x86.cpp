// x86-64: AVX2, AVX-VNNI, AVX-512 with VNNI and BF16, AMX.
#include "bench/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace pagoda::bench {
namespace {

// Twelve chains hide a latency of four to six cycles on two ports.
constexpr int kChains = 12;

// A loop over `kChains` independent accumulators; `barrier` hides the operand from the optimiser.
#define PAGODA_CHAINS(type, zero, step)                              \
  type sums[kChains];                                                \
  for (type & sum : sums) sum = zero;                                \
  for (int64_t round = 0; round < rounds; ++round) {                 \
    _Pragma("clang loop unroll(full)") for (type & sum : sums) step; \
    asm volatile("" : "+v"(x));                                      \
  }                                                                  \
  for (type & sum : sums) asm volatile("" ::"v"(sum))

__attribute__((target("avx2,fma"))) void fma_avx2(int64_t rounds, const std::byte*) noexcept {
  __m256 x = _mm256_set1_ps(0.5f);
  PAGODA_CHAINS(__m256, _mm256_setzero_ps(), sum = _mm256_fmadd_ps(x, x, sum));
}

__attribute__((target("avx512f"))) void fma_avx512(int64_t rounds, const std::byte*) noexcept {
  __m512 x = _mm512_set1_ps(0.5f);
  PAGODA_CHAINS(__m512, _mm512_setzero_ps(), sum = _mm512_fmadd_ps(x, x, sum));
}

__attribute__((target("avx2"))) void maddubs_avx2(int64_t rounds, const std::byte*) noexcept {
  __m256i x = _mm256_set1_epi8(1);
  const __m256i ones = _mm256_set1_epi16(1);
  PAGODA_CHAINS(__m256i, _mm256_setzero_si256(),
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, sum), ones)));
}

__attribute__((target("avx2,avxvnni"))) void vnni_avx2(int64_t rounds, const std::byte*) noexcept {
  __m256i x = _mm256_set1_epi8(1);
  PAGODA_CHAINS(__m256i, _mm256_setzero_si256(), sum = _mm256_dpbusd_avx_epi32(sum, x, x));
}

__attribute__((target("avx512f,avx512vnni"))) void vnni_avx512(int64_t rounds, const std::byte*) noexcept {
  __m512i x = _mm512_set1_epi8(1);
  PAGODA_CHAINS(__m512i, _mm512_setzero_si512(), sum = _mm512_dpbusd_epi32(sum, x, x));
}

__attribute__((target("avx512f,avx512bf16"))) void dpbf16_avx512(int64_t rounds, const std::byte*) noexcept {
  __m512i x = _mm512_set1_epi16(0x3f00);  // 0.5
  PAGODA_CHAINS(__m512, _mm512_setzero_ps(), sum = _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)x));
}

#undef PAGODA_CHAINS

#if defined(__linux__)
#define PAGODA_AMX __attribute__((target("amx-tile,amx-int8,amx-bf16")))

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16};
};

// Two C tiles, one A, one B, loaded from L1 as in a matrix product. Only four tiles are live: with all eight and a
// busy sibling thread the loop ran at a quarter of its speed (physical tile registers are few).
template <bool is_bf16>
PAGODA_AMX void amx(int64_t rounds, const std::byte* scratch) noexcept {
  constexpr int kSteps = 8, kTileBytes = 1024;
  static_assert(3 * kSteps * kTileBytes <= kScratchBytes);
  const TileConfig config;
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  for (int64_t round = 0; round < rounds; ++round) {
    for (int step = 0; step < kSteps; ++step) {
      const std::byte* tiles = scratch + 3 * step * kTileBytes;
      _tile_loadd(2, tiles, 64);
      _tile_loadd(3, tiles + kTileBytes, 64);
      if constexpr (is_bf16) _tile_dpbf16ps(0, 2, 3);
      else _tile_dpbssd(0, 2, 3);
      _tile_loadd(3, tiles + 2 * kTileBytes, 64);
      if constexpr (is_bf16) _tile_dpbf16ps(1, 2, 3);
      else _tile_dpbssd(1, 2, 3);
    }
  }
  _tile_release();
}

// Linux grants tile registers only to a process that requests them.
bool has_amx() noexcept {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return __builtin_cpu_supports("amx-int8") && __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#endif

}  // namespace

std::vector<ArithmeticLoop> x86_loops() {
  __builtin_cpu_init();
  std::vector<ArithmeticLoop> loops;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops.push_back({OpLimit::f32, "avx2 fma", kChains * 16.0, fma_avx2});
    loops.push_back({OpLimit::int8, "avx2 maddubs", kChains * 64.0, maddubs_avx2});
    if (__builtin_cpu_supports("avxvnni")) loops.push_back({OpLimit::int8, "avx vnni", kChains * 64.0, vnni_avx2});
  }
  if (__builtin_cpu_supports("avx512f")) {
    loops.push_back({OpLimit::f32, "avx512 fma", kChains * 32.0, fma_avx512});
    if (__builtin_cpu_supports("avx512vnni"))
      loops.push_back({OpLimit::int8, "avx512 vnni", kChains * 128.0, vnni_avx512});
    if (__builtin_cpu_supports("avx512bf16"))
      loops.push_back({OpLimit::bf16, "avx512 dpbf16", kChains * 64.0, dpbf16_avx512});
  }
#if defined(__linux__)
  if (has_amx()) {
    loops.push_back({OpLimit::int8, "amx int8", 16 * 32768.0, amx<false>});
    loops.push_back({OpLimit::bf16, "amx bf16", 16 * 16384.0, amx<true>});
  }
#endif
  return loops;
}

}  // namespace pagoda::bench
#else

namespace pagoda::bench {
std::vector<ArithmeticLoop> x86_loops() { return {}; }
}  // namespace pagoda::bench

#endif
