// Pools: the memory of KV blocks and recurrent slots, one buffer per layer. Does not know which sequence owns a block
// or slot.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "cache/cache_layout.h"
#include "device/device.h"
#include "io/config/model_config.h"
#include "model/forward_batch.h"
#include "ops/ops.h"

namespace pagoda::model {

struct KvPool {
  std::unique_ptr<device::Buffer> buffer;
  device::Tensor k, v;     // [num_blocks, block_size, kv_heads, head_dim], strided; absent if there are latents
  device::Tensor latents;  // [num_blocks, block_size, latent_dim], strided; or absent
  device::Tensor index;    // f32 [num_blocks, block_size, index_dim]; absent without an indexer

  struct Parts {
    std::array<device::Tensor, 3> tensors;
    size_t count;
    const device::Tensor* begin() const noexcept { return tensors.data(); }
    const device::Tensor* end() const noexcept { return tensors.data() + count; }
  };
  Parts parts() const noexcept;  // the same memory by block: i8 [num_blocks, bytes]
};

struct StatePool {  // all f32 but `state`, which may be bf16; see GdnArgs, KdaArgs and CausalConv1dArgs
  std::unique_ptr<device::Buffer> buffer;
  device::Tensor state;   // [slots, Hv, Dk, Dv]
  device::Tensor k_rows;  // [slots, Hk, 16, Dk]
  device::Tensor u_rows;  // [slots, Hv, 16, Dv]
  device::Tensor g_rows;  // [slots, Hv, 16]; by channel: [slots, Hv, 16, Dk]
  device::Tensor tail;    // [slots, ring, channels]: the input at position p in row p % ring

  std::array<device::Tensor, 5> parts() const noexcept { return {state, k_rows, u_rows, g_rows, tail}; }
};

struct NgramPool {  // see DilatedConvArgs and NgramEmbeddingArgs
  std::unique_ptr<device::Buffer> buffer;
  device::Tensor tail;    // f32 [slots, ring, streams * H]
  device::Tensor tokens;  // i32 [slots, ring]

  std::array<device::Tensor, 2> parts() const noexcept { return {tail, tokens}; }
};

struct HiddenPool {  // the model's outputs for the last tokens of a sequence, or all its streams; read by the MTP head
  std::unique_ptr<device::Buffer> buffer;
  device::Tensor states;  // f32 [slots, ring, H]: that of position p in row p % ring

  std::array<device::Tensor, 1> parts() const noexcept { return {states}; }
  device::Tensor rows() const noexcept;               // [slots * ring, H]
  device::Tensor half(int64_t which) const noexcept;  // one half of every row, as a cache [slots, ring, 1, H / 2]
};

struct Pools {
  std::vector<KvPool> kv;          // per attention layer
  std::vector<StatePool> state;    // per recurrent layer
  std::vector<NgramPool> ngrams;   // per layer with n-gram embeddings
  std::vector<HiddenPool> hidden;  // one, if there is an MTP head, whose KV pool is the last
};

// Copies unit (block or slot) `from` to unit `to` in one layer.
template <class Pool>
Status copy_unit(device::Encoder& encoder, const Pool& pool, const Copy& copy) {
  for (const device::Tensor& part : pool.parts())
    PAGODA_RETURN_IF_ERROR(ops::copy_slot(encoder, {.pool = part, .from = copy.from, .to = copy.to}));
  return ok_status();
}

// Copy one unit of all layers, part by part, to the host and back. `bytes` has exactly their size. From any thread,
// beside steps that do not use the unit, or only read what is copied to the host.
template <class Pool>
Status read_unit(device::Device& device, const std::vector<Pool>& layers, int64_t unit, std::span<std::byte> bytes);
template <class Pool>
Status write_unit(device::Device& device, const std::vector<Pool>& layers, int64_t unit,
                  std::span<const std::byte> bytes);

Result<Pools> allocate_pools(const cache::CacheLayout& layout, int64_t num_kv_blocks, int32_t num_state_slots,
                             device::Device& device);

}  // namespace pagoda::model
