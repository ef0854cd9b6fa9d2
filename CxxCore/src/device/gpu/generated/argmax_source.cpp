// The text of argmax.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource argmax_source() noexcept {
  return {"argmax",
R"msl(#include "common.h"
#include "keys.h"
#include "args/argmax.h"
constant constexpr uint kThreads = 256;
constant constexpr uint kRefused = 0xffffffffu;
METAL_FUNC void take_highest(threadgroup uint* keys, threadgroup uint* ids, uint tid) {
  for (uint half_size = kThreads / 2; half_size > 0; half_size /= 2) {
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
[[max_total_threads_per_threadgroup(256)]]
kernel void argmax_parts(device const float* logits [[buffer(0)]],
                         device uint* found [[buffer(1)]],
                         constant pagoda_args::Argmax& args [[buffer(2)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]]) {
  MSL_SHARED uint keys[kThreads];
  MSL_SHARED uint ids[kThreads];
  device const float* from = logits + long(group.y) * args.logits_stride;
  const uint end = min((group.x + 1) * args.part_size, args.vocab);
  uint best = 0;
  uint id = args.vocab;
  for (uint i = group.x * args.part_size + tid; i < end; i += kThreads) {
    uint key = key_of(from[i]);
    key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
    id = key > best ? i : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    device uint* to = found + (long(group.y) * args.parts + group.x) * 2;
    to[0] = keys[0];
    to[1] = ids[0];
  }
}
[[max_total_threads_per_threadgroup(256)]]
kernel void argmax(device const uint* found [[buffer(0)]],
                   device int* tokens [[buffer(1)]],
                   constant pagoda_args::Argmax& args [[buffer(2)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]]) {
  MSL_SHARED uint keys[kThreads];
  MSL_SHARED uint ids[kThreads];
  device const uint* from = found + long(row) * args.parts * 2;
  uint best = 0;
  uint id = args.vocab;
  for (uint part = tid; part < args.parts; part += kThreads) {
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
)msl",
R"msl(#define MSL_KERNEL_argmax_parts(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, uint* found, const pagoda_args::Argmax args) { msl_let_dependents_begin(); msl_wait_for_inputs(); argmax_parts(logits, found, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_argmax(BOUNDS) MSL_GLOBAL(BOUNDS)(const uint* found, int* tokens, const pagoda_args::Argmax args) { msl_let_dependents_begin(); msl_wait_for_inputs(); argmax(found, tokens, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_ENTRY_argmax_parts MSL_KERNEL_argmax_parts((256))
#define MSL_ENTRY_argmax MSL_KERNEL_argmax((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
