// Compares a checkpoint with the weight table, and reads stacked rows across the tensors of a group.
#include "model/weights/groups.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/concat.h"
#include "device/device.h"
#include "device/expert_ops.h"
#include "device/latent_ops.h"

namespace pagoda::model {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += concat(i > 0 ? ", " : "", shape[i]);
  return text + "]";
}

Status check_tensor(const io::WeightSpec& spec, const io::TensorEntry* tensor, const io::Checkpoint& checkpoint) {
  const auto error = [&](const std::string& file, const std::string& reason) {
    return make_error(StatusCode::bad_file, file + ": tensor " + spec.name + " " + reason);
  };
  if (tensor == nullptr) {
    const std::string file = checkpoint.tensors().empty() ? "checkpoint" : checkpoint.file_name(0);
    return error(file, "is missing, expected shape " + shape_text(spec.shape));
  }
  const std::string& file = checkpoint.file_name(tensor->file_index);
  if (tensor->shape != spec.shape)
    return error(file, "has shape " + shape_text(tensor->shape) + ", expected " + shape_text(spec.shape));
  if (tensor->dtype != DType::f32 && tensor->dtype != DType::f16 && tensor->dtype != DType::bf16)
    return error(file, shape_text(spec.shape) + " is " + std::string(dtype_name(tensor->dtype)) +
                           ", expected float32, float16 or bfloat16");
  return ok_status();
}

// Refuses shapes that the ops do not support, before anything is loaded.
Status check_limits(const io::ModelConfig& config) {
  const auto at_most = [](const char* key, int64_t value, int64_t limit) {
    if (value <= limit) return ok_status();
    return make_error(StatusCode::unsupported, concat("config.json: ", key, " ", value, " is above ", limit));
  };
  PAGODA_RETURN_IF_ERROR(at_most("head_dim", config.head_dim, device::kMaxHeadDim));
  if (config.has_latents()) {
    PAGODA_RETURN_IF_ERROR(at_most("kv_lora_rank", config.kv_lora_rank, device::kMaxHeadDim));
    PAGODA_RETURN_IF_ERROR(at_most("kv_lora_rank + qk_rope_head_dim", config.latent_dim(), device::kMaxLatentDim));
    PAGODA_RETURN_IF_ERROR(at_most("num_attention_heads", config.num_heads, device::kMaxExpertsPerToken));
  }
  PAGODA_RETURN_IF_ERROR(at_most("indexer_head_dim", config.indexer.head_dim, device::kMaxHeadDim));
  PAGODA_RETURN_IF_ERROR(at_most("ple_conv_kernel_size", config.ngrams.conv_kernel, device::kMaxConvKernel));
  PAGODA_RETURN_IF_ERROR(at_most("linear_key_head_dim", config.linear_k_head_dim, device::kMaxHeadDim));
  PAGODA_RETURN_IF_ERROR(at_most("linear_value_head_dim", config.linear_v_head_dim, device::kMaxHeadDim));
  return at_most("linear_conv_kernel_dim", config.linear_conv_kernel, device::kMaxConvKernel);
}

