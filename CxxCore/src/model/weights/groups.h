// Weight groups: the tensors of a checkpoint as the model needs them, checked, with same-role tensors stacked by rows.
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
    int64_t rows;                      // including padding with zeros
    const io::TensorEntry* tensor;     // of the checkpoint
    std::vector<int32_t> row_order{};  // as in WeightSpec
    int64_t first_row = 0;             // first row in the tensor, if the part is one expert of several
    int64_t matrix_rows = 0;           // as in WeightSpec
  };
  int layer_index;
  Role role;
  bool is_matrix;
  int64_t rows, cols;  // a vector of n is [n, 1], a convolution [channels, kernel]
  std::vector<Part> parts;
  int64_t num_parameters = 0;  // of the parts, without padding
};

// Whether it has the matrices of the routed experts of a layer.
inline bool is_expert(const WeightGroup& group) noexcept {
  return group.role == Role::experts_in || group.role == Role::experts_out;
}

// Whether it is a table of n-grams, whose rows are read from the files when a step needs them.
inline bool stays_in_files(const WeightGroup& group) noexcept { return group.role == Role::ngram_table; }

// Reads no tensor data. Fails with bad_file; the message names the tensor, the expected shape, the shape or type found,
// and the file.
// Without those that stay in files, which are appended to `in_files` if it is not null.
Result<std::vector<WeightGroup>> group_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                               std::vector<WeightGroup>* in_files = nullptr);

// The type in which the rows of a group are read: that of its parts in the file, or f32 if they differ or are
// quantised.
DType source_dtype(const WeightGroup& group);

// An error of reading a part, which names the file, with the tensor's name before it.
Status with_name(const WeightGroup::Part& part, Status status);

// Rows [begin, begin + count) of the stack, as `dtype`: the type of every part, or f32.
Status read_rows(const WeightGroup& group, const io::Checkpoint& checkpoint, DType dtype, int64_t begin, int64_t count,
                 std::byte* into);

}  // namespace pagoda::model
