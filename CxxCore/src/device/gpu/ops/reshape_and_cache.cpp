// reshape_and_cache: one threadgroup per token.
#include "args/reshape_and_cache.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const ReshapeAndCacheArgs& a) noexcept {
  if (!accept(a, a.slot_mapping) || !check(check_rows(a.k_cache)) || !check(check_rows(a.v_cache)) || rope_and_cache(a))
    return;
  pagoda_args::ReshapeAndCache args{};
  args.k_stride = a.k.strides[0];
  args.k_head_stride = a.k.strides[1];
  args.v_stride = a.v.strides[0];
  args.v_head_stride = a.v.strides[1];
  args.k_block_stride = a.k_cache.strides[0];
  args.k_slot_stride = a.k_cache.strides[1];
  args.k_cache_head_stride = a.k_cache.strides[2];
  args.v_block_stride = a.v_cache.strides[0];
  args.v_slot_stride = a.v_cache.strides[1];
  args.v_cache_head_stride = a.v_cache.strides[2];
  args.kv_heads = as_uint(a.k.shape[1]);
  args.dim = as_uint(a.k.shape[2]);
  args.block_size = as_uint(a.k_cache.shape[1]);
  namespace cache = kernels::reshape_and_cache;
  launch(of_cache(a.k_cache.dtype, cache::f32, cache::f16, cache::bf16, cache::i8), {{as_uint(a.k.shape[0])}},
         {a.k, a.v, a.slot_mapping, a.k_cache, a.v_cache}, args);
}

}  // namespace pagoda::device::gpu
