// cache_latents: writes the rows of new tokens to their slots in the paged cache.
#include "cache_row.h"
#include "args/latent_attention.h"

// One simdgroup per token. Grid: [tokens]. A slot is block * block_size + offset.
template <typename T>
[[max_total_threads_per_threadgroup(32)]]
kernel void cache_latents(device const float* x [[buffer(0)]],
                          device const long* slot_mapping [[buffer(1)]],
                          device T* cache [[buffer(2)]],
                          constant pagoda_args::CacheLatents& args [[buffer(3)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  cache_row(x + long(token) * args.x_stride, cache + block * args.block_stride + offset * args.slot_stride, args.dim,
            lane);
}

template [[host_name("cache_latents_f32")]] kernel decltype(cache_latents<float>) cache_latents<float>;
template [[host_name("cache_latents_f16")]] kernel decltype(cache_latents<half>) cache_latents<half>;
template [[host_name("cache_latents_bf16")]] kernel decltype(cache_latents<bfloat>) cache_latents<bfloat>;
template [[host_name("cache_latents_i8")]] kernel decltype(cache_latents<char>) cache_latents<char>;
