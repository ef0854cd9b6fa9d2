// Kernels for x86-64 with AVX2, FMA and F16C (since 2013).
#include "device/cpu/flush_denormals.h"
#include "device/cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
namespace pagoda::device::cpu::avx2 {

constexpr const char* kName = "avx2";
constexpr bool kFused = true, kHardwareF16 = true;
// 16 registers of 8 lanes: up to 4 accumulators of two registers.
constexpr int kTileRows = 2, kTileOutputs = 2;
constexpr int kScoreQueries = 2, kScorePositions = 2, kValueQueries = 2, kValueVectors = 2;
constexpr int kStateRows = 4, kStateVectors = 1, kStatePanels = 1;
constexpr int kInt8Rows = 2, kOnePassRows = 2, kOnePassSums = 4, kInt8Blocks = 2, kBf16Blocks = 2, kWideRows = 2,
              kWideBlocks = 1;
constexpr bool kUnsignedWeights = false;

// clang-format off: order matters
#include "device/cpu/kernels/vector.h"
#include "device/cpu/kernels/dot_avx2.h"
#include "device/cpu/kernels/all.h"
// clang-format on

}  // namespace pagoda::device::cpu::avx2

#pragma clang attribute pop
#endif
