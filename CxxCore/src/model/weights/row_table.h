// Tables of n-grams: weight groups whose rows stay in the checkpoint's files, and how their rows are found.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/ngram_ops.h"
#include "io/checkpoint.h"
#include "model/weights/groups.h"

namespace pagoda::model {

// Tables for the groups, which stay_in_files(). They share a copy of the checkpoint's list of tensors and keep its
// files open; the files must not change.
std::vector<std::unique_ptr<device::RowTable>> make_row_tables(std::vector<WeightGroup> groups,
                                                               const io::Checkpoint& checkpoint);

// The tensors of a layer with numbers that follow from the configuration too, if the checkpoint has them: multipliers,
// sizes of the parts, and their first rows.
std::array<std::string, 3> ngram_hash_names(const io::ModelConfig& config, int layer_index);

// With the numbers of these tensors, which apply if they differ, as in transformers. Fails with bad_file if one of them
// would lead outside the table.
Result<NgramHash> read_ngram_hash(const io::ModelConfig& config, const io::Checkpoint& checkpoint, int layer_index);

}  // namespace pagoda::model
