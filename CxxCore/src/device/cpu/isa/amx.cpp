// AMX kernels (Xeon since Sapphire Rapids): packed products for batches (few rows use the VNNI kernels), and attention
// over a bf16 cache for any number of queries.
// Only four tiles are ever live: the core has few physical ones, and with all eight in use a busy sibling thread slows
// the products to a quarter.
#include "device/cpu/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang attribute push(                                                                                          \
    __attribute__((target(                                                                                             \
        "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,amx-tile,amx-int8,amx-bf16,avx2,fma,f16c,prfchw"))), \
    apply_to = function)
namespace pagoda::device::cpu::amx {

constexpr bool kFused = true, kHardwareF16 = true, kUnsignedWeights = false;
constexpr int kInt8Blocks = 4;

#include "device/cpu/kernels/vector.h"
// clang-format off: order matters
#include "device/cpu/kernels/lookup_avx512.h"
#include "device/cpu/kernels/packed_weights.h"
#include "device/cpu/kernels/stored_panels.h"
#include "device/cpu/kernels/tiles.h"
#include "device/cpu/kernels/stored_tiles.h"
#include "device/cpu/kernels/attention_parts.h"
#include "device/cpu/kernels/cache_rows.h"
#include "device/cpu/kernels/tile_weights.h"
#include "device/cpu/kernels/attention_tiles.h"
// clang-format on

// Tiles need dims that are a multiple of 32, and scores without a softcap.
static bool has_tiles(const AttentionTile& tile) {
  return tile.dim % 32 == 0 && tile.value_dim % 32 == 0 && tile.softcap == 0;
}

void attention(const AttentionTile& tile) {
  if (!has_tiles(tile)) return avx512::kKernels.attention[kBf16](tile);
  attention<TileAttention>(tile);
}

void attend_partition(const AttentionTile& tile, int64_t partition, float* partial) {
  if (!has_tiles(tile)) return avx512::kKernels.attend_partition[kBf16](tile, partition, partial);
  attend_partition<TileAttention>(tile, partition, partial);
}

bool request_permission() noexcept {
  constexpr long kRequestState = 0x1023, kTileData = 18;
  return __builtin_cpu_supports("amx-int8") && __builtin_cpu_supports("amx-bf16") &&
         __builtin_cpu_supports("avx512bf16") && syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}

}  // namespace pagoda::device::cpu::amx

#pragma clang attribute pop
#endif
