// rope_and_cache: norms and rotations that wait for the next op, if it caches their results.
#include "args/rope_and_cache.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {
namespace {

// Whether both can be fused into one launch: equal except for the tensors they read and write, each in place.
bool are_alike(const QkNormRopeArgs& q, const QkNormRopeArgs& k) noexcept {
  return is_same_view(q.x, q.out) && is_same_view(k.x, k.out) && is_same_view(q.positions, k.positions) &&
         is_same_view(q.inv_freq, k.inv_freq) && q.x.shape[0] == k.x.shape[0] && q.x.shape[2] == k.x.shape[2] &&
         q.eps == k.eps && q.weight_offset == k.weight_offset && q.weight.is_present() == k.weight.is_present();
}

}  // namespace

void GpuEncoder::record(const QkNormRopeArgs& a) noexcept {
  if (product_ || maker_.index() > 0 || num_waiting_ == 2 || (num_waiting_ == 1 && !are_alike(waiting_[0], a)))
    launch_waiting();
  waiting_[num_waiting_++] = a;
}

// Whether `a` now waits together with the rotations of its keys: attention may fuse them.
bool GpuEncoder::rope_and_cache(const ReshapeAndCacheArgs& a) noexcept {
  if (num_waiting_ != 2 || caching_ || !is_same_view(waiting_[1].out, a.k)) return false;
  caching_ = a;
  return true;
}

pagoda_args::RopeAndCache GpuEncoder::rope_args(const ReshapeAndCacheArgs& a) const noexcept {
  const QkNormRopeArgs &q = waiting_[0], &k = waiting_[1];
  pagoda_args::RopeAndCache args{};
  args.q_stride = q.x.strides[0];
  args.q_head_stride = q.x.strides[1];
  args.k_stride = k.x.strides[0];
  args.k_head_stride = k.x.strides[1];
  args.v_stride = a.v.strides[0];
  args.v_head_stride = a.v.strides[1];
  args.k_block_stride = a.k_cache.strides[0];
  args.k_slot_stride = a.k_cache.strides[1];
  args.k_cache_head_stride = a.k_cache.strides[2];
  args.v_block_stride = a.v_cache.strides[0];
  args.v_slot_stride = a.v_cache.strides[1];
  args.v_cache_head_stride = a.v_cache.strides[2];
  args.q_heads = as_uint(q.x.shape[1]);
  args.kv_heads = as_uint(k.x.shape[1]);
  args.dim = as_uint(q.x.shape[2]);
  args.half_rotary = as_uint(q.inv_freq.shape[0]);
  args.block_size = as_uint(a.k_cache.shape[1]);
  args.eps = q.eps;
  args.weight_offset = q.weight_offset;
  args.has_weight = q.weight.is_present();
  return args;
}

void GpuEncoder::launch_rope_and_cache(const ReshapeAndCacheArgs& a) noexcept {
  const QkNormRopeArgs &q = waiting_[0], &k = waiting_[1];
  const pagoda_args::RopeAndCache args = rope_args(a);
  namespace fused = kernels::rope_and_cache;
  launch(of_cache(a.k_cache.dtype, fused::f32, fused::f16, fused::bf16, fused::i8),
         {{args.q_heads + 2 * args.kv_heads, as_uint(q.x.shape[0])}, 32},
         {q.x, k.x, a.v, or_else(q.weight, q.inv_freq), or_else(k.weight, q.inv_freq), q.positions, q.inv_freq,
          a.slot_mapping, a.k_cache, a.v_cache},
         args);
}

}  // namespace pagoda::device::gpu