io::CheckpointLayout checkpoint_layout(const io::ModelConfig& config, const io::Checkpoint& checkpoint) {
  const auto has_any = [&](const std::string& name) {  // a tensor whose name starts with it
    const auto found = checkpoint.tensors().lower_bound(name);
    return found != checkpoint.tensors().end() && found->first.starts_with(name);
  };
  const auto has = [&](std::ptrdiff_t layer, const char* begin) {
    return has_any(concat(config.tensor_prefix, "layers.", layer, ".", begin));
  };
  const auto experts_of = [&](const std::string& layer) {
    if (has_any(layer + "mlp.switch_mlp.")) return io::ExpertLayout::by_projection;
    const io::TensorEntry* both = checkpoint.find(layer + "mlp.experts.gate_up_proj");
    const io::TensorEntry* down = checkpoint.find(layer + "mlp.experts.down_proj");
    if (both == nullptr)
      return has_any(layer + "mlp.experts.gate_up_proj") ? io::ExpertLayout::stacked : io::ExpertLayout::separate;
    // At least one of the two is not square, and shows which way both are stored.
    const std::vector<int64_t> up_shape = {config.num_experts, config.hidden_size, 2 * int64_t{config.expert_size}};
    const std::vector<int64_t> down_shape = {config.num_experts, config.expert_size, config.hidden_size};
    const bool is_transposed = both->shape == up_shape && down != nullptr && down->shape == down_shape &&
                               (up_shape[1] != up_shape[2] || down_shape[1] != down_shape[2]);
    return is_transposed ? io::ExpertLayout::transposed : io::ExpertLayout::stacked;
  };
  io::CheckpointLayout layout;
  const auto mixture = std::ranges::find(config.is_mixture, true) - config.is_mixture.begin();
  layout.experts = experts_of(concat(config.tensor_prefix, "layers.", mixture, "."));
  layout.head_experts = experts_of(io::mtp_layer_prefix(config));
  const auto attention = std::ranges::find(config.layers, io::LayerKind::full_attention);
  layout.splits_latents = has(attention - config.layers.begin(), "self_attn.k_b_proj.");
  layout.splits_indexer = has(attention - config.layers.begin(), "self_attn.indexer.q_proj.");
  layout.has_sparse_blocks = has(mixture, "block_sparse_moe.");
  const auto dense = std::ranges::find(config.is_mixture, false) - config.is_mixture.begin();
  layout.has_dense_blocks = has(dense, "block_sparse_moe.gate_proj.");
  const auto recurrent = std::ranges::find(config.layers, io::LayerKind::linear_attention);
  layout.packed_projections =
      config.family == io::Family::qwen3_next && !has(recurrent - config.layers.begin(), "linear_attn.in_proj_qkv.");
  const int32_t with_table = config.ngrams.is_present() ? config.ngrams.layers.front() : 0;
  layout.splits_ngrams = !has(with_table, "ple.ple_embedding.ngram_embedding.weight");
  return layout;
}

// Elements [begin, begin + into.size()) of a tensor.
Status read_as_f32(const io::Checkpoint& checkpoint, const io::TensorEntry& tensor, uint64_t begin,
                   std::span<float> into) {
  if (tensor.decoder) return tensor.decoder->read(begin, into);
  const size_t width = dtype_bytes(tensor.dtype);
  // The raw numbers are read to the end of `into`, so that widening them front to back overwrites none that are still
  // needed.
  std::byte* raw = reinterpret_cast<std::byte*>(into.data()) + into.size() * (sizeof(float) - width);
  PAGODA_RETURN_IF_ERROR(checkpoint.read(tensor, begin * width, {raw, into.size() * width}));
  if (tensor.dtype == DType::f32) return ok_status();
  for (size_t i = 0; i < into.size(); ++i) {
    uint16_t bits;
    std::copy_n(raw + 2 * i, 2, reinterpret_cast<std::byte*>(&bits));
    into[i] = tensor.dtype == DType::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
  }
  return ok_status();
}

}  // namespace

// A head that is incomplete, or packed differently from the model, is ignored.
void find_mtp_head(io::ModelConfig& config, const io::Checkpoint& checkpoint, bool is_wanted) {
  config.has_mtp_head = config.runs_mtp_head = false;
  if (std::ranges::count(config.layers, io::LayerKind::linear_attention) == 0) return;
  const char* const first = config.has_streams() ? "fc_hidden.weight" : "fc.weight";
  const std::string of_gguf = concat("model.layers.", config.num_layers, ".nextn.");
  for (const std::string& prefix : {std::string("mtp."), std::string("model.mtp."), of_gguf}) {
    if (checkpoint.find(prefix + first) == nullptr) continue;
    config.mtp_prefix = prefix;
    config.has_mtp_head = std::ranges::all_of(
        io::mtp_table(config, checkpoint_layout(config, checkpoint)),
        [&](const io::WeightSpec& spec) { return check_tensor(spec, checkpoint.find(spec.name), checkpoint).is_ok(); });
    config.runs_mtp_head = config.has_mtp_head && is_wanted;
    return;
  }
}

