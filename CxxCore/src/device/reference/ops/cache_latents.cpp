// cache_latents: a row is written like the keys of one KV head.
#include "device/reference/reference_ops.h"

namespace pagoda::device::reference {

// Written twice, as key and as value: the same bytes to the same location.
void run(const CacheLatentsArgs& args) noexcept {
  const Tensor rows = split_last(args.x, 1, args.x.shape[1]), cache = with_one_head(args.cache, args.x.shape[1]);
  run(ReshapeAndCacheArgs{.k = rows, .v = rows, .slot_mapping = args.slot_mapping, .k_cache = cache, .v_cache = cache});
}

}  // namespace pagoda::device::reference
