// StoredForm: a stored format in the memory of a GPU, as Shaders/stored.h describes it. Codes and scales are those of
// the file in another order; nothing is rounded.
#pragma once

#include <optional>

#include "args/matmul.h"
#include "base/quant/stored_row.h"

namespace pagoda::device::gpu {

struct StoredForm {
  int bits;  // of a code: 4 or 8, the next that is not smaller than the file's; 8 with zeros per 32 columns
  int span;  // columns of a chunk with one scale at most: 32 or 16
  pagoda_args::Scales scales;

  int64_t record_bytes(int64_t padded_cols) const noexcept {  // of a row
    return (padded_cols >> scales.log_unit) * scales.words * 4;
  }
};

// Empty for formats without kernels: groups of 32 with scales of float32 or with codes of 8 bits and zeros.
std::optional<StoredForm> stored_form(const QuantFormat& format) noexcept;

// Writes a row of `cols` columns: codes of all chunks of 64 columns, and records of scales. `codes` and `records` are
// zero.
void pack_stored(const QuantFormat& format, const StoredForm& form, const StoredRow& row, int64_t cols,
                 std::byte* codes, std::byte* records) noexcept;

}  // namespace pagoda::device::gpu
