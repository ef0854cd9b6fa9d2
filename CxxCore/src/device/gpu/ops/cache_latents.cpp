// cache_latents: one simdgroup per token.
#include "args/latent_attention.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const CacheLatentsArgs& a) noexcept {
  if (!accept(a, a.slot_mapping) || !check(check_rows(a.cache))) return;
  pagoda_args::CacheLatents args{};
  args.x_stride = a.x.strides[0];
  args.block_stride = a.cache.strides[0];
  args.slot_stride = a.cache.strides[1];
  args.dim = as_uint(a.x.shape[1]);
  args.block_size = as_uint(a.cache.shape[1]);
  namespace cache = kernels::cache_latents;
  launch(of_cache(a.cache.dtype, cache::f32, cache::f16, cache::bf16, cache::i8), {{as_uint(a.x.shape[0])}, 32},
         {a.x, a.slot_mapping, a.cache}, args);
}

}  // namespace pagoda::device::gpu
