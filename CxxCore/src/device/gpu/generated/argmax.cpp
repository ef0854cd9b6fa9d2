// argmax.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 4 "Shaders/argmax.metal"
#include "device/gpu/generated/common.h"
#include "device/gpu/generated/keys.h"
#include "device/gpu/generated/args_argmax.h"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kRefused = 0xffffffffu;


METAL_FUNC void take_highest(MSL_THREADGROUP uint* keys, MSL_THREADGROUP uint* ids, uint tid) {
  for (uint half_size = kThreads / 2; MSL_LOOP(half_size > 0); half_size /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < half_size) {
      const uint other = tid + half_size;
      if (keys[other] > keys[tid] || (keys[other] == keys[tid] && ids[other] < ids[tid])) {
        keys[tid] = keys[other];
        ids[tid] = ids[other];
      }
    }
  }
}
# 27 "Shaders/argmax.metal"
MSL_KERNEL void argmax_parts(MSL_DEVICE const float* logits ,
                         MSL_DEVICE uint* found ,
                         MSL_CONSTANT pagoda_args::Argmax& args ,
                         uint2 group ,
                         uint tid ) {
  MSL_TG_VAR(1, keys, [kThreads], uint)
  MSL_TG_VAR(2, ids, [kThreads], uint)
  MSL_DEVICE const float* from = logits + long(group.y) * args.logits_stride;
  const uint end = min((group.x + 1) * args.part_size, args.vocab);
  uint best = 0;
  uint id = args.vocab;
  for (uint i = group.x * args.part_size + tid; MSL_LOOP(i < end); i += kThreads) {
    uint key = key_of(from[i]);
    key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
    id = key > best ? i : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    MSL_DEVICE uint* to = found + (long(group.y) * args.parts + group.x) * 2;
    to[0] = keys[0];
    to[1] = ids[0];
  }
}
# 56 "Shaders/argmax.metal"
MSL_KERNEL void argmax(MSL_DEVICE const uint* found ,
                   MSL_DEVICE int* tokens ,
                   MSL_CONSTANT pagoda_args::Argmax& args ,
                   uint row ,
                   uint tid ) {
  MSL_TG_VAR(3, keys, [kThreads], uint)
  MSL_TG_VAR(4, ids, [kThreads], uint)
  MSL_DEVICE const uint* from = found + long(row) * args.parts * 2;
  uint best = 0;
  uint id = args.vocab;
  for (uint part = tid; MSL_LOOP(part < args.parts); part += kThreads) {
    const uint key = from[part * 2];
    id = key > best ? from[part * 2 + 1] : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    tokens[row] = keys[0] > kMinusInfinityKey && keys[0] != kRefused ? int(ids[0]) : -1;
  }
}
# 1 "argmax.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"found", 1, BindingKind::buffer, sizeof(uint), true}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Argmax), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; argmax_parts((const float*)in.buffers[0], (uint*)in.buffers[1], *(const pagoda_args::Argmax*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"found", 0, BindingKind::buffer, sizeof(uint), false}, {"tokens", 1, BindingKind::buffer, sizeof(int), true}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Argmax), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; argmax((const uint*)in.buffers[0], (int*)in.buffers[1], *(const pagoda_args::Argmax*)in.buffers[2], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"argmax_parts", "argmax", msl_bindings_0, {}, 256, msl_entry_0},
  {"argmax", "argmax", msl_bindings_1, {}, 256, msl_entry_1},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> argmax_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
