// Computes the memory that a checkpoint takes on a device, and loads it: stacked matrices as device Weights, vectors as
// f32.
#include "model/weights/weights.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "model/arena.h"
#include "model/layers/rope.h"
#include "model/weights/pieces.h"

namespace pagoda::model {
namespace {

std::vector<float> transposed(const std::vector<float>& values, int64_t cols) {
  std::vector<float> out(values.size());
  const size_t width = static_cast<size_t>(cols), height = values.size() / width;
  for (size_t i = 0; i < values.size(); ++i) out[i % width * height + i / width] = values[i];
  return out;
}

// YaRN scales the rotated part; if that is not the whole head, the norm before it does so. The MTP head comes after
// the layers of the configuration, and its attention is always full.
void scale_norm(const io::ModelConfig& config, int layer_index, std::vector<float>& weight) {
  const auto layer = static_cast<size_t>(layer_index);
  const bool is_sliding = layer < config.layers.size() && config.layers[layer] == io::LayerKind::sliding_attention;
  const double offset = config.zero_centered_norm ? 1.0 : 0.0;
  for (size_t i = 0; i < weight.size(); ++i) {
    const double factor =
        rope_norm_factor(is_sliding ? config.sliding_rope : config.rope, config.head_dim, static_cast<int64_t>(i));
    if (factor != 1.0) weight[i] = static_cast<float>((weight[i] + offset) * factor - offset);
  }
}

// A tensor for each vector among `groups`, in order, and both inv_freq at the end. A convolution becomes
// [kernel, channels]: neighbouring channels are multiplied together.
std::vector<device::Tensor> plan_vectors(const std::vector<WeightGroup>& groups, const io::ModelConfig& config,
                                         Arena& arena) {
  std::vector<device::Tensor> tensors;
  for (const WeightGroup& group : groups) {
    if (group.is_matrix) continue;
    tensors.push_back(group.cols > 1 ? arena.take(DType::f32, {group.cols, group.rows})
                                     : arena.take(DType::f32, {group.rows}));
  }
  for (const io::RopeConfig* rope : {&config.rope, &config.sliding_rope})
    tensors.push_back(arena.take(DType::f32, {num_table_rows(*rope, config), rope->rotary_dim / 2}));
  return tensors;
}

}  // namespace

// Skips the products of experts and those per head, which have separate kernels.
static void add_product(const WeightGroup& group, const io::ModelConfig& config, WeightFormat format,
                        std::vector<device::ProductShape>& products) {
  for (const Role role : {Role::experts_in, Role::experts_out, Role::latent_k, Role::latent_v})
    if (group.role == role) return;
  const device::ProductShape shape{.rows = group.rows,
                                   .cols = group.cols,
                                   .format = format,
                                   .silu_mul = group.role == Role::mlp_in && !config.gelu,
                                   .is_head = group.layer_index == kModelLevel};
  for (device::ProductShape& existing : products) {
    device::ProductShape one = existing;
    one.count = 1;
    if (one != shape) continue;
    ++existing.count;
    return;
  }
  products.push_back(shape);
}

Result<WeightsSummary> check_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                     const device::Device& device, WeightFormat format) {
  PAGODA_ASSIGN_OR_RETURN(auto groups, group_weights(config, checkpoint));
  WeightsSummary summary;
  summary.layer_bytes.resize(static_cast<size_t>(config.num_layers));
  summary.layer_read_bytes.resize(static_cast<size_t>(config.num_layers));
  std::set<std::string> used;
  for (const WeightGroup& group : groups) {
    for (const WeightGroup::Part& part : group.parts) used.insert(part.name);
    summary.num_parameters += group.num_parameters;
    if (!group.is_matrix) continue;
    const std::vector<WeightPiece> pieces = pieces_of(group, format, device);
    const int64_t bytes = piece_bytes(group, format, device);
    for (const WeightPiece& piece : pieces)
      summary.format_bytes[std::string(weight_format_name(piece.format))] +=
          static_cast<int64_t>(device.weight_bytes(piece.rows, group.cols, piece.format));
    summary.size_bytes += bytes;
    const bool is_routed = group.role == Role::experts_in || group.role == Role::experts_out;
    // The part of `amount` that one token is multiplied by.
    const auto of_token = [&](int64_t amount) {
      return is_routed ? amount / config.num_experts * config.num_experts_per_token : amount;
    };
    if (group.layer_index >= 0 && group.layer_index < config.num_layers) {
      const auto layer = static_cast<size_t>(group.layer_index);
      summary.layer_bytes[layer] += bytes;
      summary.layer_read_bytes[layer] += of_token(bytes);
    }
    if (group.role == Role::embedding && !config.tie_word_embeddings) continue;
    add_product(group, config, pieces.size() == 1 ? pieces.front().format : format, summary.products);
    MatrixSum& sum = group.layer_index == kModelLevel ? summary.head_matrix : summary.layer_matrices;
    sum.num_parameters += of_token(group.num_parameters);
    sum.size_bytes += of_token(bytes);
  }
  Arena arena;
  plan_vectors(groups, config, arena);
  summary.size_bytes += arena.size_bytes();
  for (const auto& [name, tensor] : checkpoint.tensors())
    if (!used.contains(name) && !(config.vision.is_present() && !config.vision.tensor_prefix.empty() &&
                                  name.starts_with(config.vision.tensor_prefix)))
      summary.skipped_tensors.push_back(name);
  return summary;
}

