// latent_attention: the tasks and kernels of paged_attention with all heads on one KV head, whose values are the first
// elements of its keys. All heads of a row share a task, so that memory is read once for all of them, and the values
// are still in the cache after the scores.
#include "device/cpu/cpu_ops.h"

namespace pagoda::device::cpu {

void run(const Context& context, const LatentAttentionArgs& args) noexcept {
  run(context, PagedAttentionArgs{.q = args.q,
                                  .k_cache = with_one_head(args.cache, args.q.shape[2]),
                                  .v_cache = with_one_head(args.cache, args.out.shape[2]),
                                  .sequences = args.sequences,
                                  .scale = args.scale,
                                  .out = args.out});
}

}  // namespace pagoda::device::cpu
