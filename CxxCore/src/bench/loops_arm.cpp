// aarch64: NEON with dotprod, i8mm and bf16.
#include "base/arm_features.h"
#include "bench/loops.h"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace pagoda::bench {
namespace {

// Sixteen chains hide a latency of four cycles on four pipes.
constexpr int kChains = 16;

#define PAGODA_CHAINS(type, zero, step)                              \
  type sums[kChains];                                                \
  for (type & sum : sums) sum = zero;                                \
  for (int64_t round = 0; round < rounds; ++round) {                 \
    _Pragma("clang loop unroll(full)") for (type & sum : sums) step; \
    asm volatile("" : "+w"(x));                                      \
  }                                                                  \
  for (type & sum : sums) asm volatile("" ::"w"(sum))

void fmla(int64_t rounds, const std::byte*) noexcept {
  float32x4_t x = vdupq_n_f32(0.5f);
  PAGODA_CHAINS(float32x4_t, vdupq_n_f32(0), sum = vfmaq_f32(sum, x, x));
}

void smull(int64_t rounds, const std::byte*) noexcept {
  int8x8_t x = vdup_n_s8(1);
  PAGODA_CHAINS(int32x4_t, vdupq_n_s32(0), sum = vpadalq_s16(sum, vmull_s8(x, vmovn_s16(vreinterpretq_s16_s32(sum)))));
}

__attribute__((target("dotprod"))) void sdot(int64_t rounds, const std::byte*) noexcept {
  int8x16_t x = vdupq_n_s8(1);
  PAGODA_CHAINS(int32x4_t, vdupq_n_s32(0), sum = vdotq_s32(sum, x, x));
}

__attribute__((target("i8mm"))) void smmla(int64_t rounds, const std::byte*) noexcept {
  int8x16_t x = vdupq_n_s8(1);
  PAGODA_CHAINS(int32x4_t, vdupq_n_s32(0), sum = vmmlaq_s32(sum, x, x));
}

__attribute__((target("bf16"))) void bfmmla(int64_t rounds, const std::byte*) noexcept {
  uint16x8_t x = vdupq_n_u16(0x3f00);  // 0.5
  PAGODA_CHAINS(float32x4_t, vdupq_n_f32(0),
                sum = vbfmmlaq_f32(sum, vreinterpretq_bf16_u16(x), vreinterpretq_bf16_u16(x)));
}

#undef PAGODA_CHAINS

}  // namespace

std::vector<ArithmeticLoop> arm_loops() {
  const ArmFeatures has = arm_features();
  std::vector<ArithmeticLoop> loops = {{OpLimit::f32, "neon fmla", kChains * 8.0, fmla},
                                       {OpLimit::int8, "neon smull", kChains * 16.0, smull}};
  if (has.dotprod) loops.push_back({OpLimit::int8, "neon sdot", kChains * 32.0, sdot});
  if (has.i8mm) loops.push_back({OpLimit::int8, "neon smmla", kChains * 64.0, smmla});
  if (has.bf16) loops.push_back({OpLimit::bf16, "neon bfmmla", kChains * 32.0, bfmmla});
  return loops;
}

}  // namespace pagoda::bench
#else

namespace pagoda::bench {
std::vector<ArithmeticLoop> arm_loops() { return {}; }
}  // namespace pagoda::bench

#endif
