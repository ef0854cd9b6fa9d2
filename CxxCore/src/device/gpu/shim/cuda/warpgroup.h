// Products of four simdgroups together (wgmma) and bulk copies to threadgroup memory, for compute capability 9.0. The
// products give the same bits as mma.m16n8k16 with the same 16 columns in each step.
#pragma once

#include "device/gpu/shim/cuda/matrix.h"

namespace metal {

// A ring of stages in dynamic threadgroup memory. Each has two barriers: one for its bytes to arrive, one for all
// simdgroups to have used them.
template <uint STAGES, uint BYTES>
struct msl_ring {
  uint stages, barriers;  // addresses in threadgroup memory
  MSL_FN msl_ring(bool is_first, uint simdgroups) {
    extern __shared__ uint msl_dynamic_memory[];
    stages = (uint(__cvta_generic_to_shared(msl_dynamic_memory)) + 1023) & ~1023u;  // as swizzled tiles are aligned
    barriers = stages + STAGES * BYTES;
    if (is_first) {
      for (uint s = 0; s < STAGES; ++s) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers + 16 * s) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barriers + 16 * s + 8), "r"(simdgroups)
                     : "memory");
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
  }
  // Copies part `n` of the input to its stage when all simdgroups have used what is there. By one thread.
  MSL_FN void fetch(uint n, const void* from, uint bytes) {
    const uint stage = n % STAGES;
    const uint full = barriers + 16 * stage;
    if (n >= STAGES) wait(full + 8, (n / STAGES - 1) & 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     stages + stage * BYTES),
                 "l"(from), "r"(bytes), "r"(full)
                 : "memory");
  }
  // Returns the address of part `n`, after its bytes have arrived.
  MSL_FN uint await(uint n) {
    wait(barriers + 16 * (n % STAGES), n / STAGES & 1);
    return stages + n % STAGES * BYTES;
  }
  // By one lane of each simdgroup.
  MSL_FN void release(uint n) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barriers + 16 * (n % STAGES) + 8) : "memory");
  }
  static MSL_FN void wait(uint barrier, uint phase) {
    asm volatile(
        "{.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\n"
        "DONE:\n}" ::"r"(barrier),
        "r"(phase)
        : "memory");
  }
};

MSL_FN void msl_prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// Describes rows of 64 16-bit elements as a right operand: 128 bytes each, of which row r has its 16-byte units i at
// i ^ r % 8.
MSL_FN ulong msl_swizzled_rows(uint address) {
  return ulong((address & 0x3ffffu) >> 4) | 1ul << 16 | ulong(1024 >> 4) << 32 | 1ul << 62;
}

// The sums of 16 rows per simdgroup: those of a lane in order.
#define MSL_SUMS(J) \
  "+f"(acc[0][J].msl_e[0]), "+f"(acc[0][J].msl_e[1]), "+f"(acc[1][J].msl_e[0]), "+f"(acc[1][J].msl_e[1])
#define MSL_SUMS_128                                                                                                   \
  MSL_SUMS(0), MSL_SUMS(1), MSL_SUMS(2), MSL_SUMS(3), MSL_SUMS(4), MSL_SUMS(5), MSL_SUMS(6), MSL_SUMS(7), MSL_SUMS(8), \
      MSL_SUMS(9), MSL_SUMS(10), MSL_SUMS(11), MSL_SUMS(12), MSL_SUMS(13), MSL_SUMS(14), MSL_SUMS(15)
#define MSL_REGISTERS_128                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, " \
  "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, " \
  "%59, %60, %61, %62, %63"
#define MSL_SUMS_192                                                                                                   \
  MSL_SUMS(0), MSL_SUMS(1), MSL_SUMS(2), MSL_SUMS(3), MSL_SUMS(4), MSL_SUMS(5), MSL_SUMS(6), MSL_SUMS(7), MSL_SUMS(8), \
      MSL_SUMS(9), MSL_SUMS(10), MSL_SUMS(11), MSL_SUMS(12), MSL_SUMS(13), MSL_SUMS(14), MSL_SUMS(15), MSL_SUMS(16),   \
      MSL_SUMS(17), MSL_SUMS(18), MSL_SUMS(19), MSL_SUMS(20), MSL_SUMS(21), MSL_SUMS(22), MSL_SUMS(23)
#define MSL_REGISTERS_192                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, " \
  "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, " \
  "%59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, " \
  "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"

// acc (+)= left right^T, 16 columns. left: of the lane, as mma.m16n8k16 has it. The registers are read until
// msl_warpgroup_wait() returns.
#define MSL_WARPGROUP(TILES, WIDTH, T, NAME, A0, A1, A2, A3, RIGHT, ADDS)                                          \
  MSL_FN void msl_warpgroup_multiply(simdgroup_float8x8(&acc)[2][TILES], T, const uint(&left)[4], ulong right,     \
                                     bool adds) {                                                                  \
    asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " ADDS ", 0;\nwgmma.mma_async.sync.aligned.m64n" #WIDTH           \
                 "k16.f32." NAME "." NAME " {" MSL_REGISTERS_##WIDTH "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " RIGHT \
                                                                     ", p, 1, 1, 0;\n}"                            \
                 : MSL_SUMS_##WIDTH                                                                                \
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(uint(adds)));           \
  }
MSL_WARPGROUP(16, 128, half, "f16", "%64", "%65", "%66", "%67", "%68", "%69")
MSL_WARPGROUP(16, 128, bfloat, "bf16", "%64", "%65", "%66", "%67", "%68", "%69")
MSL_WARPGROUP(24, 192, half, "f16", "%96", "%97", "%98", "%99", "%100", "%101")
MSL_WARPGROUP(24, 192, bfloat, "bf16", "%96", "%97", "%98", "%99", "%100", "%101")
#undef MSL_WARPGROUP
// Before the first of several products, and after the last; none of their registers is touched in between.
#define MSL_WARPGROUP(TILES, WIDTH)                                                \
  MSL_FN void msl_warpgroup_begin(simdgroup_float8x8(&acc)[2][TILES]) {            \
    asm volatile("wgmma.fence.sync.aligned;" : MSL_SUMS_##WIDTH::"memory");        \
  }                                                                                \
  MSL_FN void msl_warpgroup_wait(simdgroup_float8x8(&acc)[2][TILES]) {             \
    asm volatile("wgmma.wait_group.sync.aligned 0;" : MSL_SUMS_##WIDTH::"memory"); \
  }
MSL_WARPGROUP(16, 128)
MSL_WARPGROUP(24, 192)
#undef MSL_WARPGROUP
MSL_FN void msl_warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
#undef MSL_SUMS
#undef MSL_SUMS_128
#undef MSL_SUMS_192
#undef MSL_REGISTERS_128
#undef MSL_REGISTERS_192

}  // namespace metal
