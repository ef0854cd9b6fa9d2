// Sums up what the matrices of a checkpoint take on a device: in all, for a token, and by format.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "model/weights/pieces.h"
#include "model/weights/weights.h"

namespace pagoda::model {
namespace {

// The matrices of each format: a tensor that several groups or experts share counts once.
class FormatSums {
 public:
  void add(const WeightGroup& group, const std::vector<WeightPiece>& pieces, const device::Device& device) {
    for (const WeightPiece& piece : pieces) {
      Entry& entry = entries_[piece.format];
      entry.sum.size_bytes += static_cast<int64_t>(device.weight_bytes(piece.rows, group.cols, piece.format));
      entry.sum.num_parameters += pieces.size() == 1 ? group.num_parameters : piece.rows * group.cols;
      int64_t first_row = 0;
      for (const WeightGroup::Part& part : group.parts) {
        if (first_row >= piece.first_row && first_row < piece.first_row + piece.rows) entry.tensors.insert(part.tensor);
        first_row += part.rows;
      }
    }
  }
  // The largest first.
  std::vector<FormatSum> take() const {
    std::vector<FormatSum> sums;
    for (const auto& [format, entry] : entries_)
      sums.push_back({std::string(weight_format_name(format)), static_cast<int64_t>(entry.tensors.size()), entry.sum});
    std::ranges::sort(sums, [](const FormatSum& a, const FormatSum& b) {
      return a.sum.size_bytes != b.sum.size_bytes ? a.sum.size_bytes > b.sum.size_bytes : a.format < b.format;
    });
    return sums;
  }

 private:
  struct Entry {
    std::set<const io::TensorEntry*> tensors;
    MatrixSum sum;
  };
  std::map<WeightFormat, Entry> entries_;
};

// The mixer of several residual streams before the head runs for every token, like those of layers.
bool is_head(const WeightGroup& group) noexcept {
  return group.layer_index == kModelLevel && (group.role == Role::embedding || group.role == Role::lm_head);
}

// Skips the products of experts and those per head, which have separate kernels.
void add_product(const WeightGroup& group, const io::ModelConfig& config, const WeightPiece& piece,
                 std::vector<device::ProductShape>& products) {
  for (const Role role : {Role::experts_in, Role::experts_out, Role::latent_k, Role::latent_v})
    if (group.role == role) return;
  const device::ProductShape shape{.rows = piece.rows,
                                   .cols = group.cols,
                                   .format = piece.format,
                                   .silu_mul = group.role == Role::mlp_in && !config.gelu,
                                   .is_head = is_head(group)};
  for (device::ProductShape& existing : products) {
    device::ProductShape one = existing;
    one.count = 1;
    if (one != shape) continue;
    ++existing.count;
    return;
  }
  products.push_back(shape);
}

// The part of `amount` of a group that one token is multiplied by.
int64_t of_token(const WeightGroup& group, const io::ModelConfig& config, int64_t amount) noexcept {
  if (group.role == Role::embedding && !config.tie_word_embeddings) return 0;
  return is_expert(group) ? amount / config.num_experts * config.num_experts_per_token : amount;
}

}  // namespace

Result<WeightsSummary> check_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                     const device::Device& device, WeightFormat format) {
  std::vector<WeightGroup> in_files;
  PAGODA_ASSIGN_OR_RETURN(auto groups, group_weights(config, checkpoint, &in_files));
  WeightsSummary summary;
  summary.layer_bytes.resize(static_cast<size_t>(config.num_layers));
  summary.layer_read_bytes.resize(static_cast<size_t>(config.num_layers));
  std::set<std::string> used;
  FormatSums formats;
  for (const WeightGroup& group : in_files) {
    for (const WeightGroup::Part& part : group.parts) used.insert(part.name);
    for (const std::string& name : ngram_hash_names(config, group.layer_index)) used.insert(name);
    summary.num_parameters += group.num_parameters;
  }
  for (const WeightGroup& group : groups) {
    for (const WeightGroup::Part& part : group.parts) used.insert(part.name);
    summary.num_parameters += group.num_parameters;
    if (!group.is_matrix) continue;
    const std::vector<WeightPiece> pieces = pieces_of(group, format, device);
    formats.add(group, pieces, device);
    const int64_t bytes = piece_bytes(group, format, device), token_bytes = of_token(group, config, bytes);
    summary.size_bytes += bytes;
    if (is_expert(group)) {
      summary.expert_bytes += bytes;
      summary.expert_token_bytes += token_bytes;
      summary.expert_sizes.insert(bytes / config.num_experts);
    }
    if (group.layer_index >= 0 && group.layer_index < config.num_layers) {
      const auto layer = static_cast<size_t>(group.layer_index);
      summary.layer_bytes[layer] += bytes;
      summary.layer_read_bytes[layer] += token_bytes;
    }
    if (token_bytes == 0) continue;
    for (const WeightPiece& piece : pieces) add_product(group, config, piece, summary.products);
    MatrixSum& sum = is_head(group) ? summary.head_matrix : summary.layer_matrices;
    sum.num_parameters += of_token(group, config, group.num_parameters);
    sum.size_bytes += token_bytes;
  }
  summary.formats = formats.take();
  summary.size_bytes += vector_bytes(groups, config);
  for (const auto& [name, tensor] : checkpoint.tensors())
    if (!used.contains(name) && !(config.vision.is_present() && !config.vision.tensor_prefix.empty() &&
                                  name.starts_with(config.vision.tensor_prefix)))
      summary.skipped_tensors.push_back(name);
  return summary;
}

Result<std::vector<WeightBytes>> weight_bytes_in(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                                 const device::Device& device, std::span<const WeightFormat> formats) {
  PAGODA_ASSIGN_OR_RETURN(const auto groups, group_weights(config, checkpoint));
  std::vector<WeightBytes> all(formats.size(), {.size = vector_bytes(groups, config)});
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    for (size_t i = 0; i < formats.size(); ++i) {
      const int64_t bytes = piece_bytes(group, formats[i], device);
      all[i].size += bytes;
      all[i].token += of_token(group, config, bytes);
    }
  }
  return all;
}

}  // namespace pagoda::model
