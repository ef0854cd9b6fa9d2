// CacheLayout: the contents of a KV block and of a recurrent slot, and their exact sizes. Pure arithmetic, owns
// nothing.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/kv_row.h"

namespace pagoda::cache {

struct CacheTypes {  // of elements
  DType kv = DType::f32, state = DType::f32;
  constexpr CacheTypes(DType kv_type = DType::f32,
                       DType state_type = DType::f32) noexcept  // NOLINT: implicit on purpose
      : kv(kv_type), state(state_type) {}
};

struct CacheLayout {
  int32_t num_attention_layers = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;      // elements of a row
  bool has_latents = false;  // one row per token and layer that is both key and value, instead of two
  int32_t value_dim = 0;     // the leading elements of a latent row that form the value
  DType kv_dtype = DType::f32;
  int32_t block_size = 16;  // tokens
  int32_t index_dim = 0;    // f32 elements of an indexer's row, one per token and attention layer; 0: there is none

  int32_t num_recurrent_layers = 0;
  int32_t num_k_heads = 0, num_v_heads = 0, k_head_dim = 0, v_head_dim = 0;
  DType state_dtype = DType::f32;  // of S alone; what is kept since the last block boundary is f32
  int32_t conv_channels = 0, conv_kernel = 0;
  bool has_channel_decay = false;  // a decay per key channel instead of one per V-head
  int32_t num_head_layers = 0;  // of an MTP head: one more attention layer, and hidden states by position in the slot
  int32_t hidden_size = 0;      // numbers of such a state: of all residual streams
  int32_t anchor_rows = 16;     // tokens between two updates of the state
  // N-gram embeddings of some recurrent layers: the last inputs of a convolution, and the last tokens.
  int32_t num_ngram_layers = 0, ngram_channels = 0, ngram_conv_reach = 0, ngram_size = 0;
  int32_t max_drafts = 0;  // rows after a committed one that may be rejected

  int32_t conv_rows() const noexcept { return conv_kernel - 1 + max_drafts; }  // in the convolution's ring
  bool has_state() const noexcept { return num_recurrent_layers > 0; }

  int64_t head_block_bytes() const noexcept {  // keys and values of one layer; an MTP head's has no others
    return int64_t{has_latents ? 1 : 2} * block_size * num_kv_heads * kv_row_bytes(kv_dtype, head_dim);
  }
  int64_t layer_block_bytes() const noexcept { return head_block_bytes() + int64_t{4} * block_size * index_dim; }
  int64_t kv_block_bytes() const noexcept {  // of all layers
    return num_attention_layers * layer_block_bytes() + num_head_layers * head_block_bytes();
  }
  int32_t ngram_conv_rows() const noexcept { return ngram_conv_reach + max_drafts; }  // in its ring
  int32_t ngram_tokens() const noexcept { return ngram_size - 1 + max_drafts; }
  int64_t ngram_slot_bytes() const noexcept {
    return int64_t{4} * num_ngram_layers * (int64_t{ngram_conv_rows()} * ngram_channels + ngram_tokens());
  }
  int32_t hidden_rows() const noexcept { return max_drafts + 1; }  // in the ring of hidden states
  int64_t hidden_slot_bytes() const noexcept {
    return num_head_layers > 0 ? int64_t{4} * hidden_rows() * hidden_size : 0;
  }
  int64_t state_slot_bytes() const noexcept {
    return recurrent_slot_bytes() + ngram_slot_bytes() + hidden_slot_bytes();
  }
  int64_t state_elements() const noexcept { return int64_t{num_v_heads} * k_head_dim * v_head_dim; }  // S of a layer
  int64_t recurrent_slot_bytes() const noexcept {  // S, key rows, update rows, decay rows, convolution ring
    const int64_t state = static_cast<int64_t>(dtype_bytes(state_dtype)) * state_elements();
    const int64_t decays = int64_t{num_v_heads} * (has_channel_decay ? k_head_dim : 1);
    const int64_t rows =
        int64_t{anchor_rows} * (int64_t{num_k_heads} * k_head_dim + int64_t{num_v_heads} * v_head_dim + decays);
    const int64_t tail = int64_t{conv_rows()} * conv_channels;
    return has_state() ? num_recurrent_layers * (state + 4 * (rows + tail)) : 0;
  }
};

}  // namespace pagoda::cache
