// slots.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/slots.metal"
# 1 "Shaders/slots.metal"

# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {

  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < num_simdgroups); ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; MSL_LOOP(stride < block); stride *= 2) {
    for (uint i = tid; MSL_LOOP(i < block / 2); i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {

  for (uint j = 0; j < C; ++j) {








    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }

  }
}
# 3 "Shaders/slots.metal"
# 1 "Shaders/args/rows.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/rows.h"

namespace pagoda_args {

struct GatherRows {
  long x_stride, out_stride;
  uint cols, reserved;
};
static_assert(sizeof(GatherRows) == 24, "host and kernel agree");

struct SigmoidGate {
  long x_stride, x_head_stride, gate_stride, gate_head_stride, out_stride, out_head_stride;
  uint heads, dim;
};
static_assert(sizeof(SigmoidGate) == 56, "host and kernel agree");


struct Slot {
  long slot_stride;
  long slot_units;
  long from, to;
};
static_assert(sizeof(Slot) == 32, "host and kernel agree");

}
# 4 "Shaders/slots.metal"


template <typename Unit>
MSL_KERNEL void zero_slots(MSL_DEVICE Unit* pool ,
                       MSL_DEVICE const int* slots ,
                       MSL_CONSTANT pagoda_args::Slot& args ,
                       uint2 tg ,
                       uint2 grid ,
                       uint2 thread_at ,
                       uint2 size ) {
  MSL_DEVICE Unit* slot = pool + long(slots[tg.y]) * args.slot_stride;
  for (long i = long(tg.x * size.x + thread_at.x); MSL_LOOP(i < args.slot_units); i += long(grid.x * size.x)) {
    slot[i] = Unit(0);
  }
}


template <typename Unit>
MSL_KERNEL void copy_slot(MSL_DEVICE Unit* pool ,
                      MSL_CONSTANT pagoda_args::Slot& args ,
                      uint tg ,
                      uint grid ,
                      uint tid ,
                      uint size ) {
  MSL_DEVICE Unit* to = pool + args.to * args.slot_stride;
  MSL_DEVICE const Unit* from = pool + args.from * args.slot_stride;
  for (long i = long(tg * size + tid); MSL_LOOP(i < args.slot_units); i += long(grid * size)) {
    to[i] = from[i];
  }
}







# 1 "slots.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  zero_slots<uint>((uint*)in.buffers[0], (const int*)in.buffers[1], *(const pagoda_args::Slot*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint2>(b.threadgroups_per_grid), msl_builtin<uint2>(b.thread_position_in_threadgroup), msl_builtin<uint2>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"pool", 0, BindingKind::buffer, sizeof(uint), true}, {"slots", 1, BindingKind::buffer, sizeof(int), false}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Slot), false}};
constexpr uint32_t msl_limit_0 = 1024;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  zero_slots<uchar>((uchar*)in.buffers[0], (const int*)in.buffers[1], *(const pagoda_args::Slot*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint2>(b.threadgroups_per_grid), msl_builtin<uint2>(b.thread_position_in_threadgroup), msl_builtin<uint2>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"pool", 0, BindingKind::buffer, sizeof(uchar), true}, {"slots", 1, BindingKind::buffer, sizeof(int), false}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Slot), false}};
constexpr uint32_t msl_limit_1 = 1024;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  copy_slot<uint>((uint*)in.buffers[0], *(const pagoda_args::Slot*)in.buffers[1], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.threadgroups_per_grid), msl_builtin<uint>(b.thread_position_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"pool", 0, BindingKind::buffer, sizeof(uint), true}, {"args", 1, BindingKind::values, sizeof(pagoda_args::Slot), false}};
constexpr uint32_t msl_limit_2 = 1024;
void msl_entry_3(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  copy_slot<uchar>((uchar*)in.buffers[0], *(const pagoda_args::Slot*)in.buffers[1], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.threadgroups_per_grid), msl_builtin<uint>(b.thread_position_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_3[] = {{"pool", 0, BindingKind::buffer, sizeof(uchar), true}, {"args", 1, BindingKind::values, sizeof(pagoda_args::Slot), false}};
constexpr uint32_t msl_limit_3 = 1024;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> slots_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"zero_slots_words", "slots", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"zero_slots_bytes", "slots", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"copy_slot_words", "slots", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
    {"copy_slot_bytes", "slots", metal::msl_bindings_3, {}, metal::msl_limit_3, metal::msl_entry_3},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
