// Weight groups: the tensors of a checkpoint as the model wants them, checked, with same-role tensors stacked by rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/weight_format.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "io/weight_table.h"

namespace pagoda::model {

using io::kModelLevel;
using io::kNumRoles;
using io::Role;

struct WeightGroup {
  struct Part {
    std::string name;
    int64_t rows;                      // wanted, with those of zeros
    const io::TensorEntry* tensor;     // of the checkpoint
    std::vector<int32_t> row_order{};  // as in WeightSpec
    int64_t first_row = 0;             // of the tensor, where the part is one expert of several
    int64_t head_rows = 0;             // as in WeightSpec
  };
  int layer_index;
  Role role;
  bool is_matrix;
  int64_t rows, cols;  // a vector of n is [n, 1], a convolution [channels, kernel]
  std::vector<Part> parts;
  int64_t num_parameters = 0;  // of the parts, without zeros that pad them
};

// bad_file names the tensor, the shape wanted, the shape or type found, and the file. Reads no tensor data.
Result<std::vector<WeightGroup>> group_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint);

// The form a group is kept in when the model asks for `format`: routers stay floats, since the choice of an expert must
// not hang on rounding, and are small.
WeightFormat format_of(const WeightGroup& group, WeightFormat format) noexcept;

// The type the rows of a group are read in: that of its parts, or f32 when they differ.
DType source_dtype(const WeightGroup& group) noexcept;

// Rows [begin, begin + count) of the stack, as `dtype`: the type of every part, or f32.
Status read_rows(const WeightGroup& group, const io::Checkpoint& checkpoint, DType dtype, int64_t begin, int64_t count,
                 std::byte* into);

}  // namespace pagoda::model
