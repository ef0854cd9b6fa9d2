// Packed products on AMX tiles (Xeon from Sapphire Rapids on), for batches; few rows go to the VNNI kernels.
// Only four tiles are ever live: the core has few physical ones, and with all eight in use a busy sibling thread slows
// the products to a quarter.
#include "device/cpu/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed to inlined functions only
#pragma clang attribute push(                                                                                      \
    __attribute__((                                                                                                \
        target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8,amx-bf16,avx2,fma,f16c,prfchw"))), \
    apply_to = function)
namespace pagoda::device::cpu::amx {

constexpr bool kFused = true, kHardwareF16 = true, kUnsignedWeights = false;

#include "device/cpu/kernels/vector.h"
// clang-format off: it needs the vectors
#include "device/cpu/kernels/packed_weights.h"
#include "device/cpu/kernels/tiles.h"
// clang-format on

bool request_permission() noexcept {
  constexpr long kRequestState = 0x1023, kTileData = 18;
  return __builtin_cpu_supports("amx-int8") && __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}

}  // namespace pagoda::device::cpu::amx

#pragma clang attribute pop
#endif
