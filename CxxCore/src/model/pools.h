// Pools: the memory behind KV blocks and recurrent slots, one buffer per layer. Knows no owner of a block or slot.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "cache/cache_layout.h"
#include "device/device.h"
#include "io/model_config.h"

namespace pagoda::model {

struct KvPool {
  std::unique_ptr<device::Buffer> buffer;
  device::Tensor k, v;  // [num_blocks, block_size, kv_heads, head_dim], strided
};

struct StatePool {  // all f32; see GdnArgs and CausalConv1dArgs
  std::unique_ptr<device::Buffer> buffer;
  device::Tensor state;   // [slots, Hv, Dk, Dv]
  device::Tensor k_rows;  // [slots, Hk, 16, Dk]
  device::Tensor u_rows;  // [slots, Hv, 16, Dv]
  device::Tensor g_rows;  // [slots, Hv, 16]
  device::Tensor tail;    // [slots, kernel - 1, channels]
};

struct Pools {
  std::vector<KvPool> kv;        // per attention layer
  std::vector<StatePool> state;  // per recurrent layer
};

Result<Pools> allocate_pools(const cache::CacheLayout& layout, int64_t num_kv_blocks, int32_t num_state_slots,
                             device::Device& device);

}  // namespace pagoda::model
