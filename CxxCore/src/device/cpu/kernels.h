// Kernels: the inner loops of the CPU device, one table of function pointers per instruction set.
// Written once (kernels/*.h) and compiled per instruction set in its own namespace. A kernel takes plain pointers, runs
// on one thread and never allocates. Strides are in elements.
// R1: every output element is summed in an order that depends only on its own row; tiling never changes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/kv_row.h"
#include "device/cpu/stored_tile.h"
#include "device/host/quantise.h"
#include "device/latent_ops.h"
#include "device/op_args.h"

namespace pagoda::device::cpu {

struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
struct I8 {
  int8_t value;
};

// Index of table entries that exist once per storage type.
enum Format : int { kF32 = 0, kF16 = 1, kBf16 = 2, kNumFormats = 3 };

constexpr Format format_of(DType dtype) noexcept {
  return dtype == DType::f32 ? kF32 : (dtype == DType::f16 ? kF16 : kBf16);
}

// The same for entries that access the KV cache, which may also be int8.
constexpr int kKvI8 = kNumFormats, kNumKvFormats = kNumFormats + 1;

constexpr int kv_format_of(DType dtype) noexcept { return dtype == DType::i8 ? kKvI8 : format_of(dtype); }

// out[m][n] = sum over k of x[m][k] w[n][k] + bias[n]; w is f32 or f16, rows zero-padded to a multiple of 16.
struct MatmulTile {
  const float* x;
  int64_t x_stride;
  const void* w;
  int64_t w_stride;
  const float* bias;  // or null
  float* out;
  int64_t out_stride;
  int64_t m, n, k;
};

constexpr int64_t kBlockChannels = 16;                    // per block of a packed weight: one vector of results
constexpr int64_t kPackedColumns = host::kColumnPadding;  // a group: K of a packed weight is padded to groups

// Which packed format a kernel multiplies; index of Packed::matmul.
enum PackedFormat : int { kPackedBf16 = 0, kPacked8 = 1, kPacked4 = 2, kNumPackedFormats = 3 };

// One row of activations in the form packed weights are multiplied with: bf16, or int8 of the rotated row.
struct PackedRow {
  std::byte* values;  // [padded K]
  float* scale;       // value = scale * int8; int8 only
  int32_t* sum;       // of the int8 values
};

// Rows times blocks of 16 channels of a packed weight (packed_weight.h). int8: an exact integer sum over all columns,
// times the channel's scale, times the row's. bf16: per 32 columns a chain over the even and one over the odd columns,
// their sum, one addition to the result. This order is the same for any number of rows and every instruction set; bf16
// with ARM's matrix instructions (kernels/pairs.h) or vdpbf16ps has its own, the same for any number of rows.
struct PackedTile {
  const std::byte* weights;  // first block
  int64_t block_bytes;
  const std::byte* steps;       // 4 bit: u8 [block][K / 32][16 steps, 16 offsets]
  int64_t step_bytes;           // per block
  const float* channel_scales;  // int8: [channel]
  const std::byte* x;           // [m][x_stride bytes]; readable up to a multiple of 16 rows
  int64_t x_stride;
  const float* x_scales;  // [m]
  const int32_t* x_sums;  // [m]
  int64_t groups;         // of 128 columns
  int64_t m, blocks;
  const float* bias;  // [n] or null
  float* out;
  int64_t out_stride, n;  // n: channels that exist; the rest of the last block is padding
  std::byte* scratch;     // kPackedScratch bytes
};
// Partial results of 512 rows x 32 channels, and 1024 columns of 32 channels as int8.
constexpr int64_t kPackedScratch = 512 * 32 * 4 + 1024 * 32;
// Of weights of 8-bit floats besides: 64 channels x 128 columns as bf16, products of 256 rows with them, and their
// sums.
constexpr int64_t kFloat8Channels = 64, kFloat8Rows = 256;
constexpr int64_t kFloat8Panel = kFloat8Channels * kPackedColumns * 2;
constexpr int64_t kMatmulScratch = kPackedScratch + kFloat8Panel + 2 * kFloat8Rows * kFloat8Channels * 4;

// The same channels of some rows: out = part scale or, with one rounding, total + part scale; then + bias.
struct ScaledPart {
  const float *part, *total, *scales;  // [m][stride], [m][stride] or null, [16]
  int64_t stride;
  const float* bias;  // [n] or null
  float* out;
  int64_t out_stride, m, n;  // n: at most 16
};

struct Packed {
  int64_t run;  // adjacent columns of a channel stored contiguously in an int8 block: 4 or 8
  void (*matmul[kNumPackedFormats])(const PackedTile& tile);
  void (*stored)(const StoredTile& tile);
};

struct NormRow {
  float* x;               // [n], written when residual is present
  const float* residual;  // [n] or null
  const float* weight;    // [n] or null: no normalisation (qk_norm_rope only)
  float eps, weight_offset;
  float* out;  // [n]
  int64_t n;
};

struct Rotation {
  const float *cos, *sin;  // [half]
  int64_t half;            // dims i and i + half are rotated together
};

// Channels of one sequence. The nearest `rows_before` inputs before row 0 directly precede x; older ones are in the
// ring tail [tail_rows][channels], each in row position % tail_rows.
struct ConvTile {
  const float* x;
  int64_t x_stride;
  const float* tail;
  int64_t tail_stride, tail_rows;
  int64_t rows_before;
  int64_t position;     // of row 0
  const float* weight;  // [kernel][channels]
  int64_t weight_stride;
  float* out;
  int64_t out_stride;
  int64_t rows, channels, kernel;
};

// These affect result bits: positions are processed in chunks (kChunkPositions) of partitions, which are merged in
// order.
constexpr int kChunkPositions = 32;  // positions per step of the online softmax
constexpr int kPartition = 256;      // positions; a multiple of kChunkPositions
constexpr int kMaxQueries =
    256;  // queries per attention task: they share each read of the cache, and their working set is 2 MiB
constexpr int64_t kMaxPadded = (kMaxLatentDim + 15) / 16 * 16;

// Attention of rows x num_heads query vectors of one sequence (at most kMaxQueries) to one KV head.
struct AttentionTile {
  const float* q;
  int64_t q_row_stride, q_head_stride;
  float* out;
  int64_t out_row_stride, out_head_stride;
  int64_t rows, num_heads, dim;
  int64_t first_position;  // of row 0
  const void* k;
  int64_t k_block_stride, k_row_stride;  // at this KV head
  const void* v;
  int64_t v_block_stride, v_row_stride;
  const int32_t* blocks;
  int64_t block_size;
  float scale;
  int64_t window;         // 0 = all
  float* scratch;         // kAttentionScratch floats
  int64_t stride;         // partitions until the next one this thread processes, which is prefetched
  float softcap;          // 0 = none
  const float* sinks;     // of the tile's heads, or null
  int64_t value_dim;      // equals `dim`, unless values are the leading elements of the keys
  bool is_causal = true;  // false: all rows see what row 0 sees
};

// Layout of a partition's partial result: each query's maximum score and sum of weights (0: it sees nothing here), then
// the weighted sums of values, [num_queries][padded dim of values].
constexpr int64_t partial_floats(int64_t num_queries, int64_t dim) noexcept {
  return 2 * kMaxQueries + num_queries * ((dim + 15) / 16 * 16);
}
// The current partition and the merged partitions; then, as floats: queries and one chunk of the cache; or for AMX
// tiles, in bf16 except for the scores: queries, scores, values of a partition and 16 keys.
constexpr int64_t kRowsScratch = kMaxQueries * kMaxPadded + kChunkPositions * kMaxPadded;
constexpr int64_t kTilesScratch = (kMaxQueries + kPartition + 16) * kMaxPadded / 2 + kMaxQueries * kPartition;
constexpr int64_t kAttentionScratch =
    2 * partial_floats(kMaxQueries, kMaxHeadDim) + (kRowsScratch > kTilesScratch ? kRowsScratch : kTilesScratch);

struct GdnState {  // [Dk][Dv] in panels, of floats or Bf16
  void* data = nullptr;
  bool is_bf16 = false;
};

// Rows [first_row, first_row + rows) of one GDN block for one K head: the work shared by all its V heads.
struct GdnKeys {
  const float *q, *k;  // raw, at this K head
  int64_t q_stride, k_stride;
  int64_t first_row, rows, dim;
  float* k_rows;   // [kGdnBlock][dim]; rows of this call are written
  float* q_rows;   // [kGdnBlock][dim] scratch: normalised and scaled
  float* kk;       // [kGdnBlock][kGdnBlock]: [t][s] = k_s . k_t
  float* kq;       // [kGdnBlock][kGdnBlock]: [t][s] = k_s . q_t
  GdnState state;  // of the first V head, for prefetching
  int64_t state_columns;
};

// The same rows for one V head.
struct GdnHead {
  const GdnKeys* keys;
  const float* v;
  int64_t v_stride;
  float* out;
  int64_t out_stride;
  const float *g, *beta;  // [rows]
  int64_t dim;            // Dv
  GdnState state;
  float *u_rows, *g_rows;  // [kGdnBlock][Dv], [kGdnBlock]
  float* scratch;          // kGdnHeadScratch floats
};
// Products with the state [2 kGdnBlock][Dv + 16], weighted keys [kGdnBlock][Dk], decays [Dk].
constexpr int64_t kGdnHeadScratch = 2 * kGdnBlock * (kMaxHeadDim + 16) + (kGdnBlock + 1) * kMaxHeadDim;

// Rows [first_row, first_row + rows) of one block of kda for one head; input pointers refer to the first of them.
struct KdaHead {
  const float *q = nullptr, *k = nullptr, *v = nullptr, *a = nullptr;
  float* out = nullptr;
  int64_t q_stride, k_stride, v_stride, a_stride, out_stride;
  int64_t first_row = 0, rows = 0, dk, dv;
  float rate;                // -exp(A_log)
  const float *bias, *beta;  // [Dk], [rows]
  GdnState state;
  float *k_rows, *u_rows, *g_rows;  // [kGdnBlock][Dk], [kGdnBlock][Dv], [kGdnBlock][Dk]
  float* scratch;                   // kKdaScratch floats
};
// A query, a product of decays, faded keys and queries [2 kGdnBlock][Dk], and as in kGdnHeadScratch.
constexpr int64_t kKdaScratch = (2 + 2 * kGdnBlock) * kMaxHeadDim + kGdnHeadScratch;

// Sum over heads of max(0, query . key).
struct IndexScore {
  const float *q, *key;
  int64_t q_stride, num_heads, dim;
};

struct Kernels {
  const char* name;  // of the code path, see cpu_device.h
  Packed packed;
  void (*matmul[2])(const MatmulTile& tile);                                         // kF32, kF16
  void (*rotate)(float* x, int64_t n, int64_t block);                                // host::rotate
  void (*to_int8)(const float* x, int64_t n, float* rotated, const PackedRow& row);  // rotated: [padded n] scratch
  void (*to_bf16)(const float* x, int64_t n, const PackedRow& row);
  void (*to_groups)(const float* x, int64_t n, const GroupedRow& row);
  // `columns` columns of a block of 8-bit floats as a block of bf16 of runs of `run` bytes.
  void (*widen_float8)(const std::byte* codes, int64_t columns, int64_t run, std::byte* to);
  void (*add_part)(const ScaledPart& part);
  void (*widen[kNumFormats])(const void* from, int64_t n, float* to);   // to float
  void (*narrow[kNumFormats])(const float* from, int64_t n, void* to);  // from float, rounding to nearest even
  void (*rms_norm)(const NormRow& row);
  void (*norm_rope)(const NormRow& row, const Rotation& rotation);
  void (*gated_norm)(const NormRow& row, const float* z);
  void (*sigmoid_gate)(const float* x, const float* gate, int64_t n, float* out);
  void (*silu_mul)(const float* gate, const float* up, int64_t n, float* out);
  void (*conv)(const ConvTile& tile);
  void (*cache_row[kNumKvFormats])(const float* from, int64_t n, void* to);  // one row in the layout of base/kv_row.h
  void (*attention[kNumKvFormats])(const AttentionTile& tile);
  // Bit-identical in two steps: each partition into its own partial result, then all of them, in order, into out.
  void (*attend_partition[kNumKvFormats])(const AttentionTile& tile, int64_t partition, float* partial);
  void (*merge_partials)(const AttentionTile& tile, float* partials, int64_t num_partials);
  void (*gdn_keys)(const GdnKeys& keys);
  void (*gdn_head)(const GdnHead& head);
  void (*kda_head)(const KdaHead& head);
  float (*index_score)(const IndexScore& score);
  void (*gated_sum)(const float* x, const float* gate, int64_t n, float* out);  // out += sigmoid(gate) x
  void (*add_scaled)(const float* x, float factor, int64_t n, float* out);      // out += factor x
  float (*dot)(const float* x, const float* y, int64_t n);
  void (*add_silu)(const float* x, const float* sum, int64_t n, float* out);  // out += x + silu(sum)
};

namespace portable {
extern const Kernels kKernels;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}
namespace vnni {
extern const Packed kPacked;
void matmul_stored(const StoredTile& tile);
}  // namespace vnni
namespace avx512bf16 {
void matmul_bf16(const PackedTile& tile);
}
namespace amx {
extern const Packed kPacked;
// For a bf16 cache; head dims that are not a multiple of 32 use avx512.
void attention(const AttentionTile& tile);
void attend_partition(const AttentionTile& tile, int64_t partition, float* partial);
bool request_permission() noexcept;  // from the kernel, once per process, before any thread uses tiles
}  // namespace amx
#elif defined(__aarch64__)
namespace neon {
extern const Kernels kKernels;
}
namespace dotprod {
extern const Packed kPacked;
void matmul_stored(const StoredTile& tile);
}  // namespace dotprod
namespace i8mm {
extern const Packed kPacked;
}
#endif

}  // namespace pagoda::device::cpu
