// Tensors quantised to integers by GPTQ, AWQ and compressed-tensors: (q - zero) * scale, with scales per group of
// columns.
//   GPTQ:  X.qweight i32 [cols * bits / 32, rows], X.qzeros i32 [groups, rows * bits / 32], X.scales [groups, rows],
//          X.g_idx i32 [cols], the group of each column. The first format stores zeros minus 1.
//   AWQ:   X.qweight i32 [cols, rows / 8], X.qzeros i32 [groups, rows / 8], X.scales [groups, rows]; the nibbles of a
//          word are rows 0 2 4 6 1 3 5 7
//   pack-quantized: X.weight_packed i32 [rows, cols * bits / 32], X.weight_scale [rows, groups], X.weight_shape
//          i64 [2], and with zeros X.weight_zero_point i32 [rows * bits / 32, groups]; all integers plus 2^(bits - 1)
//   int-quantized: X.weight i8 [rows, cols], X.weight_scale [rows, groups], X.weight_zero_point i8 [rows, groups]
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "io/config/fields.h"
#include "io/model_files.h"
#include "io/tensor_entry.h"

namespace pagoda::io {

enum class IntegerLayout : uint8_t { gptq, awq, packed, bytes };

struct IntegerPacking {
  IntegerLayout layout = IntegerLayout::gptq;
  int bits = 4;           // of GPTQ and AWQ; else the shapes tell
  int64_t group = 0;      // the same; 0: one group per row
  bool adds_one = false;  // to the zeros
};

// `fields`: the object `quantization_config`. Empty if `quant_method` is none of these; errors are recorded.
std::optional<IntegerPacking> read_integers(ConfigFields& fields);

// Replaces packed tensors by X.weight with a decoder, and removes what belongs to them. Reads X.g_idx and
// X.weight_shape.
Status unpack_integers(const IntegerPacking& packing, std::span<const std::shared_ptr<File>> files, TensorMap& tensors);

}  // namespace pagoda::io
