// sample_scores.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/sample_scores.metal"
#include "device/gpu/generated/edits.h"
#include "device/gpu/generated/weights.h"
# 8 "Shaders/sample_scores.metal"
MSL_KERNEL void sample_scores(MSL_DEVICE const float* logits ,
                          MSL_DEVICE const pagoda_args::SampleRow* rows ,
                          MSL_DEVICE const ulong* found ,
                          MSL_DEVICE const uint* highest ,
                          MSL_DEVICE const ulong* sums ,
                          MSL_DEVICE int* tokens ,
                          MSL_DEVICE pagoda_args::SampleScore* scores ,
                          MSL_CONSTANT pagoda_args::Sample& args ,
                          uint row ,
                          uint tid ,
                          uint sg ,
                          uint lane ) {
  MSL_TG_VAR(1, keys, [kSimdgroups], uint)
  MSL_TG_VAR(2, counts, [3*kSimdgroups], uint)
  MSL_TG_VAR(3, masses, [kSimdgroups], ulong)
  MSL_TG_VAR(4, kept, [kMostKept], ulong)
  const uint wanted = rows[row].num_logprobs;
  if (wanted == 0) {
    return;
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kThreads, args.parts, wanted, tid, mine);
  const uint key = highest_in(highest + row * args.parts, args.parts, keys, tid, lane, sg);
  keep_highest(mine, wanted, (MSL_THREADGROUP ulong*)(kept), counts, tid, lane, sg);
  ulong own = 0;
  for (uint i = tid; MSL_LOOP(i < kEach * args.parts); i += kThreads) {
    own += sums[long(row) * kEach * args.parts + i];
  }
  const ulong total = mass_of(own, (MSL_THREADGROUP ulong*)(masses), lane, sg);
  if (tid < wanted) {
    scores[row].ids[tid] = id_in(kept[tid]);
    scores[row].logits[tid] = logit_in(kept[tid]);
  }
  if (tid == 0) {
    const int token = tokens[row];
    bool is_full = token >= 0;
    for (uint i = 0; MSL_LOOP(i < wanted); ++i) {
      is_full = is_full && kept[i] != 0;
    }
    scores[row].total = total;
    scores[row].highest = logit_of(key);
    scores[row].chosen = is_full ? logits[long(row) * args.logits_stride + token] : 0.0f;
    tokens[row] = is_full ? token : -1;
  }
}
# 1 "sample_scores.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(pagoda_args::SampleRow), false}, {"found", 2, BindingKind::buffer, sizeof(ulong), false}, {"highest", 3, BindingKind::buffer, sizeof(uint), false}, {"sums", 4, BindingKind::buffer, sizeof(ulong), false}, {"tokens", 5, BindingKind::buffer, sizeof(int), true}, {"scores", 6, BindingKind::buffer, sizeof(pagoda_args::SampleScore), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Sample), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sample_scores((const float*)in.buffers[0], (const pagoda_args::SampleRow*)in.buffers[1], (const ulong*)in.buffers[2], (const uint*)in.buffers[3], (const ulong*)in.buffers[4], (int*)in.buffers[5], (pagoda_args::SampleScore*)in.buffers[6], *(const pagoda_args::Sample*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"sample_scores", "sample_scores", msl_bindings_0, {}, 256, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sample_scores_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