namespace {

Status report(const std::function<bool(double)>& progress, double fraction) {
  if (!progress || progress(fraction)) return ok_status();
  return make_error(StatusCode::cancelled, "the load was cancelled");
}

}  // namespace

Result<Weights> Weights::load(const io::ModelConfig& config, const io::Checkpoint& checkpoint, device::Device& device,
                              WeightFormat format, const std::function<bool(double)>& progress, WeightCache* cache) {
  PAGODA_ASSIGN_OR_RETURN(auto groups, group_weights(config, checkpoint));
  Weights weights;
  weights.entries_.resize(index(config.num_layers + 1, Role{}));  // the MTP head counts as a layer
  PAGODA_RETURN_IF_ERROR(weights.load_vectors(groups, config, checkpoint, device));
  if (cache == nullptr || cache->folder.empty()) {
    PAGODA_RETURN_IF_ERROR(weights.load_matrices(groups, checkpoint, device, format, progress));
    return weights;
  }
  const auto file = WeightCacheFile::plan(cache->folder, groups, checkpoint, device, format);
  if (file.is_ok() && weights.read_cache(groups, *file, device, format)) {
    cache->note = "matrices were read from " + file->path();
    PAGODA_RETURN_IF_ERROR(report(progress, 1.0));
    return weights;
  }
  PAGODA_RETURN_IF_ERROR(weights.load_matrices(groups, checkpoint, device, format, progress));
  const Status written = file.is_ok() ? weights.write_cache(groups, *file, cache->max_bytes) : file.status;
  cache->note = written.is_ok() ? "matrices were written to " + file->path()
                                : "matrices are not cached for the next load: " + written.message;
  return weights;
}

bool Weights::read_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file, device::Device& device,
                         WeightFormat format) {
  auto matrices = file.read(device);
  if (!matrices.is_ok()) return false;
  auto next = matrices->begin();
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    std::vector<std::unique_ptr<device::Weight>> pieces;
    for (size_t count = pieces_of(group, format, device).size(); count > 0; --count)
      pieces.push_back(std::move(*next++));
    if (!place_matrix(group, std::move(pieces), device).is_ok()) return false;
  }
  return true;
}

Status Weights::place_matrix(const WeightGroup& group, std::vector<std::unique_ptr<device::Weight>> pieces,
                             device::Device& device) {
  std::unique_ptr<device::Weight>& matrix = entries_[index(group.layer_index, group.role)].matrix;
  if (pieces.size() == 1) {
    matrix = std::move(pieces.front());
    return ok_status();
  }
  PAGODA_ASSIGN_OR_RETURN(matrix, device.join_weights(std::move(pieces)));
  return ok_status();
}

