// Renames and reorders what llama.cpp's converter renamed and reordered, so that the rest of the engine knows one
// order.
//   norms of Qwen3.5 are stored with 1 added, A_log as -exp(A_log);
//   V-heads of Qwen3.5 are stored so that V-head t uses K-head t % Hk, and come back as V-head h uses h / (Hv / Hk);
//   q and k rows of Llama are stored in pairs (2i, 2i + 1) and come back as halves (i, i + D / 2).
#include "io/gguf_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/gguf_config.h"
#include "io/quoted.h"
#include "io/tensor_decoder.h"

namespace pagoda::io {
namespace {

enum class Change : uint8_t { none, minus_one, log_of_negative };

class GgufDecoder final : public TensorDecoder {
 public:
  GgufDecoder(std::shared_ptr<File> file, const GgufTensor& tensor)
      : file_(std::move(file)), type_(*tensor.type), offset_bytes_(tensor.offset_bytes), cols_(tensor.shape.back()) {}

  std::vector<uint32_t> row_order, column_order;  // of the file, in the order they are given in; empty: as stored
  Change change = Change::none;

  Status read(uint64_t begin, std::span<float> into) const override {
    const uint64_t cols = static_cast<uint64_t>(cols_), count = into.size() / cols;
    uint64_t first = begin / cols;
    for (uint64_t done = 0; done < count;) {
      uint64_t run = 1;  // rows that lie one behind the other in the file
      const uint64_t stored = row_order.empty() ? first + done : row_order[first + done];
      while (done + run < count && (row_order.empty() || row_order[first + done + run] == stored + run)) ++run;
      PAGODA_RETURN_IF_ERROR(read_stored(stored, into.subspan(done * cols, run * cols)));
      done += run;
    }
    return ok_status();
  }

 private:
  Status read_stored(uint64_t row, std::span<float> into) const {
    const uint64_t cols = static_cast<uint64_t>(cols_), blocks_per_row = cols / type_.block_size;
    const uint64_t row_bytes = blocks_per_row * type_.block_bytes;
    const uint64_t rows_at_once = std::max<uint64_t>(1, (uint64_t{1} << 20) / row_bytes);
    std::vector<std::byte> raw;
    std::vector<float> as_stored(column_order.empty() ? 0 : cols);
    for (uint64_t done = 0; done * cols < into.size(); done += rows_at_once) {
      const uint64_t rows = std::min(rows_at_once, into.size() / cols - done);
      raw.resize(rows * row_bytes);
      PAGODA_RETURN_IF_ERROR(file_->read(offset_bytes_ + (row + done) * row_bytes, raw));
      type_.decode(raw.data(), rows * blocks_per_row, into.data() + done * cols);
    }
    for (uint64_t i = 0; i < into.size(); i += cols) finish_row(into.subspan(i, cols), as_stored);
    return ok_status();
  }

  void finish_row(std::span<float> row, std::vector<float>& as_stored) const {
    if (!column_order.empty()) {
      std::copy(row.begin(), row.end(), as_stored.begin());
      for (size_t i = 0; i < row.size(); ++i) row[i] = as_stored[column_order[i]];
    }
    if (change == Change::none) return;
    for (float& value : row) value = change == Change::minus_one ? value - 1.0f : std::log(-value);
  }

