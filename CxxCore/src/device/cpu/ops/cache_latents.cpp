// cache_latents: writes the row of a token to the cache.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

void run_row(const Context& context, const CacheLatentsArgs& args, int64_t t, int) noexcept {
  const Tensor& cache = args.cache;
  const int64_t slot = host_data<int64_t>(args.slot_mapping)[t], block_size = cache.shape[1];
  const int64_t offset = slot / block_size * cache.strides[0] + slot % block_size * cache.strides[1];
  context.kernels->cache_row[kv_format_of(cache.dtype)](
      host::at<float>(args.x, t), args.x.shape[1],
      host_data<std::byte>(cache) + offset * static_cast<int64_t>(dtype_bytes(cache.dtype)));
}

}  // namespace pagoda::device::cpu
