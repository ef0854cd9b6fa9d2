// Kernels for x86-64 with AVX-512 F, BW, DQ, VL (servers since 2017, Zen 4).
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), \
                             apply_to = function)
namespace pagoda::device::cpu::avx512 {

constexpr const char* kName = "avx512";
constexpr bool kFused = true, kHardwareF16 = true;
// 32 registers of 16 lanes: up to 24 accumulators.
constexpr int kTileRows = 6, kTileOutputs = 4;
constexpr int kScoreQueries = 4, kScorePositions = 4, kValueQueries = 4, kValueVectors = 4;
constexpr int kStateRows = 8, kStateVectors = 2, kStatePanels = 4;
constexpr int kInt8Rows = 4, kOnePassRows = 6, kOnePassSums = 12, kInt8Blocks = 2, kBf16Blocks = 4, kWideRows = 4,
              kWideBlocks = 2;
constexpr bool kUnsignedWeights = false;

// clang-format off: order matters
#include "device/cpu/kernels/vector.h"
#include "device/cpu/kernels/dot_avx2.h"
#include "device/cpu/kernels/all.h"
// clang-format on

}  // namespace pagoda::device::cpu::avx512

#pragma clang attribute pop
#endif
