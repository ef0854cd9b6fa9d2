// Checks and loads the tensors of a vision tower: model.visual.* of transformers, also from GGUF, or vision_tower.* of
// MLX.
#include "model/vision/weights.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "model/arena.h"
#include "model/weights/groups.h"

namespace pagoda::model {
namespace {

// body(prefix, merger, is_deep).
template <class Body>
void for_each_merger(TowerWeights& w, Body&& body) {
  body(std::string("merger."), w.merger, false);
  for (size_t i = 0; i < w.deep_mergers.size(); ++i)
    body(concat("deepstack_merger_list.", i, "."), w.deep_mergers[i], true);
}

// body(name, linear, N, K) for every matrix with a bias.
template <class Body>
void for_each_linear(const io::VisionConfig& c, TowerWeights& w, Body&& body) {
  const int64_t width = c.hidden_size, inner = c.intermediate_size, merged = c.merged_size();
  body("patch_embed.proj", w.patch_embed, width, int64_t{c.patch_dim()});
  for (size_t i = 0; i < w.blocks.size(); ++i) {
    const std::string block = concat("blocks.", i, ".");
    body(block + "attn.qkv", w.blocks[i].qkv, 3 * width, width);
    body(block + "attn.proj", w.blocks[i].proj, width, width);
    body(block + "mlp.linear_fc1", w.blocks[i].fc1, inner, width);
    body(block + "mlp.linear_fc2", w.blocks[i].fc2, width, inner);
  }
  for_each_merger(w, [&](const std::string& name, TowerWeights::Merger& merger, bool) {
    body(name + "linear_fc1", merger.fc1, merged, merged);
    body(name + "linear_fc2", merger.fc2, int64_t{c.out_hidden_size}, merged);
  });
}

// body(name, norm, width). DeepStack's mergers normalise a whole token, the last one each of its patches.
template <class Body>
void for_each_norm(const io::VisionConfig& c, TowerWeights& w, Body&& body) {
  const int64_t width = c.hidden_size;
  for (size_t i = 0; i < w.blocks.size(); ++i) {
    body(concat("blocks.", i, ".norm1"), w.blocks[i].norm1, width);
    body(concat("blocks.", i, ".norm2"), w.blocks[i].norm2, width);
  }
  for_each_merger(w, [&](const std::string& name, TowerWeights::Merger& merger, bool is_deep) {
    body(name + "norm", merger.norm, is_deep ? int64_t{c.merged_size()} : width);
  });
}

TowerWeights empty_tower(const io::VisionConfig& config) {
  TowerWeights weights;
  weights.blocks.resize(static_cast<size_t>(config.depth));
  weights.deep_mergers.resize(config.deep_blocks.size());
  return weights;
}

Arena plan_vectors(const io::VisionConfig& config, TowerWeights& weights, device::Buffer* buffer) {
  Arena arena(buffer);
  for_each_linear(config, weights, [&](const std::string&, TowerWeights::Linear& linear, int64_t rows, int64_t) {
    linear.bias = arena.take(DType::f32, {rows});
  });
  for_each_norm(config, weights, [&](const std::string&, TowerWeights::Norm& norm, int64_t width) {
    norm.weight = arena.take(DType::f32, {width});
    norm.bias = arena.take(DType::f32, {width});
  });
  return arena;
}

class TensorReader {
 public:
  TensorReader(const io::VisionConfig& config, const io::Checkpoint& checkpoint)
      : config_(config), checkpoint_(checkpoint) {}

  // The tensor as [rows, cols]; any shape with as many elements and the same first dimension, because a patch has
  // several dimensions.
  Result<WeightGroup> find(const std::string& name, int64_t rows, int64_t cols) {
    const std::string full = config_.tensor_prefix + name;
    const io::TensorEntry* found = checkpoint_.find(full);
    if (found == nullptr) return make_error(StatusCode::bad_file, "tensor " + full + " is missing");
    int64_t count = 1;
    for (const int64_t n : found->shape) count *= n;
    const bool is_float = found->dtype == DType::f32 || found->dtype == DType::f16 || found->dtype == DType::bf16;
    if (!is_float || found->shape.empty() || found->shape.front() != rows || count != rows * cols)
      return make_error(StatusCode::bad_file, concat(checkpoint_.file_name(found->file_index), ": tensor ", full,
                                                     " is not ", rows, " x ", cols, " floats"));
    entry_ = *found;
    entry_.shape = {rows, cols};
    return WeightGroup{.layer_index = 0,
                       .role = Role{},
                       .is_matrix = true,
                       .rows = rows,
                       .cols = cols,
                       .parts = {{.name = full, .rows = rows, .tensor = &entry_}},
                       .num_parameters = rows * cols};
  }

