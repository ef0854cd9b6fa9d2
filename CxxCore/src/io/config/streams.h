// The parts of a model that only Qwen4-Exp has: hyper-connections, the indexer of sparse attention, n-gram embeddings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ngram_hash.h"

namespace pagoda::io {

class ConfigFields;
struct ModelConfig;

// The indexer of attention layers. num_heads 0: attention is not sparse.
struct IndexerConfig {
  int32_t num_heads = 0, head_dim = 0;
  int32_t ratio = 0;   // tokens in a block
  int32_t budget = 0;  // most tokens in the complete blocks that a token attends to; a multiple of `ratio`

  bool is_present() const noexcept { return num_heads > 0; }
  int32_t num_blocks() const noexcept { return ratio > 0 ? budget / ratio : 0; }
};

// N-gram embeddings of some recurrent layers, each with a table of its own.
struct NgramConfig {
  std::vector<int32_t> layers;  // increasing; empty: none
  NgramHashConfig hash;
  int32_t embed_dim = 0;    // of all heads together
  int32_t conv_kernel = 0;  // of a convolution with ngram_size tokens between its taps
  int32_t num_shards = 0;   // tensors that a table is stored as

  bool is_present() const noexcept { return !layers.empty(); }
  int32_t num_heads() const noexcept { return (hash.ngram_size - 1) * hash.heads_per_ngram; }
  int32_t conv_reach() const noexcept { return (conv_kernel - 1) * hash.ngram_size; }  // tokens back
  // The index of a layer's table, or -1 if it has none.
  int32_t table_index(int32_t layer) const noexcept {
    const auto found = std::find(layers.begin(), layers.end(), layer);
    return found == layers.end() ? -1 : static_cast<int32_t>(found - layers.begin());
  }
};

// Reads the keys of these parts, and how the delta rule's outputs are gated. Needs sizes, layers and rope.
void read_streams(ConfigFields& text, ModelConfig& config);

}  // namespace pagoda::io