Result<std::vector<WeightGroup>> group_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                               std::vector<WeightGroup>* in_files) {
  PAGODA_RETURN_IF_ERROR(check_limits(config));
  std::vector<WeightGroup> groups;
  for (io::WeightSpec& spec : io::weight_table(config, checkpoint_layout(config, checkpoint))) {
    if (spec.layer_index == kModelLevel ? !config.has_ends() : !config.runs_layer(spec.layer_index)) continue;
    const io::TensorEntry* tensor = checkpoint.find(spec.name);
    PAGODA_RETURN_IF_ERROR(check_tensor(spec, tensor, checkpoint));
    auto group = std::find_if(groups.rbegin(), groups.rend(), [&](const WeightGroup& g) {
      return g.layer_index == spec.layer_index && g.role == spec.role;
    });
    if (group == groups.rend()) {
      const int64_t stored = spec.shape.size() > 1 ? spec.shape.back() : 1;
      groups.push_back({spec.layer_index, spec.role, spec.is_matrix, 0, spec.cols > 0 ? spec.cols : stored, {}});
      group = groups.rbegin();
    }
    int64_t rows = spec.expert < 0 ? spec.shape.front() : 1;
    for (size_t i = 1; i + 1 < spec.shape.size(); ++i) rows *= spec.shape[i];
    const int64_t first_row = std::max<int64_t>(spec.expert, 0) * rows;
    int64_t num_read = rows;
    if (spec.matrix_rows > 0) {
      num_read = rows / spec.matrix_rows * std::min(spec.cols, spec.matrix_rows);
      rows = rows / spec.matrix_rows * spec.shape.back();
    }
    if (!spec.row_order.empty()) {
      if (spec.matrix_rows == 0) num_read = std::ranges::count_if(spec.row_order, [](int32_t row) { return row >= 0; });
      rows = static_cast<int64_t>(spec.row_order.size());
    }
    group->num_parameters += num_read * (spec.shape.size() > 1 ? spec.shape.back() : 1);
    group->rows += rows;
    group->parts.push_back(
        {std::move(spec.name), rows, tensor, std::move(spec.row_order), first_row, spec.matrix_rows});
  }
  if (in_files != nullptr) std::ranges::copy_if(groups, std::back_inserter(*in_files), stays_in_files);
  std::erase_if(groups, stays_in_files);
  return groups;
}

Status with_name(const WeightGroup::Part& part, Status status) {
  if (!status.is_ok()) status.message = "tensor " + part.name + ": " + status.message;
  return status;
}

namespace {

// The type in which the rows of a part are read without a conversion, or f32.
DType part_dtype(const WeightGroup::Part& part) {
  if (!part.tensor->decoder) return part.tensor->dtype;
  const std::optional<WeightFormat> format = part.tensor->decoder->stored_format();
  if (part.matrix_rows > 0 || !format) return DType::f32;
  return *format == WeightFormat::f16 ? DType::f16 : *format == WeightFormat::bf16 ? DType::bf16 : DType::f32;
}

}  // namespace

DType source_dtype(const WeightGroup& group) {
  const DType first = part_dtype(group.parts.front());
  for (const WeightGroup::Part& part : group.parts)
    if (part_dtype(part) != first) return DType::f32;
  return first;
}

