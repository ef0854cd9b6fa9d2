// defects.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Tests/Kernels/defects.metal"
# 1 "Tests/Kernels/defects.metal"

# 3 "Tests/Kernels/defects.metal"
# 4 "Tests/Kernels/defects.metal"



MSL_KERNEL void defect_good(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                 uint tid ) {
  MSL_TG_VAR(1, tile, [128], float)
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid] + simd_sum(in[tid]);
}

MSL_KERNEL void defect_oob_read(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                     uint tid ) {
  out[tid] = in[tid + 1];
}

MSL_KERNEL void defect_oob_write(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                      uint tid ) {
  out[tid + 1] = in[tid];
}

MSL_KERNEL void defect_oob_far(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                    uint tid ) {
  out[tid] = in[tid * 64];
}

MSL_KERNEL void defect_oob_threadgroup(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                            uint tid ) {
  MSL_TG_VAR(2, tile, [127], float)
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid];
}

MSL_KERNEL void defect_race_no_barrier(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                            uint tid ) {
  MSL_TG_VAR(3, tile, [128], float)
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[127 - tid];
}

MSL_KERNEL void defect_race_in_simdgroup(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                              uint tid ) {
  MSL_TG_VAR(4, tile, [128], float)
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[tid ^ 1];
}

MSL_KERNEL void defect_race_reuse(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                       uint tid ) {
  MSL_TG_VAR(5, tile, [128], float)
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < 4); ++i) {
    tile[tid] = in[(tid + i) % 128];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[(tid * 7 + i) % 128];
  }
  out[tid] = sum;
}

MSL_KERNEL void defect_race_wrong_flags(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                             MSL_DEVICE float* scratch , uint tid ) {
  scratch[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = scratch[127 - tid];
}

MSL_KERNEL void defect_race_groups(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                        uint tid , uint tg ) {
  out[tid] = in[tid] + float(tg);
}

MSL_KERNEL void defect_uninit_threadgroup(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                               uint tid ) {
  MSL_TG_VAR(6, tile, [128], float)
  if (tid < 64) {
    tile[tid] = in[tid];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid];
}

MSL_KERNEL void defect_uninit_local(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                         uint tid ) {
  float acc[4];
  for (uint i = 0; MSL_LOOP(i < 4); ++i) {
    if (in[tid] < 10.0f || i > 0) {
      acc[i] += in[(tid + i) % 128];
    }
  }
  out[tid] = acc[0] + acc[1] + acc[2] + acc[3];
}

MSL_KERNEL void defect_divergent_barrier(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                              uint tid ) {
  MSL_TG_VAR(7, tile, [128], float)
  tile[tid] = in[tid];
  if (tid < 64) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[tid] = tile[tid];
}

MSL_KERNEL void defect_early_return(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                         uint tid ) {
  MSL_TG_VAR(8, tile, [128], float)
  if (tid >= 100) {
    return;
  }
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[99 - tid];
}

MSL_KERNEL void defect_divergent_simd(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                           uint tid ) {
  float s = 0.0f;
  if (tid % 32 < 16) {
    s = simd_sum(in[tid]);
  }
  out[tid] = s;
}

MSL_KERNEL void defect_two_sites(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                      uint tid ) {
  float s = 0.0f;
  if (tid % 2 == 0) {
    s = simd_sum(in[tid]);
  } else {
    s = simd_sum(in[tid] * 2.0f);
  }
  out[tid] = s;
}

MSL_KERNEL void defect_matrix_pointer(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                           uint tid ) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in + tid % 2, 8);
  simdgroup_store(m, out + tid / 32 * 0, 8);
}

MSL_KERNEL void defect_misaligned(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                       uint tid ) {
  const float4 v = *(MSL_DEVICE const float4*)(in + tid % 100 + 1);
  out[tid] = v.x + v.w;
}

MSL_KERNEL void defect_threadgroup_too_large(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                                  uint tid ) {
  MSL_TG_VAR(9, a, [4096], float)
  MSL_TG_VAR(10, b, [4097], float)
  a[tid] = in[tid];
  b[tid] = in[tid];
  out[tid] = a[tid] + b[tid];
}

MSL_KERNEL void defect_endless(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                           uint tid ) {
  float v = in[tid];
  while (MSL_LOOP(v > 0.0f)) {
    v = v < 1000.0f ? v + 1.0f : 1.0f;
  }
  out[tid] = v;
}
# 1 "defects.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"in", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(float), true}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_good((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_oob_read((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_oob_write((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_oob_far((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_oob_threadgroup((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_race_no_barrier((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_race_in_simdgroup((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_race_reuse((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"in", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(float), true}, {"scratch", 2, BindingKind::buffer, sizeof(float), true}};
void msl_entry_8(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_race_wrong_flags((const float*)in.buffers[0], (float*)in.buffers[1], (float*)in.buffers[2], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_9(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_race_groups((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threadgroup_position_in_grid)); }
void msl_entry_10(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_uninit_threadgroup((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_11(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_uninit_local((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_12(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_divergent_barrier((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_13(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_early_return((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_14(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_divergent_simd((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_15(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_two_sites((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_16(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_matrix_pointer((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_17(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_misaligned((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_18(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_threadgroup_too_large((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_19(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; defect_endless((const float*)in.buffers[0], (float*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"defect_good", "defects", msl_bindings_0, {}, 1024, msl_entry_0},
  {"defect_oob_read", "defects", msl_bindings_0, {}, 1024, msl_entry_1},
  {"defect_oob_write", "defects", msl_bindings_0, {}, 1024, msl_entry_2},
  {"defect_oob_far", "defects", msl_bindings_0, {}, 1024, msl_entry_3},
  {"defect_oob_threadgroup", "defects", msl_bindings_0, {}, 1024, msl_entry_4},
  {"defect_race_no_barrier", "defects", msl_bindings_0, {}, 1024, msl_entry_5},
  {"defect_race_in_simdgroup", "defects", msl_bindings_0, {}, 1024, msl_entry_6},
  {"defect_race_reuse", "defects", msl_bindings_0, {}, 1024, msl_entry_7},
  {"defect_race_wrong_flags", "defects", msl_bindings_1, {}, 1024, msl_entry_8},
  {"defect_race_groups", "defects", msl_bindings_0, {}, 1024, msl_entry_9},
  {"defect_uninit_threadgroup", "defects", msl_bindings_0, {}, 1024, msl_entry_10},
  {"defect_uninit_local", "defects", msl_bindings_0, {}, 1024, msl_entry_11},
  {"defect_divergent_barrier", "defects", msl_bindings_0, {}, 1024, msl_entry_12},
  {"defect_early_return", "defects", msl_bindings_0, {}, 1024, msl_entry_13},
  {"defect_divergent_simd", "defects", msl_bindings_0, {}, 1024, msl_entry_14},
  {"defect_two_sites", "defects", msl_bindings_0, {}, 1024, msl_entry_15},
  {"defect_matrix_pointer", "defects", msl_bindings_0, {}, 1024, msl_entry_16},
  {"defect_misaligned", "defects", msl_bindings_0, {}, 1024, msl_entry_17},
  {"defect_threadgroup_too_large", "defects", msl_bindings_0, {}, 1024, msl_entry_18},
  {"defect_endless", "defects", msl_bindings_0, {}, 1024, msl_entry_19},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> defects_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