Status Weights::write_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file,
                            int64_t max_bytes) const {
  std::vector<const device::Weight*> matrices;
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    const device::Weight* one = matrix(group.layer_index, group.role);
    if (one->pieces().empty()) matrices.push_back(one);
    for (const auto& piece : one->pieces()) matrices.push_back(piece.get());
  }
  return file.write(matrices, max_bytes);
}

Status Weights::load_matrices(const std::vector<WeightGroup>& groups, const io::Checkpoint& checkpoint,
                              device::Device& device, WeightFormat format,
                              const std::function<bool(double)>& progress) {
  int64_t num_rows = 0, num_rows_done = 0;  // of all matrices
  for (const WeightGroup& group : groups) num_rows += group.is_matrix ? group.rows : 0;
  const RowCounter count_rows = [&](int64_t rows) {
    num_rows_done = std::min(num_rows, num_rows_done + rows);  // a device may read a row more than once
    return report(progress, static_cast<double>(num_rows_done) / static_cast<double>(num_rows));
  };
  for (const WeightGroup& group : groups)
    if (group.is_matrix) PAGODA_RETURN_IF_ERROR(load_matrix(group, checkpoint, device, format, count_rows));
  return ok_status();
}

Status Weights::load_matrix(const WeightGroup& group, const io::Checkpoint& checkpoint, device::Device& device,
                            WeightFormat format, const RowCounter& count_rows) {
  const DType dtype = source_dtype(group);
  std::vector<std::unique_ptr<device::Weight>> pieces;
  for (const WeightPiece& piece : pieces_of(group, format, device)) {
    device::WeightSource source{group.parts.front().name, dtype, piece.rows, group.cols, nullptr};
    source.rows_done = count_rows;
    source.read_rows = [&](int64_t begin, int64_t count, std::byte* into) {
      return read_rows(group, checkpoint, dtype, piece.first_row + begin, count, into);
    };
    if (is_stored(piece.format))
      source.read_stored = [&](int64_t begin, int64_t count, std::span<std::byte> into) {
        return read_stored_rows(group, quant_format(piece.format), piece.first_row + begin, count, into);
      };
    PAGODA_ASSIGN_OR_RETURN(auto made, device.make_weight(source, piece.format));
    pieces.push_back(std::move(made));
  }
  return place_matrix(group, std::move(pieces), device);
}

Status Weights::load_vectors(const std::vector<WeightGroup>& groups, const io::ModelConfig& config,
                             const io::Checkpoint& checkpoint, device::Device& device) {
  Arena size;
  plan_vectors(groups, config, size);
  PAGODA_ASSIGN_OR_RETURN(
      auto buffer, device.allocate(static_cast<size_t>(size.size_bytes()), "norms, biases and other small weights"));
  vectors_ = std::move(buffer);
  Arena arena(vectors_.get());
  const std::vector<device::Tensor> tensors = plan_vectors(groups, config, arena);
  auto next = tensors.begin();
  for (const WeightGroup& group : groups) {
    if (group.is_matrix) continue;
    std::vector<float> values(static_cast<size_t>(group.rows * group.cols));
    std::byte* bytes = reinterpret_cast<std::byte*>(values.data());
    PAGODA_RETURN_IF_ERROR(read_rows(group, checkpoint, DType::f32, 0, group.rows, bytes));
    if (group.cols > 1) values = transposed(values, group.cols);
    if (group.role == Role::q_norm || group.role == Role::k_norm) scale_norm(config, group.layer_index, values);
    if (group.role == Role::final_norm)
      for (float& value : values) value *= config.logits_scale;
    PAGODA_RETURN_IF_ERROR(device.upload(*next, values.data(), values.size() * sizeof(float)));
    entries_[index(group.layer_index, group.role)].vector = *next++;
  }
  inv_freq_ = *next++;
  sliding_inv_freq_ = *next;
  for (const auto& [rope, tensor] : {std::pair(&config.rope, inv_freq_), {&config.sliding_rope, sliding_inv_freq_}}) {
    const std::vector<float> speeds = rope_table(*rope, config);
    PAGODA_RETURN_IF_ERROR(device.upload(tensor, speeds.data(), speeds.size() * sizeof(float)));
  }
  return ok_status();
}

}  // namespace pagoda::model
