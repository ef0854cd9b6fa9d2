// Reads single rows of stacked tensors, as floats, and the numbers of hashes.
#include "model/weights/row_table.h"

#include <limits>
#include <new>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"

namespace pagoda::model {
namespace {

class FileTable final : public device::RowTable {
 public:
  FileTable(std::shared_ptr<const io::Checkpoint> checkpoint, WeightGroup group)
      : checkpoint_(std::move(checkpoint)), group_(std::move(group)) {
    for (WeightGroup::Part& part : group_.parts) part.tensor = checkpoint_->find(part.name);
  }
  int64_t rows() const noexcept override { return group_.rows; }
  int64_t cols() const noexcept override { return group_.cols; }
  Status read(int64_t row, std::span<float> to) const override {
    if (row < 0 || row >= group_.rows || static_cast<int64_t>(to.size()) != group_.cols)
      return make_error(StatusCode::internal, "a row outside a table of n-grams");
    try {  // steps call it
      return read_rows(group_, *checkpoint_, DType::f32, row, 1, reinterpret_cast<std::byte*>(to.data()));
    } catch (const std::bad_alloc&) {
      return make_error(StatusCode::out_of_memory, "a table of n-grams: no memory to read a row");
    }
  }

 private:
  const std::shared_ptr<const io::Checkpoint> checkpoint_;
  WeightGroup group_;
};

// Replaces `numbers` by those of the tensor, if there is one, each from `low` to `high`.
Status read_numbers(const io::Checkpoint& checkpoint, const std::string& name, int64_t low, int64_t high,
                    std::vector<int64_t>& numbers) {
  const io::TensorEntry* tensor = checkpoint.find(name);
  if (tensor == nullptr) return ok_status();
  const auto fail = [&](const std::string& what) {
    return make_error(StatusCode::bad_file, checkpoint.file_name(tensor->file_index) + ": tensor " + name + what);
  };
  if (tensor->dtype != DType::i64 || tensor->shape != std::vector<int64_t>{static_cast<int64_t>(numbers.size())})
    return fail(concat(" is not ", numbers.size(), " numbers of type int64"));
  PAGODA_RETURN_IF_ERROR(checkpoint.read(*tensor, 0, std::as_writable_bytes(std::span(numbers))));
  for (const int64_t number : numbers)
    if (number < low || number > high) return fail(concat(" has ", number, ", outside ", low, " to ", high));
  return ok_status();
}

}  // namespace

std::vector<std::unique_ptr<device::RowTable>> make_row_tables(std::vector<WeightGroup> groups,
                                                               const io::Checkpoint& checkpoint) {
  std::vector<std::unique_ptr<device::RowTable>> tables;
  if (groups.empty()) return tables;
  const auto shared = std::make_shared<const io::Checkpoint>(checkpoint);
  for (WeightGroup& group : groups) tables.push_back(std::make_unique<FileTable>(shared, std::move(group)));
  return tables;
}

std::array<std::string, 3> ngram_hash_names(const io::ModelConfig& config, int layer_index) {
  const std::string prefix = concat(config.tensor_prefix, "layers.", layer_index, ".ple.ple_embedding.");
  return {prefix + "layer_multipliers", prefix + "ngram_heads_vocab_sizes", prefix + "ngram_heads_offsets"};
}

Result<NgramHash> read_ngram_hash(const io::ModelConfig& config, const io::Checkpoint& checkpoint, int layer_index) {
  NgramHash hash = make_ngram_hash(config.ngrams.hash, config.ngrams.table_index(layer_index));
  const auto [multipliers, sizes, first_rows] = ngram_hash_names(config, layer_index);
  const int64_t most = std::numeric_limits<int64_t>::max() / config.vocab_size, rows = hash.num_rows;
  PAGODA_RETURN_IF_ERROR(read_numbers(checkpoint, multipliers, 0, most, hash.multipliers));
  PAGODA_RETURN_IF_ERROR(read_numbers(checkpoint, sizes, 1, rows, hash.sizes));
  PAGODA_RETURN_IF_ERROR(read_numbers(checkpoint, first_rows, 0, rows - 1, hash.first_row));
  for (size_t head = 0; head < hash.sizes.size(); ++head)
    if (hash.sizes[head] > rows - hash.first_row[head])
      return make_error(StatusCode::bad_file, concat(sizes, " and ngram_heads_offsets: part ", head, " ends after the ",
                                                     rows, " rows of the table"));
  return hash;
}

}  // namespace pagoda::model
