// Arguments of the operations of every model, one struct per op; those of one family's are in *_ops.h beside it. T =
// tokens of this step (all sequences, flattened), B = sequences; activations are f32, weights have their own dtype.
// ops/ checks shapes before a device sees them.
#pragma once

#include <cstdint>

#include "device/tensor.h"

namespace pagoda::device {

constexpr int64_t kMaxHeadDim = 512;  // of attention heads and both GDN dims: bounds a device's scratch memory
constexpr int64_t kMaxConvKernel = 8;

// Rows of a sequence that a step may compute speculatively and the next step may discard, and that the rings next to a
// recurrent state keep. Rows of a KV cache have no such limit.
constexpr int32_t kMaxDrafts = 7;

class Weight;  // a matrix [N, K] in the device's own format

// Which rows belong to which sequence, and each sequence's position; shared by all sequence-aware ops.
struct SequenceArgs {
  Tensor cu_seqlens;    // i32 [B + 1]: rows of sequence b are cu_seqlens[b] .. cu_seqlens[b + 1]; each has at least one
  Tensor context_lens;  // i32 [B]: tokens of sequence b in the cache after this step
  Tensor block_tables;  // i32 [B, max_blocks]: KV blocks in order; unused entries are not read
  Tensor state_slots;   // i32 [B]: recurrent slot of each sequence; absent for models without recurrent layers
  // Upper bound for context_lens, so that hosts that cannot read it launch no more work than needed. 0: the capacity of
  // block_tables.
  int64_t max_context = 0;
};

struct EmbeddingArgs {
  static constexpr const char* kName = "embedding";
  Tensor ids;                     // i32 [T]
  const Weight* table = nullptr;  // [vocab, H]
  Tensor out;                     // f32 [T, H]
};

// out = x * rsqrt(mean(x^2) + eps) * (w + weight_offset), after x += residual when residual is present (x is written).
// The residual is consumed: a device may add it to x in the previous op, if that is the matmul that computes it, and
// never write it.
struct RmsNormArgs {
  static constexpr const char* kName = "rms_norm";
  Tensor x;         // f32 [T, H]
  Tensor residual;  // f32 [T, H] or absent
  Tensor weight;    // f32 [H]
  float eps = 1e-6f;
  float weight_offset = 0.0f;  // 1 for zero-centred weights
  Tensor out;                  // f32 [T, H]
  // Only the next op reads `out`: if it is a matmul, a device may fuse both and never write `out`.
  bool only_next = false;
};

// out = x W^T + bias. Each element sums K in one fixed order for any M. With silu_mul, W stacks the gate and up
// projections (equally tall), and out [M, N / 2] = silu(gate) * up.
struct MatmulArgs {
  static constexpr const char* kName = "matmul";
  Tensor x;                        // f32 [M, K]
  const Weight* weight = nullptr;  // [N, K]
  Tensor bias;                     // f32 [N] or absent
  Tensor out;                      // f32 [M, N], any row stride
  bool silu_mul = false;
  bool takes_first_rows = false;  // of the weight: as many as `out` has columns
};

// Per head: RMS norm over D (with a weight), then rotation of the first rotary_dim dims (i, i + rotary_dim / 2). x may
// be strided over heads. out may alias x, and is not written if a device fuses the op with caching and attention.
struct QkNormRopeArgs {
  static constexpr const char* kName = "qk_norm_rope";
  Tensor x;       // f32 [T, heads, D]
  Tensor weight;  // f32 [D] or absent
  float eps = 1e-6f;
  float weight_offset = 0.0f;
  Tensor positions;  // i32 [T]
  Tensor inv_freq;   // f32 [rotary_dim / 2]
  Tensor out;        // f32 [T, heads, D]
};

// Writes k and v of each token to its slot: block = slot / block_size, offset = slot % block_size.
struct ReshapeAndCacheArgs {
  static constexpr const char* kName = "reshape_and_cache";
  Tensor k, v;              // f32 [T, kv_heads, D]
  Tensor slot_mapping;      // i64 [T]
  Tensor k_cache, v_cache;  // f32, f16, bf16 or i8 (base/kv_row.h) [num_blocks, block_size, kv_heads, D], strided
};

// Causal attention over the cache: a row at position p attends to positions max(0, p - window + 1) .. p. With a
// softcap, scores are softcap * tanh(score / softcap); a sink is an extra logit of its head, which enters the softmax
// and has no value. Online softmax over fixed partitions of absolute positions, in order, so that a row's bits depend
// only on its own prefix.
struct PagedAttentionArgs {
  static constexpr const char* kName = "paged_attention";
  Tensor q;                 // f32 [T, heads, D]
  Tensor k_cache, v_cache;  // as in ReshapeAndCacheArgs
  SequenceArgs sequences;
  float scale = 1.0f;
  int32_t window = 0;     // 0 = all
  Tensor out;             // f32 [T, heads, D]
  float softcap = 0;      // 0 = none
  Tensor sinks = {};      // f32 [heads], optional
  bool is_causal = true;  // false: every row attends to all positions of its sequence
};

// out = x * sigmoid(gate)
struct SigmoidGateArgs {
  static constexpr const char* kName = "sigmoid_gate";
  Tensor x, gate, out;     // f32 [T, heads, D], gate strided
  bool only_next = false;  // as in RmsNormArgs
};

// Depthwise causal convolution over time, then SiLU. tail is a ring: the input at position p of a sequence is in row
// p % ring. The step's last `ring` inputs are written there, overwriting earlier ones of the same position, so rows can
// be discarded and recomputed as long as the ring also holds the kernel - 1 inputs before them. If the next op is the
// gdn that reads q, k and v from `out`, a device may fuse both and never write `out`.
struct CausalConv1dArgs {
  static constexpr const char* kName = "causal_conv1d";
  Tensor x;       // f32 [T, C]
  Tensor weight;  // f32 [kernel, C]; kernel - 1 is the current token
  Tensor tail;    // f32 [slots, ring, C]; ring is at least kernel - 1
  SequenceArgs sequences;
  Tensor out;  // f32 [T, C]
};

constexpr int kGdnBlock = 16;  // tokens between two updates of the recurrent state; changing it changes result bits

// A head's state [Dk][Dv] is stored in panels of 32 columns, each [Dk][32] (the last may be narrower): kernels read
// several panels in parallel, and several concurrent streams get a third more bandwidth than one.
constexpr int64_t kGdnPanel = 32;
constexpr int64_t gdn_state_index(int64_t d, int64_t j, int64_t dk, int64_t dv) noexcept {
  const int64_t first = j / kGdnPanel * kGdnPanel, width = dv - first < kGdnPanel ? dv - first : kGdnPanel;
  return first * dk + d * width + j - first;
}

// Block-anchored Gated DeltaNet. q and k are the raw convolution outputs; the op normalises them (L2, eps 1e-6, per
// head), scales q by 1 / sqrt(Dk), and computes g = -exp(A_log) softplus(a + dt_bias), beta = beta_scale sigmoid(b).
// V-head h uses K-head h / (Hv / Hk). Row of a token inside its block: position % kGdnBlock.
struct GdnArgs {
  static constexpr const char* kName = "gdn";
  Tensor q, k;            // f32 [T, Hk, Dk], rows strided
  Tensor v;               // f32 [T, Hv, Dv], rows strided
  Tensor a, b;            // f32 [T, Hv]
  Tensor a_log, dt_bias;  // f32 [Hv]
  SequenceArgs sequences;
  Tensor state;             // f32 [slots, Hv, Dk, Dv] in panels (gdn_state_index), as of the last block boundary
  Tensor k_rows;            // f32 [slots, Hk, kGdnBlock, Dk]: normalised keys since the boundary
  Tensor u_rows;            // f32 [slots, Hv, kGdnBlock, Dv]
  Tensor g_rows;            // f32 [slots, Hv, kGdnBlock]: cumulative log decay since the boundary
  Tensor out;               // f32 [T, Hv, Dv]
  float beta_scale = 1.0f;  // 2 if a token may reverse what the state has stored under its key
};

// out = x * rsqrt(mean(x^2) + eps) * w * silu(z), per head
struct GatedRmsNormArgs {
  static constexpr const char* kName = "gated_rms_norm";
  Tensor x, z;    // f32 [T, heads, D], z strided
  Tensor weight;  // f32 [D]
  float eps = 1e-6f;
  Tensor out;              // f32 [T, heads, D]
  bool only_next = false;  // as in RmsNormArgs
};

struct GatherRowsArgs {
  static constexpr const char* kName = "gather_rows";
  Tensor x;     // f32 [T, H]
  Tensor rows;  // i32 [R]
  Tensor out;   // f32 [R, H]
};

// Zeroes the given slots of a pool, so that no sequence sees another's state.
struct ZeroSlotsArgs {
  static constexpr const char* kName = "zero_slots";
  Tensor pool;   // [slots, ...] dense
  Tensor slots;  // i32 [n]
};

// Copies slot `from` to slot `to`.
struct CopySlotArgs {
  static constexpr const char* kName = "copy_slot";
  Tensor pool;  // [slots, ...] dense
  int64_t from = 0, to = 0;
};

}  // namespace pagoda::device