  // GGUF has a tensor for each of the two frames of a patch, [channel][y][x].
  bool has_frames() const {
    return config_.temporal_patch_size == 2 &&
           checkpoint_.find(config_.tensor_prefix + "patch_embed.proj.weight.1") != nullptr;
  }

  // MLX stores a patch as [frame][y][x][channel] instead of [channel][frame][y][x].
  bool has_channels_last() const {
    const io::TensorEntry* patch = checkpoint_.find(config_.tensor_prefix + "patch_embed.proj.weight");
    return patch != nullptr && patch->shape.size() == 5 && patch->shape[4] == 3 && patch->shape[1] != 3;
  }

  Result<std::vector<float>> read(const std::string& name, int64_t rows, int64_t cols) {
    PAGODA_ASSIGN_OR_RETURN(const WeightGroup group, find(name, rows, cols));
    std::vector<float> values(static_cast<size_t>(rows * cols));
    PAGODA_RETURN_IF_ERROR(
        read_rows(group, checkpoint_, DType::f32, 0, rows, reinterpret_cast<std::byte*>(values.data())));
    return values;
  }

 private:
  const io::VisionConfig& config_;
  const io::Checkpoint& checkpoint_;
  io::TensorEntry entry_;
};

// Reorders a row [pixel][channel] to [channel][pixel].
void put_channels_first(int64_t cols, std::byte* row) {
  std::vector<float> from(static_cast<size_t>(cols)), to(from.size());
  std::memcpy(from.data(), row, from.size() * sizeof(float));
  const size_t pixels = from.size() / 3;
  for (size_t i = 0; i < from.size(); ++i) to[i % 3 * pixels + i / 3] = from[i];
  std::memcpy(row, to.data(), to.size() * sizeof(float));
}

// The two frames of patches, [rows, cols / 2] each, as rows [channel][frame][pixel].
Result<std::vector<float>> join_frames(TensorReader& reader, const std::string& name, int64_t rows, int64_t cols) {
  PAGODA_ASSIGN_OR_RETURN(const std::vector<float> first, reader.read(name, rows, cols / 2));
  PAGODA_ASSIGN_OR_RETURN(const std::vector<float> second, reader.read(name + ".1", rows, cols / 2));
  const size_t pixels = static_cast<size_t>(cols) / 6;
  std::vector<float> joined(first.size() + second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    const size_t at = i / pixels * 2 * pixels + i % pixels;
    joined[at] = first[i];
    joined[at + pixels] = second[i];
  }
  return joined;
}

Status load_linear(TensorReader& reader, const io::Checkpoint& checkpoint, const std::string& name, int64_t rows,
                   int64_t cols, device::Device& device, WeightFormat format, TowerWeights::Linear& linear) {
  PAGODA_ASSIGN_OR_RETURN(const std::vector<float> bias, reader.read(name + ".bias", rows, 1));
  PAGODA_RETURN_IF_ERROR(device.upload(linear.bias, bias.data(), bias.size() * sizeof(float)));
  if (name == "patch_embed.proj" && reader.has_frames()) {
    PAGODA_ASSIGN_OR_RETURN(const std::vector<float> joined, join_frames(reader, name + ".weight", rows, cols));
    device::WeightSource source{name, DType::f32, rows, cols, nullptr};
    source.read_rows = [&](int64_t begin, int64_t count, std::byte* into) {
      std::memcpy(into, joined.data() + begin * cols, static_cast<size_t>(count * cols) * sizeof(float));
      return ok_status();
    };
    PAGODA_ASSIGN_OR_RETURN(linear.weight, device.make_weight(source, format));
    return ok_status();
  }
  PAGODA_ASSIGN_OR_RETURN(const WeightGroup group, reader.find(name + ".weight", rows, cols));
  const bool is_reordered = name == "patch_embed.proj" && reader.has_channels_last();
  const DType dtype = is_reordered ? DType::f32 : source_dtype(group);
  device::WeightSource source{name, dtype, rows, cols, nullptr};
  source.read_rows = [&](int64_t begin, int64_t count, std::byte* into) {
    PAGODA_RETURN_IF_ERROR(read_rows(group, checkpoint, dtype, begin, count, into));
    for (int64_t row = 0; is_reordered && row < count; ++row)
      put_channels_first(cols, into + row * cols * static_cast<int64_t>(sizeof(float)));
    return ok_status();
  };
  PAGODA_ASSIGN_OR_RETURN(linear.weight, device.make_weight(source, format));
  return ok_status();
}

}  // namespace

Result<TowerSummary> TowerWeights::check(const io::VisionConfig& config, const io::Checkpoint& checkpoint,
                                         const device::Device& device, WeightFormat format) {
  TowerWeights weights = empty_tower(config);
  TensorReader reader(config, checkpoint);
  TowerSummary summary;
  Status status;
  const auto need = [&](const std::string& name, int64_t rows, int64_t cols) {
    if (!status.is_ok()) return;
    const Result<WeightGroup> found = reader.find(name, rows, cols);
    status = found.status;
    summary.num_parameters += rows * cols;
  };
  for_each_linear(config, weights, [&](const std::string& name, Linear&, int64_t rows, int64_t cols) {
    const bool has_frames = name == "patch_embed.proj" && reader.has_frames();
    need(name + ".weight", rows, has_frames ? cols / 2 : cols);
    if (has_frames) need(name + ".weight.1", rows, cols / 2);
    need(name + ".bias", rows, 1);
    summary.size_bytes += static_cast<int64_t>(device.weight_bytes(rows, cols, format));
  });
  for_each_norm(config, weights, [&](const std::string& name, Norm&, int64_t width) {
    need(name + ".weight", width, 1);
    need(name + ".bias", width, 1);
  });
  const int64_t num_positions = int64_t{config.position_side} * config.position_side;
  need("pos_embed.weight", num_positions, config.hidden_size);
  PAGODA_RETURN_IF_ERROR(std::move(status));
  summary.size_bytes += plan_vectors(config, weights, nullptr).size_bytes();
  summary.host_bytes = num_positions * config.hidden_size * static_cast<int64_t>(sizeof(float));
  return summary;
}

Result<TowerWeights> TowerWeights::load(const io::VisionConfig& config, const io::Checkpoint& checkpoint,
                                        device::Device& device, WeightFormat format) {
  TowerWeights weights = empty_tower(config);
  const auto size_bytes = static_cast<size_t>(plan_vectors(config, weights, nullptr).size_bytes());
  PAGODA_ASSIGN_OR_RETURN(weights.vectors, device.allocate(size_bytes, "norms and biases of the vision tower"));
  plan_vectors(config, weights, weights.vectors.get());
  TensorReader reader(config, checkpoint);
  Status status;
  for_each_linear(config, weights, [&](const std::string& name, Linear& linear, int64_t rows, int64_t cols) {
    if (status.is_ok()) status = load_linear(reader, checkpoint, name, rows, cols, device, format, linear);
  });
  for_each_norm(config, weights, [&](const std::string& name, Norm& norm, int64_t width) {
    for (const auto& [part, tensor] : {std::pair(".weight", norm.weight), {".bias", norm.bias}}) {
      if (!status.is_ok()) return;
      const auto values = reader.read(name + part, width, 1);
      status = values.is_ok() ? device.upload(tensor, values->data(), values->size() * sizeof(float)) : values.status;
    }
  });
  PAGODA_RETURN_IF_ERROR(std::move(status));
  PAGODA_ASSIGN_OR_RETURN(
      weights.positions,
      reader.read("pos_embed.weight", int64_t{config.position_side} * config.position_side, config.hidden_size));
  return weights;
}

void find_vision_tower(const io::Checkpoint& checkpoint, io::ModelConfig& config) {
  if (!config.vision.is_present()) return;
  for (const char* prefix : {"model.visual.", "visual.", "vision_tower."}) {
    if (checkpoint.find(std::string(prefix) + "pos_embed.weight") == nullptr) continue;
    config.vision.tensor_prefix = prefix;
    return;
  }
  config.vision = {};
  config.vision.refusal = "the checkpoint has no vision tower";
}

}  // namespace pagoda::model
