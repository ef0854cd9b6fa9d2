// Arguments of add_adapters and silu_mul, which LoRA adapters need.
// T tokens, k experts per token (1 without experts); row t * k + j belongs to token t's j-th expert.
#pragma once

#include <array>
#include <cstdint>

#include "device/op_args.h"

namespace pagoda::device {

constexpr int64_t kMaxAdapterParts = 4;  // projections stacked in one weight
constexpr int64_t kMaxAdapterRank = 256;

// Fields of an entry of AdapterArgs::table: offsets into `weights`, in elements, and the rank; rank 0: no product.
enum AdapterField : int64_t { kAdapterA = 0, kAdapterB = 1, kAdapterRank = 2, kAdapterFields = 3 };

// out[r] += B (A x[r]) for the adapter in slot slots[r / k] of the row's token; rows with slot -1 keep their bits. Each
// part has its own A [rank, K] and B, which adds to its columns of out and is stored transposed, [rank, columns].
// Every element sums K, and then the ranks, in one fixed order for any T.
struct AdapterArgs {
  static constexpr const char* kName = "add_adapters";
  Tensor x;                                                // f32 [T, K] or [T * k, K], rows strided
  Tensor slots;                                            // i32 [T]
  Tensor experts;                                          // i32 [T, k], or absent: one matrix for all rows
  Tensor table;                                            // i64 [slots, experts (1 without), parts, kAdapterFields]
  Tensor weights;                                          // f32 [n]
  Tensor inner;                                            // f32 [T * k, parts * kMaxAdapterRank]: A x, overwritten
  Tensor out;                                              // f32 [T * k, N], rows strided
  std::array<int64_t, kMaxAdapterParts> first{}, count{};  // columns of out of each part
  int64_t max_rank = kMaxAdapterRank;                      // of any entry: bounds the work
};

// out = silu(x[0 .. F)) * x[F .. 2 F), with the bits of a matmul with silu_mul. out may be the first half of x.
struct SiluMulArgs {
  static constexpr const char* kName = "silu_mul";
  Tensor x;    // f32 [T, 2 F], rows strided
  Tensor out;  // f32 [T, F], rows strided
};

}  // namespace pagoda::device
