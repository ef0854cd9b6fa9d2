// Arguments of every operation, one struct per op. T = tokens of this step (all sequences, flat), B = sequences,
// activations are f32, weights have their own dtype. Shapes are checked by ops/ before a device sees them.
#pragma once

#include <cstdint>

#include "device/tensor.h"

namespace pagoda::device {

constexpr int64_t kMaxHeadDim = 512;  // of attention heads and of both GDN dims: sizes a device's scratch
constexpr int64_t kMaxConvKernel = 8;

// Rows of a sequence that a step may compute and the next one take back: no more than these follow a row that stays.
constexpr int32_t kMaxDrafts = 7;

class Weight;  // a matrix [N, K] in whatever form the device keeps it

// Which rows belong to which sequence, and where each sequence stands; shared by all sequence-aware ops.
struct SequenceArgs {
  Tensor cu_seqlens;    // i32 [B + 1]: rows of sequence b are cu_seqlens[b] .. cu_seqlens[b + 1]; each has at least one
  Tensor context_lens;  // i32 [B]: tokens of sequence b in the cache when this step is done
  Tensor block_tables;  // i32 [B, max_blocks]: KV blocks in order; unused entries are not read
  Tensor state_slots;   // i32 [B]: recurrent slot of each sequence; absent for models without recurrent layers
  // No sequence has more tokens in the cache: hosts that cannot see context_lens launch no more than that takes. 0: as
  // many as block_tables have room for.
  int64_t max_context = 0;
};

struct EmbeddingArgs {
  Tensor ids;                     // i32 [T]
  const Weight* table = nullptr;  // [vocab, H]
  Tensor out;                     // f32 [T, H]
};

// out = x * rsqrt(mean(x^2) + eps) * (w + weight_offset), after x += residual when residual is present (x is written).
struct RmsNormArgs {
  Tensor x;         // f32 [T, H]
  Tensor residual;  // f32 [T, H] or absent
  Tensor weight;    // f32 [H]
  float eps = 1e-6f;
  float weight_offset = 0.0f;  // 1 for zero-centred weights
  Tensor out;                  // f32 [T, H]
};

// out = x W^T + bias. Each element sums K in one fixed order whatever M is. With silu_mul, W stacks a gate over an
// equally tall other half, and out [M, N / 2] = silu(gate) * other.
struct MatmulArgs {
  Tensor x;                        // f32 [M, K]
  const Weight* weight = nullptr;  // [N, K]
  Tensor bias;                     // f32 [N] or absent
  Tensor out;                      // f32 [M, N], row stride free
  bool silu_mul = false;
};

// Per head: RMS norm over D (when weight is present), then rotation of the first rotary_dim dims (halves paired, i with
// i + rotary_dim / 2). x may be strided over heads (q beside its gate). out may be x.
struct QkNormRopeArgs {
  Tensor x;       // f32 [T, heads, D]
  Tensor weight;  // f32 [D] or absent
  float eps = 1e-6f;
  float weight_offset = 0.0f;
  Tensor positions;  // i32 [T]
  Tensor inv_freq;   // f32 [rotary_dim / 2]
  Tensor out;        // f32 [T, heads, D]
};

// Writes k and v of each token to its slot: block = slot / block_size, place = slot % block_size.
struct ReshapeAndCacheArgs {
  Tensor k, v;              // f32 [T, kv_heads, D]
  Tensor slot_mapping;      // i64 [T]
  Tensor k_cache, v_cache;  // f32, f16, bf16 or i8 (base/kv_row.h) [num_blocks, block_size, kv_heads, D], strided
};

// Causal attention over the cache: a row at position p sees positions max(0, p - window + 1) .. p. With a softcap,
// scores are softcap * tanh(score / softcap); a sink is one more score of its head, which takes its share and adds no
// value. Online softmax over fixed partitions of absolute positions, in order, so a row's bits depend on its own prefix
// only.
struct PagedAttentionArgs {
  Tensor q;                 // f32 [T, heads, D]
  Tensor k_cache, v_cache;  // as in ReshapeAndCacheArgs
  SequenceArgs sequences;
  float scale = 1.0f;
  int32_t window = 0;  // 0 = all
  Tensor out;          // f32 [T, heads, D]
  float softcap = 0;   // 0 = none
  Tensor sinks = {};   // f32 [heads], optional
};

// out = x * sigmoid(gate)
struct SigmoidGateArgs {
  Tensor x, gate, out;  // f32 [T, heads, D], gate strided
};

// Depthwise causal convolution over time, then SiLU. tail is a ring: the input at position p of a sequence is in row
// p % ring. The step's last `ring` inputs are written there; a position written again replaces what was there, so rows
// can be taken back as long as the ring has room for them beside the kernel - 1 inputs before them. Where the next op
// is the gdn whose q, k and v lie in `out`, a device may do both at once and never write it.
struct CausalConv1dArgs {
  Tensor x;       // f32 [T, C]
  Tensor weight;  // f32 [kernel, C]; kernel - 1 is the current token
  Tensor tail;    // f32 [slots, ring, C]; ring is at least kernel - 1
  SequenceArgs sequences;
  Tensor out;  // f32 [T, C]
};

constexpr int kGdnBlock = 16;  // tokens between two updates of the recurrent state; part of the result's bits

// A head's state [Dk][Dv] lies in panels of 32 columns, each [Dk][32] (the last one narrower): whoever reads a state
// reads its panels side by side, and memory gives several streams at once a third more than one.
constexpr int64_t kGdnPanel = 32;
constexpr int64_t gdn_state_index(int64_t d, int64_t j, int64_t dk, int64_t dv) noexcept {
  const int64_t first = j / kGdnPanel * kGdnPanel, width = dv - first < kGdnPanel ? dv - first : kGdnPanel;
  return first * dk + d * width + j - first;
}

// Block-anchored Gated DeltaNet. q and k arrive raw (after the convolution); the op normalises them (L2, eps 1e-6, per
// head), scales q by 1 / sqrt(Dk), and makes g = -exp(A_log) softplus(a + dt_bias), beta = sigmoid(b).
// V-head h uses K-head h / (Hv / Hk). Row of a token inside its block: position % kGdnBlock.
struct GdnArgs {
  Tensor q, k;            // f32 [T, Hk, Dk], rows strided
  Tensor v;               // f32 [T, Hv, Dv], rows strided
  Tensor a, b;            // f32 [T, Hv]
  Tensor a_log, dt_bias;  // f32 [Hv]
  SequenceArgs sequences;
  Tensor state;   // f32 [slots, Hv, Dk, Dv] in panels (gdn_state_index): at the last block boundary
  Tensor k_rows;  // f32 [slots, Hk, kGdnBlock, Dk]: normalised keys since the boundary
  Tensor u_rows;  // f32 [slots, Hv, kGdnBlock, Dv]
  Tensor g_rows;  // f32 [slots, Hv, kGdnBlock]: cumulative log decay since the boundary
  Tensor out;     // f32 [T, Hv, Dv]
};

// out = x * rsqrt(mean(x^2) + eps) * w * silu(z), per head
struct GatedRmsNormArgs {
  Tensor x, z;    // f32 [T, heads, D], z strided
  Tensor weight;  // f32 [D]
  float eps = 1e-6f;
  Tensor out;  // f32 [T, heads, D]
};

struct GatherRowsArgs {
  Tensor x;     // f32 [T, H]
  Tensor rows;  // i32 [R]
  Tensor out;   // f32 [R, H]
};

// Zeroes the given slots of a pool tensor: no sequence ever sees what another left.
struct ZeroSlotsArgs {
  Tensor pool;   // [slots, ...] dense
  Tensor slots;  // i32 [n]
};

// Slot `to` becomes what slot `from` is.
struct CopySlotArgs {
  Tensor pool;  // [slots, ...] dense
  int64_t from = 0, to = 0;
};

}  // namespace pagoda::device
