// Loads a checkpoint onto a device: stacked matrices as device Weights, vectors as f32.
#include "model/weights/weights.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
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

// Index heads rotate as much as heads of attention, and their scores have no factor.
void scale_index_norm(const io::ModelConfig& config, std::vector<float>& weight) {
  const double offset = config.zero_centered_norm ? 1.0 : 0.0, factor = config.rope.attention_factor;
  for (size_t i = 0; factor != 1.0 && i < static_cast<size_t>(config.rope.rotary_dim); ++i)
    weight[i] = static_cast<float>((weight[i] + offset) * factor - offset);
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

int64_t vector_bytes(const std::vector<WeightGroup>& groups, const io::ModelConfig& config) {
  Arena arena;
  plan_vectors(groups, config, arena);
  return arena.size_bytes();
}

namespace {

int64_t matrix_bytes(const std::vector<WeightGroup>& groups, WeightFormat format, const device::Device& device) {
  int64_t total = 0;
  for (const WeightGroup& group : groups) total += group.is_matrix ? piece_bytes(group, format, device) : 0;
  return total;
}

// Whether a load looks for its matrices in the cache, and keeps them there.
bool is_used(const WeightCache& cache, const std::vector<WeightGroup>& groups, WeightFormat format,
             const device::Device& device) {
  if (cache.folder.empty() || !cache.is_automatic) return !cache.folder.empty();
  size_t repacked = 0;
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    for (const WeightPiece& piece : pieces_of(group, format, device))
      if (device.repacks(piece.format)) repacked += device.weight_bytes(piece.rows, group.cols, piece.format);
  }
  return repacked >= static_cast<size_t>(cache.min_bytes) && !device.weight_layout(format).empty();
}

// The most that the files of the folder may have together.
int64_t limit_of(const WeightCache& cache, const WeightCacheFile& file) {
  return cache.is_automatic ? std::min(cache.max_bytes, file.share_of_disk()) : cache.max_bytes;
}

const std::string kNotCached = "matrices are not cached for the next load: ";

}  // namespace

Result<Weights> Weights::load(const io::ModelConfig& config, const io::Checkpoint& checkpoint, device::Device& device,
                              WeightFormat format, const LoadProgress& progress, WeightCache* cache,
                              int64_t expert_memory_bytes) {
  std::vector<WeightGroup> in_files;
  PAGODA_ASSIGN_OR_RETURN(auto groups, group_weights(config, checkpoint, &in_files));
  Weights weights;
  weights.entries_.resize(index(config.num_layers + 1, Role{}));  // the MTP head counts as a layer
  std::vector<std::unique_ptr<device::RowTable>> tables = make_row_tables(in_files, checkpoint);
  for (size_t i = 0; i < tables.size(); ++i) {
    Entry& entry = weights.entries_[index(in_files[i].layer_index, in_files[i].role)];
    entry.table = std::move(tables[i]);
    PAGODA_ASSIGN_OR_RETURN(entry.hash, read_ngram_hash(config, checkpoint, in_files[i].layer_index));
  }
  PAGODA_RETURN_IF_ERROR(weights.load_vectors(groups, config, checkpoint, device));
  if (expert_memory_bytes > 0) {
    PAGODA_RETURN_IF_ERROR(weights.stream_experts(config, checkpoint, device, format, expert_memory_bytes));
    std::erase_if(groups, is_expert);
  }
  ByteCounter counter(progress, matrix_bytes(groups, format, device));
  if (cache == nullptr || !is_used(*cache, groups, format, device)) {
    PAGODA_RETURN_IF_ERROR(weights.load_matrices(groups, checkpoint, device, format, counter));
    return weights;
  }
  const auto file = WeightCacheFile::plan(cache->folder, groups, checkpoint, device, format);
  const Status read = file.is_ok() ? weights.read_cache(groups, *file, device, format, counter) : file.status;
  if (read.code == StatusCode::cancelled) return read;
  if (read.is_ok()) {
    cache->note = "matrices were read from " + file->path();
    return weights;
  }
  counter.restart();
  PAGODA_RETURN_IF_ERROR(weights.load_matrices(groups, checkpoint, device, format, counter));
  Status written = file.status;
  if (file.is_ok()) written = weights.write_cache(groups, *file, device, limit_of(*cache, *file), counter);
  if (written.code == StatusCode::cancelled) return written;
  cache->note = written.is_ok() ? "matrices were written to " + file->path() : kNotCached + written.message;
  return weights;
}

Result<std::string> weight_cache_note(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                      const device::Device& device, WeightFormat format, const WeightCache& cache) {
  PAGODA_ASSIGN_OR_RETURN(const auto groups, group_weights(config, checkpoint));
  if (!is_used(cache, groups, format, device)) return std::string();
  const auto file = WeightCacheFile::plan(cache.folder, groups, checkpoint, device, format);
  if (!file.is_ok()) return kNotCached + file.status.message;
  std::error_code error;
  if (std::filesystem::file_size(file->path(), error) == file->size_bytes()) return "matrices are in " + file->path();
  const Status allowed = file->check_size(limit_of(cache, *file));
  if (!allowed.is_ok()) return kNotCached + allowed.message;
  return concat("the next load writes ", file->size_bytes() >> 20, " MiB of matrices to ", file->path());
}