  std::shared_ptr<File> file_;
  const GgufType& type_;
  uint64_t offset_bytes_;
  int64_t cols_;
};

struct Name {
  std::string_view gguf, hugging_face;
};
constexpr Name kModelNames[] = {
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"output.weight", "lm_head.weight"},
};
constexpr Name kLayerNames[] = {
    {"attn_norm.weight", "input_layernorm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_q.bias", "self_attn.q_proj.bias"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_k.bias", "self_attn.k_proj.bias"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_v.bias", "self_attn.v_proj.bias"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"attn_output.bias", "self_attn.o_proj.bias"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"},
    {"attn_qkv.weight", "linear_attn.in_proj_qkv.weight"},
    {"attn_gate.weight", "linear_attn.in_proj_z.weight"},
    {"ssm_beta.weight", "linear_attn.in_proj_b.weight"},
    {"ssm_alpha.weight", "linear_attn.in_proj_a.weight"},
    {"ssm_conv1d.weight", "linear_attn.conv1d.weight"},
    {"ssm_dt.bias", "linear_attn.dt_bias"},
    {"ssm_a", "linear_attn.A_log"},
    {"ssm_norm.weight", "linear_attn.norm.weight"},
    {"ssm_out.weight", "linear_attn.out_proj.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_gate.bias", "mlp.gate_proj.bias"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_up.bias", "mlp.up_proj.bias"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
    {"ffn_down.bias", "mlp.down_proj.bias"},
};

// "blk.12.attn_q.weight" to "model.layers.12.self_attn.q_proj.weight"; empty for a name without a place.
std::string hugging_face_name(std::string_view name) {
  constexpr std::string_view kLayer = "blk.";
  if (!name.starts_with(kLayer)) {
    for (const Name& known : kModelNames)
      if (known.gguf == name) return std::string(known.hugging_face);
    return {};
  }
  name.remove_prefix(kLayer.size());
  const size_t dot = name.find('.');
  if (dot == 0 || dot == name.npos || dot > 6 || name.substr(0, dot).find_first_not_of("0123456789") != name.npos)
    return {};
  for (const Name& known : kLayerNames)
    if (known.gguf == name.substr(dot + 1))
      return "model.layers." + std::string(name.substr(0, dot + 1)) + std::string(known.hugging_face);
  return {};
}

// Where V-head h of the usual order lies in the file, element by element, `before` others first.
std::vector<uint32_t> v_head_order(const GgufShape& s, int64_t before, int64_t head_size) {
  std::vector<uint32_t> order;
  for (int64_t i = 0; i < before; ++i) order.push_back(static_cast<uint32_t>(i));
  const int64_t per_k_head = s.num_v_heads / s.num_k_heads;
  for (int64_t h = 0; h < s.num_v_heads; ++h) {
    const int64_t stored = h % per_k_head * s.num_k_heads + h / per_k_head;
    for (int64_t i = 0; i < head_size; ++i) order.push_back(static_cast<uint32_t>(before + stored * head_size + i));
  }
  return order;
}

std::vector<uint32_t> rope_order(int64_t num_heads, int64_t dim) {
  std::vector<uint32_t> order;
  for (int64_t h = 0; h < num_heads; ++h)
    for (int64_t i = 0; i < dim; ++i)
      order.push_back(static_cast<uint32_t>(h * dim + i % (dim / 2) * 2 + i / (dim / 2)));
  return order;
}

// What the converter did to a tensor, undone by `decoder`. `name` is the Hugging Face one without its layer.
void undo_conversion(const GgufShape& s, std::string_view name, GgufDecoder& decoder) {
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  if (s.architecture == "llama" && s.head_dim % 2 == 0) {
    if (ends("q_proj.weight")) decoder.row_order = rope_order(s.num_heads, s.head_dim);
    if (ends("k_proj.weight")) decoder.row_order = rope_order(s.num_kv_heads, s.head_dim);
    if (ends("q_proj.bias")) decoder.column_order = rope_order(s.num_heads, s.head_dim);
    if (ends("k_proj.bias")) decoder.column_order = rope_order(s.num_kv_heads, s.head_dim);
  }
  if (s.num_v_heads == 0) return;
  if (ends("norm.weight") && !ends("linear_attn.norm.weight")) decoder.change = Change::minus_one;
  if (ends("A_log")) decoder.change = Change::log_of_negative;
  if (s.architecture == "qwen3next") return;  // its V-heads stay in the usual order
  const int64_t qk = 2 * s.num_k_heads * s.k_head_dim;
  if (ends("in_proj_qkv.weight") || ends("conv1d.weight")) decoder.row_order = v_head_order(s, qk, s.v_head_dim);
  if (ends("in_proj_z.weight")) decoder.row_order = v_head_order(s, 0, s.v_head_dim);
  if (ends("in_proj_b.weight") || ends("in_proj_a.weight")) decoder.row_order = v_head_order(s, 0, 1);
  if (ends("A_log") || ends("dt_bias")) decoder.column_order = v_head_order(s, 0, 1);
  if (ends("out_proj.weight")) decoder.column_order = v_head_order(s, 0, s.v_head_dim);
}

Result<TensorEntry> make_entry(const Gguf& gguf, const GgufShape& shape, const std::string& name,
                               const GgufTensor& tensor, const std::string& new_name) {
  if (tensor.type->decode == nullptr)
    return make_error(StatusCode::unsupported, gguf.file()->name() + ": tensor " + io::quoted(name) + " is " +
                                                   std::string(tensor.type->name) + ", which is not read");
  auto decoder = std::make_shared<GgufDecoder>(gguf.file(), tensor);
  undo_conversion(shape, new_name, *decoder);
  TensorEntry entry;
  entry.shape = tensor.shape;
  entry.offset_bytes = tensor.offset_bytes;
  entry.size_bytes = tensor.size_bytes;
  const auto rows = static_cast<uint64_t>(tensor.shape.size() > 1 ? tensor.shape.front() : 1);
  const bool fits =
      (decoder->row_order.empty() || decoder->row_order.size() == rows) &&
      (decoder->column_order.empty() || decoder->column_order.size() == static_cast<uint64_t>(tensor.shape.back()));
  if (!fits)
    return make_error(StatusCode::bad_file,
                      gguf.file()->name() + ": tensor " + io::quoted(name) + " does not have the shape of its heads");
  if (new_name.ends_with("conv1d.weight") && entry.shape.size() == 2) entry.shape.insert(entry.shape.begin() + 1, 1);
  entry.bits = tensor.type->bits;
  entry.decoder = std::move(decoder);
  return entry;
}

}  // namespace

Result<TensorMap> gguf_tensors(std::span<const Gguf> parts) {
  const auto shape = read_gguf_shape(parts.front());
  if (!shape.is_ok()) return shape.status;
  TensorMap tensors;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const auto& [name, tensor] : parts[i].tensors()) {
      const std::string new_name = hugging_face_name(name);
      if (new_name.empty() && tensor.type->decode == nullptr) continue;
      auto entry = make_entry(parts[i], *shape, name, tensor, new_name);
      if (!entry.is_ok()) return entry.status;
      entry->file_index = static_cast<int>(i);
      if (!tensors.emplace(new_name.empty() ? name : new_name, std::move(*entry)).second)
        return make_error(StatusCode::bad_file,
                          parts[i].file()->name() + ": tensor " + io::quoted(name) + " is there twice");
    }
  }
  return tensors;
}

}  // namespace pagoda::io
