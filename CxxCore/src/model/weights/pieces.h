// Pieces of weight groups: the rows of a group that a device keeps in one format.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "model/weights/groups.h"

namespace pagoda::model {

struct WeightPiece {
  WeightFormat format;
  int64_t first_row, rows;  // of the group
};

// One piece in `format`, or for WeightFormat::stored as many as the tensors of the group have formats. Groups that
// cannot be kept as stored become 8bit: on devices without the stored format, with tensors that are needed transposed,
// and where a piece would end within a block of rows. Routers stay floats, because the choice of an expert must not
// depend on rounding, and they are small.
std::vector<WeightPiece> pieces_of(const WeightGroup& group, WeightFormat format, const device::Device& device);

// Bytes of all pieces on the device.
int64_t piece_bytes(const WeightGroup& group, WeightFormat format, const device::Device& device);

// Rows [begin, begin + count) of the stack in the form of base/quant/stored_row.h; they have one stored format.
Status read_stored_rows(const WeightGroup& group, const QuantFormat& format, int64_t begin, int64_t count,
                        std::span<std::byte> into);

}  // namespace pagoda::model
