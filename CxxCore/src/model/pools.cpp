// Allocates the pools: together exactly num_kv_blocks * kv_block_bytes + num_state_slots * state_slot_bytes.
#include "model/pools.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/uploads.h"
#include "model/model.h"

namespace pagoda::model {
namespace {

// Places tensors one after another without gaps, so that the bytes match the layout.
device::Tensor place(device::Buffer* buffer, int64_t& offset, DType dtype,
                     std::initializer_list<int64_t> shape) noexcept {
  const device::Tensor tensor = device::dense(buffer, dtype, shape, offset);
  offset += tensor.num_elements() * static_cast<int64_t>(dtype_bytes(dtype));
  return tensor;
}

// [num_blocks, block_size, kv_heads, head_dim], but in memory the rows of a KV head in a block are contiguous: a
// reader of one head, such as an attention task, reads whole pages (1.5 times as fast as every second half kilobyte).
device::Tensor place_kv(device::Buffer* buffer, int64_t& offset, int64_t num_blocks,
                        const cache::CacheLayout& layout) noexcept {
  const int64_t row =
      kv_row_bytes(layout.kv_dtype, layout.head_dim) / static_cast<int64_t>(dtype_bytes(layout.kv_dtype));
  device::Tensor tensor =
      place(buffer, offset, layout.kv_dtype, {num_blocks, layout.block_size, layout.num_kv_heads, row});
  tensor.strides[1] = row;
  tensor.strides[2] = row * layout.block_size;
  tensor.shape[3] = layout.head_dim;
  return tensor;
}

Result<std::unique_ptr<device::Buffer>> allocate(device::Device& device, int64_t count, int64_t unit_bytes,
                                                 const std::string& label) {
  int64_t size = 0;
  if (__builtin_mul_overflow(count, unit_bytes, &size))
    return make_error(StatusCode::out_of_memory,
                      concat(label, ": ", count, " times ", unit_bytes, " bytes is more than a number can hold"));
  return device.allocate(static_cast<size_t>(size), label);
}

device::Tensor by_block(const device::Tensor& kv) noexcept {
  const int64_t block_bytes = kv.strides[0] * static_cast<int64_t>(dtype_bytes(kv.dtype));
  return device::dense(kv.buffer, DType::i8, {kv.shape[0], block_bytes}, kv.offset_bytes);
}

// Calls body(tensor, bytes) for one unit of each part of each layer with its range of `bytes`.
template <class Pool, class Byte, class Body>
Status for_each_part(const std::vector<Pool>& layers, int64_t unit, std::span<Byte> bytes, Body&& body) {
  for (const Pool& layer : layers)
    for (const device::Tensor& part : layer.parts()) {
      if (unit < 0 || unit >= part.shape[0]) return make_error(StatusCode::internal, "no such block or slot");
      const device::Tensor tensor = device::slice(part, 0, unit, 1);
      const size_t size = static_cast<size_t>(tensor.num_elements()) * dtype_bytes(tensor.dtype);
      if (size > bytes.size()) return make_error(StatusCode::internal, "too few bytes for a block or slot");
      PAGODA_RETURN_IF_ERROR(body(tensor, bytes.first(size)));
      bytes = bytes.subspan(size);
    }
  return bytes.empty() ? ok_status() : make_error(StatusCode::internal, "too many bytes for a block or slot");
}

}  // namespace

device::Tensor HiddenPool::rows() const noexcept {
  return device::dense(states.buffer, DType::f32, {states.shape[0] * states.shape[1], states.shape[2]});
}

device::Tensor HiddenPool::half(int64_t which) const noexcept {
  return device::split_last(device::slice(states, 2, which * (states.shape[2] / 2), states.shape[2] / 2), 1,
                            states.shape[2] / 2);
}

KvPool::Parts KvPool::parts() const noexcept {
  if (latents.is_present()) return {{by_block(latents)}, 1};
  if (index.is_present()) return {{by_block(k), by_block(v), by_block(index)}, 3};
  return {{by_block(k), by_block(v)}, 2};
}

template <class Pool>
Status read_unit(device::Device& device, const std::vector<Pool>& layers, int64_t unit, std::span<std::byte> bytes) {
  std::vector<device::Download> downloads;
  PAGODA_RETURN_IF_ERROR(for_each_part(layers, unit, bytes, [&](const device::Tensor& tensor, std::span<std::byte> to) {
    downloads.push_back({tensor.buffer, tensor.offset_bytes, to.data(), to.size()});
    return ok_status();
  }));
  return device::download_beside(device, downloads);
}

template <class Pool>
Status write_unit(device::Device& device, const std::vector<Pool>& layers, int64_t unit,
                  std::span<const std::byte> bytes) {
  std::vector<device::Upload> uploads;
  PAGODA_RETURN_IF_ERROR(
      for_each_part(layers, unit, bytes, [&](const device::Tensor& tensor, std::span<const std::byte> from) {
        uploads.push_back({tensor.buffer, tensor.offset_bytes, from.data(), from.size()});
        return ok_status();
      }));
  return device::upload_beside(device, uploads);
}

template Status read_unit(device::Device&, const std::vector<KvPool>&, int64_t, std::span<std::byte>);
template Status read_unit(device::Device&, const std::vector<StatePool>&, int64_t, std::span<std::byte>);
template Status read_unit(device::Device&, const std::vector<NgramPool>&, int64_t, std::span<std::byte>);
template Status write_unit(device::Device&, const std::vector<NgramPool>&, int64_t, std::span<const std::byte>);
template Status read_unit(device::Device&, const std::vector<HiddenPool>&, int64_t, std::span<std::byte>);
template Status write_unit(device::Device&, const std::vector<HiddenPool>&, int64_t, std::span<const std::byte>);
template Status write_unit(device::Device&, const std::vector<KvPool>&, int64_t, std::span<const std::byte>);
template Status write_unit(device::Device&, const std::vector<StatePool>&, int64_t, std::span<const std::byte>);

Result<Pools> allocate_pools(const cache::CacheLayout& layout, int64_t num_kv_blocks, int32_t num_state_slots,
                             device::Device& device) {
  Pools pools;
  const int num_kv_layers = layout.num_attention_layers + layout.num_head_layers;
  for (int i = 0; i < num_kv_layers; ++i) {
    const bool is_head = i >= layout.num_attention_layers;
    PAGODA_ASSIGN_OR_RETURN(
        auto buffer, allocate(device, num_kv_blocks, is_head ? layout.head_block_bytes() : layout.layer_block_bytes(),
                              concat("KV cache of attention layer ", i)));
    KvPool& pool = pools.kv.emplace_back();
    pool.buffer = std::move(buffer);
    int64_t offset = 0;
    if (layout.has_latents) {
      pool.latents = place_kv(pool.buffer.get(), offset, num_kv_blocks, layout);
      pool.latents.shape[2] = std::exchange(pool.latents.shape[3], 0);
      pool.latents.strides[2] = 1;
      pool.latents.rank = 3;
      continue;
    }
    for (device::Tensor* t : {&pool.k, &pool.v}) *t = place_kv(pool.buffer.get(), offset, num_kv_blocks, layout);
    if (layout.index_dim > 0 && !is_head)
      pool.index = place(pool.buffer.get(), offset, DType::f32, {num_kv_blocks, layout.block_size, layout.index_dim});
  }
  for (int i = 0; i < layout.num_recurrent_layers; ++i) {
    PAGODA_ASSIGN_OR_RETURN(
        auto buffer, allocate(device, num_state_slots, layout.recurrent_slot_bytes() / layout.num_recurrent_layers,
                              concat("state of recurrent layer ", i)));
    StatePool& pool = pools.state.emplace_back();
    pool.buffer = std::move(buffer);
    device::Buffer* b = pool.buffer.get();
    const int64_t slots = num_state_slots, rows = layout.anchor_rows;
    int64_t offset = 0;
    pool.state =
        place(b, offset, layout.state_dtype, {slots, layout.num_v_heads, layout.k_head_dim, layout.v_head_dim});
    pool.k_rows = place(b, offset, DType::f32, {slots, layout.num_k_heads, rows, layout.k_head_dim});
    pool.u_rows = place(b, offset, DType::f32, {slots, layout.num_v_heads, rows, layout.v_head_dim});
    pool.g_rows = layout.has_channel_decay
                      ? place(b, offset, DType::f32, {slots, layout.num_v_heads, rows, layout.k_head_dim})
                      : place(b, offset, DType::f32, {slots, layout.num_v_heads, rows});
    pool.tail = place(b, offset, DType::f32, {slots, layout.conv_rows(), layout.conv_channels});
  }
  for (int i = 0; i < layout.num_ngram_layers; ++i) {
    PAGODA_ASSIGN_OR_RETURN(auto buffer,
                            allocate(device, num_state_slots, layout.ngram_slot_bytes() / layout.num_ngram_layers,
                                     concat("state of n-gram embedding ", i)));
    NgramPool& pool = pools.ngrams.emplace_back();
    pool.buffer = std::move(buffer);
    int64_t offset = 0;
    const int64_t slots = num_state_slots;
    pool.tail = place(pool.buffer.get(), offset, DType::f32, {slots, layout.ngram_conv_rows(), layout.ngram_channels});
    pool.tokens = place(pool.buffer.get(), offset, DType::i32, {slots, layout.ngram_tokens()});
  }
  if (layout.num_head_layers > 0) {
    PAGODA_ASSIGN_OR_RETURN(
        auto buffer, allocate(device, num_state_slots, layout.hidden_slot_bytes(), "hidden states for the MTP head"));
    HiddenPool& pool = pools.hidden.emplace_back();
    pool.buffer = std::move(buffer);
    pool.states =
        device::dense(pool.buffer.get(), DType::f32, {num_state_slots, layout.hidden_rows(), layout.hidden_size});
  }
  return pools;
}

cache::CacheLayout cache_layout(const io::ModelConfig& config, cache::CacheTypes types, int32_t block_size) noexcept {
  cache::CacheLayout layout;
  for (int32_t i = 0; i < static_cast<int32_t>(config.layers.size()); ++i) {
    if (!config.runs_layer(i)) continue;
    const bool is_recurrent = config.layers[i] == io::LayerKind::linear_attention;
    ++(is_recurrent ? layout.num_recurrent_layers : layout.num_attention_layers);
    if (config.ngrams.table_index(i) >= 0) ++layout.num_ngram_layers;
  }
  layout.has_latents = config.has_latents();
  layout.num_kv_heads = config.num_kv_heads;
  layout.head_dim = layout.has_latents ? config.latent_dim() : config.head_dim;
  layout.value_dim = config.kv_lora_rank;
  layout.kv_dtype = types.kv;
  layout.block_size = block_size;
  layout.index_dim = config.indexer.head_dim;
  if (!layout.has_state()) return layout;
  layout.state_dtype = types.state;
  layout.num_k_heads = config.linear_num_k_heads;
  layout.num_v_heads = config.linear_num_v_heads;
  layout.k_head_dim = config.linear_k_head_dim;
  layout.v_head_dim = config.linear_v_head_dim;
  layout.conv_channels = 2 * layout.num_k_heads * layout.k_head_dim + layout.num_v_heads * layout.v_head_dim;
  layout.conv_kernel = config.linear_conv_kernel;
  layout.has_channel_decay = config.channel_decay;
  layout.anchor_rows = device::kGdnBlock;
  layout.max_drafts = device::kMaxDrafts;
  if (layout.num_ngram_layers > 0) {
    layout.ngram_channels = config.num_streams * config.hidden_size;
    layout.ngram_conv_reach = config.ngrams.conv_reach();
    layout.ngram_size = config.ngrams.hash.ngram_size;
  }
  layout.num_head_layers = config.has_mtp_head ? 1 : 0;
  layout.hidden_size = config.num_streams * config.hidden_size;
  return layout;
}

}  // namespace pagoda::model