Status Weights::read_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file, device::Device& device,
                           WeightFormat format, ByteCounter& counter) {
  PAGODA_ASSIGN_OR_RETURN(auto matrices, file.read(device, [&](int64_t num_bytes) { return counter.add(num_bytes); }));
  auto next = matrices.begin();
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    std::vector<std::unique_ptr<device::Weight>> pieces;
    for (size_t count = pieces_of(group, format, device).size(); count > 0; --count)
      pieces.push_back(std::move(*next++));
    PAGODA_RETURN_IF_ERROR(place_matrix(group, std::move(pieces), device));
  }
  return ok_status();
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

Status Weights::write_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file, device::Device& device,
                            int64_t max_bytes, ByteCounter& counter) const {
  std::vector<const device::Weight*> matrices;
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    const device::Weight* one = matrix(group.layer_index, group.role);
    if (one->pieces().empty()) matrices.push_back(one);
    for (const auto& piece : one->pieces()) matrices.push_back(piece.get());
  }
  return file.write(matrices, device, max_bytes, [&] { return counter.add(0); });
}

Status Weights::load_matrices(const std::vector<WeightGroup>& groups, const io::Checkpoint& checkpoint,
                              device::Device& device, WeightFormat format, ByteCounter& counter) {
  for (const WeightGroup& group : groups)
    if (group.is_matrix) PAGODA_RETURN_IF_ERROR(load_matrix(group, checkpoint, device, format, counter));
  return ok_status();
}

// The rows of a piece. `owner`, if any, keeps the group and the checkpoint alive.
static device::WeightSource source_of(const WeightGroup& group, const io::Checkpoint& checkpoint,
                                      const WeightPiece& piece, const std::shared_ptr<const void>& owner = nullptr) {
  const DType dtype = source_dtype(group);
  device::WeightSource source{group.parts.front().name, dtype, piece.rows, group.cols, nullptr};
  source.read_rows = [&group, &checkpoint, owner, dtype, first = piece.first_row](int64_t begin, int64_t count,
                                                                                  std::byte* into) {
    return read_rows(group, checkpoint, dtype, first + begin, count, into);
  };
  if (is_stored(piece.format))
    source.read_stored = [&group, owner, piece](int64_t begin, int64_t count, std::span<std::byte> into) {
      return read_stored_rows(group, quant_format(piece.format), piece.first_row + begin, count, into);
    };
  return source;
}

Status Weights::load_matrix(const WeightGroup& group, const io::Checkpoint& checkpoint, device::Device& device,
                            WeightFormat format, ByteCounter& counter) {
  std::vector<std::unique_ptr<device::Weight>> pieces;
  for (const WeightPiece& piece : pieces_of(group, format, device)) {
    device::WeightSource source = source_of(group, checkpoint, piece);
    const auto num_bytes = static_cast<int64_t>(device.weight_bytes(piece.rows, group.cols, piece.format));
    int64_t rows_done = 0, bytes_done = 0;  // a device may read a row more than once
    source.rows_done = [&](int64_t rows) {
      rows_done = std::min(piece.rows, rows_done + rows);
      const int64_t now = num_bytes * rows_done / piece.rows;
      return counter.add(now - std::exchange(bytes_done, now));
    };
    PAGODA_ASSIGN_OR_RETURN(auto made, device.make_weight(source, piece.format));
    pieces.push_back(std::move(made));
  }
  return place_matrix(group, std::move(pieces), device);
}

// The matrices read from a copy of the checkpoint's table, which lives as long as they do; the files are shared.
Status Weights::stream_experts(const io::ModelConfig& config, const io::Checkpoint& checkpoint, device::Device& device,
                               WeightFormat format, int64_t memory_bytes) {
  struct Files {
    io::Checkpoint checkpoint;
    std::vector<WeightGroup> groups;
  };
  auto files = std::make_shared<Files>(Files{checkpoint, {}});
  PAGODA_ASSIGN_OR_RETURN(files->groups, group_weights(config, files->checkpoint));
  std::erase_if(files->groups, [](const WeightGroup& group) { return !is_expert(group); });
  for (const WeightGroup& group : files->groups) {
    std::vector<device::WeightPart> parts;
    for (const WeightPiece& piece : pieces_of(group, format, device))
      parts.push_back({source_of(group, files->checkpoint, piece, files), piece.format});
    PAGODA_ASSIGN_OR_RETURN(entries_[index(group.layer_index, group.role)].matrix,
                            device.stream_experts(std::move(parts), config.num_experts));
  }
  return device.allocate_experts(memory_bytes);
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
    if (group.role == Role::index_q_norm || group.role == Role::index_k_norm) scale_index_norm(config, values);
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
