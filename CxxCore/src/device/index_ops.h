// Arguments of sparse attention with an indexer (Qwen4-Exp's QSA): a token attends to the blocks of `ratio` consecutive
// positions whose index keys fit its index queries best, and to the incomplete block at the end. These blocks are
// independent of the blocks of the cache.
#pragma once

#include "device/op_args.h"

namespace pagoda::device {

constexpr int64_t kMaxIndexBudget = 1 << 17;  // tokens in the chosen blocks: bounds a device's scratch memory

// Writes a row for each token: its raw key, or the key of its block if it is the last of the block. That is the mean of
// the raw keys, normalised and rotated by the position of the block's first token. No later token needs the raw key of
// a last one, and rows that are taken back are written again before a block is complete.
struct CacheIndexKeysArgs {
  static constexpr const char* kName = "cache_index_keys";
  Tensor x;       // f32 [T, D], rows strided
  Tensor weight;  // f32 [D]
  float eps = 1e-6f, weight_offset = 0.0f;
  Tensor inv_freq;  // f32 [rotary_dim / 2]
  int64_t ratio = 1;
  SequenceArgs sequences;
  Tensor cache;  // f32 [num_blocks, block_size, D]
};

// The complete blocks that each token attends to, at most K: those of the highest sum over heads of
// max(0, query . key), of equal ones the first.
struct SelectBlocksArgs {
  static constexpr const char* kName = "select_blocks";
  Tensor q;      // f32 [T, heads, D], rows strided
  Tensor cache;  // as in CacheIndexKeysArgs, with the step's rows
  int64_t ratio = 1;
  SequenceArgs sequences;
  Tensor out;  // i32 [T, K]: in increasing order, then -1
};

// Attention to the tokens of the chosen blocks and of the incomplete one.
struct BlockAttentionArgs {
  static constexpr const char* kName = "block_attention";
  Tensor q;                 // f32 [T, heads, D]
  Tensor k_cache, v_cache;  // as in PagedAttentionArgs
  Tensor blocks;            // i32 [T, K]
  int64_t ratio = 1;
  SequenceArgs sequences;
  float scale = 1.0f;
  Tensor out;  // f32 [T, heads, D]
};

}  // namespace pagoda::device
