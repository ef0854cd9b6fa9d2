// Reads blocks of GGUF files as they are: codes and scales, without converting them to floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/quant/stored_row.h"
#include "base/weight_format.h"

namespace pagoda::io {

// The format of a type of GGUF files; empty for types that are only read as floats.
std::optional<WeightFormat> gguf_format(uint32_t type_id) noexcept;

// The same for a tensor whose columns are read in another order: `run` columns stay together. Upper scales of two
// levels are repeated if a run is shorter than they reach.
std::optional<WeightFormat> gguf_format(uint32_t type_id, int64_t run) noexcept;

// Splits the blocks of one row of `cols` columns.
void split_gguf_row(uint32_t type_id, const std::byte* blocks, int64_t cols, const StoredRow& row) noexcept;

// Writes the groups of `from` to `to`, which has format `wanted`, in the order of `columns`: its multiples of a group
// are the first column of each group in `from`.
void reorder_gguf_row(uint32_t type_id, const QuantFormat& wanted, const StoredRow& from,
                      std::span<const uint32_t> columns, const StoredRow& to) noexcept;

}  // namespace pagoda::io