namespace {

// The same for a part whose matrices are needed transposed: each row is a column of the first `cols` rows of a matrix,
// with zeros after it if the matrix has fewer.
Status read_transposed(const WeightGroup::Part& part, const io::Checkpoint& checkpoint, DType dtype, int64_t first,
                       int64_t count, size_t cols, std::byte* to) {
  const size_t width = dtype_bytes(dtype), height = static_cast<size_t>(part.tensor->shape.back());  // rows of a head
  const size_t num_stored = std::min(cols, static_cast<size_t>(part.matrix_rows));
  std::vector<float> head(num_stored * height);  // large enough for any type
  std::byte* bytes = reinterpret_cast<std::byte*>(head.data());
  int64_t loaded = -1;
  for (int64_t wanted = first; wanted < first + count; ++wanted, to += cols * width) {
    const int64_t row = part.row_order.empty() ? wanted : part.row_order[static_cast<size_t>(wanted)];
    std::memset(to, 0, cols * width);
    if (row < 0) continue;
    const int64_t index = row / static_cast<int64_t>(height);
    if (std::exchange(loaded, index) != index) {
      const size_t begin = static_cast<size_t>(index * part.matrix_rows) * height;
      PAGODA_RETURN_IF_ERROR(part.tensor->dtype == dtype && !part.tensor->decoder
                                 ? checkpoint.read(*part.tensor, begin * width, {bytes, head.size() * width})
                                 : read_as_f32(checkpoint, *part.tensor, begin, head));
    }
    const size_t column = static_cast<size_t>(row) % height;
    for (size_t i = 0; i < num_stored; ++i) std::memcpy(to + i * width, bytes + (i * height + column) * width, width);
  }
  return ok_status();
}

// Elements [begin, begin + count) of whole rows of a tensor.
Status read_elements(const io::TensorEntry& tensor, const io::Checkpoint& checkpoint, DType dtype, size_t begin,
                     size_t count, std::byte* to) {
  const size_t width = dtype_bytes(dtype), cols = static_cast<size_t>(tensor.shape.back());
  if (tensor.decoder && dtype != DType::f32)
    return tensor.decoder->read_stored(begin / cols, count / cols, {to, count * width});
  if (!tensor.decoder && tensor.dtype == dtype) return checkpoint.read(tensor, begin * width, {to, count * width});
  return read_as_f32(checkpoint, tensor, begin, {reinterpret_cast<float*>(to), count});
}

// Writes rows [first, first + count) of a part, in the requested order, to `to`.
Status read_part(const WeightGroup::Part& part, const io::Checkpoint& checkpoint, DType dtype, int64_t first,
                 int64_t count, size_t cols, std::byte* to) {
  if (part.matrix_rows > 0) return read_transposed(part, checkpoint, dtype, first, count, cols, to);
  const auto stored = [&](int64_t row) -> int64_t {  // -1: a row of zeros
    if (part.row_order.empty()) return part.first_row + row;
    const int64_t wanted = part.row_order[row];
    return wanted < 0 ? -1 : part.first_row + wanted;
  };
  const size_t width = dtype_bytes(dtype);
  const size_t stored_cols = part.tensor->shape.size() > 1 ? static_cast<size_t>(part.tensor->shape.back()) : 1;
  for (int64_t done = 0; done < count;) {
    int64_t run = 1;  // rows that are consecutive in the file
    const int64_t from = stored(first + done);
    while (from >= 0 && stored_cols == cols && done + run < count && stored(first + done + run) == from + run) ++run;
    const size_t begin = static_cast<size_t>(std::max<int64_t>(from, 0)) * stored_cols;
    const size_t size = from >= 0 ? static_cast<size_t>(run) * stored_cols : 0,
                 padded_size = static_cast<size_t>(run) * cols;
    if (size > 0) PAGODA_RETURN_IF_ERROR(read_elements(*part.tensor, checkpoint, dtype, begin, size, to));
    std::memset(to + size * width, 0, (padded_size - size) * width);
    to += padded_size * width;
    done += run;
  }
  return ok_status();
}

}  // namespace

Status read_rows(const WeightGroup& group, const io::Checkpoint& checkpoint, DType dtype, int64_t begin, int64_t count,
                 std::byte* into) {
  const size_t cols = static_cast<size_t>(group.cols), width = dtype_bytes(dtype);
  int64_t part_begin = 0;
  for (const WeightGroup::Part& part : group.parts) {
    const int64_t first = std::max(begin, part_begin), last = std::min(begin + count, part_begin + part.rows);
    if (first < last) {
      std::byte* to = into + static_cast<size_t>(first - begin) * cols * width;
      PAGODA_RETURN_IF_ERROR(
          with_name(part, read_part(part, checkpoint, dtype, first - part_begin, last - first, cols, to)));
    }
    part_begin += part.rows;
  }
  return ok_status();
}

}  // namespace pagoda::model
