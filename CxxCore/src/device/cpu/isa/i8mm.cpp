// Packed products for 64-bit ARM with int8 and bf16 matrix instructions (Neoverse V1 and N2, Apple M2, and later).
#include "device/cpu/kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang attribute push(__attribute__((target("i8mm,bf16"))), apply_to = function)
namespace pagoda::device::cpu::i8mm {

constexpr bool kFused = true, kHardwareF16 = true, kUnsignedWeights = false;

#include "device/cpu/kernels/vector.h"
// clang-format off: order matters
#include "device/cpu/kernels/packed_weights.h"
#include "device/cpu/kernels/pairs.h"
// clang-format on

}  // namespace pagoda::device::cpu::i8mm

#pragma clang attribute pop
#endif
