// reshape_and_cache: writes k and v of a token to the cache.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void run_row(const Context& context, const ReshapeAndCacheArgs& args, int64_t t, int) noexcept {
  const int64_t heads = args.k.shape[1], dim = args.k.shape[2], block_size = args.k_cache.shape[1];
  const int64_t element_bytes = static_cast<int64_t>(dtype_bytes(args.k_cache.dtype));
  const auto cache_row = context.kernels->cache_row[kv_format_of(args.k_cache.dtype)];
  const int64_t slot = host_data<int64_t>(args.slot_mapping)[t];
  for (const auto& [from, cache] : {std::pair(&args.k, &args.k_cache), std::pair(&args.v, &args.v_cache)})
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t offset =
          slot / block_size * cache->strides[0] + slot % block_size * cache->strides[1] + h * cache->strides[2];
      cache_row(at<float>(*from, t, h), dim, host_data<std::byte>(*cache) + offset * element_bytes);
    }
}

}  // namespace pagoda::device::cpu
