// Undoes the renaming and reordering of llama.cpp's converter, so that the rest of the engine needs only one order.
//   norms of Qwen3.5, Qwen3-Next, Qwen4-Exp and Gemma 3 are stored with 1 added, A_log as -exp(A_log);
//   convolutions and A_log of Kimi-Linear have dimensions of 1 at other indices, or fewer of them;
//   V-heads of Qwen3.5 and Qwen4-Exp are stored so that V-head t uses K-head t % Hk, and become V-head h uses h / (Hv /
//   Hk); those of Qwen3-Next keep their order, but b and a of a K-head are adjacent, and become all b and all a; q and
//   k rows of Llama are stored in pairs (2i, 2i + 1) and become halves (i, i + D / 2).
#include "io/gguf/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/quoted.h"
#include "io/gguf/config.h"
#include "io/gguf/files.h"
#include "io/gguf/names.h"
#include "io/gguf/stored.h"
#include "io/gguf/vision.h"
#include "io/tensor_decoder.h"

namespace pagoda::io {
namespace {

enum class Change : uint8_t { none, minus_one, log_of_negative };

class GgufDecoder final : public TensorDecoder {
 public:
  // Columns [part, part + 1) * cols of the tensor.
  GgufDecoder(std::shared_ptr<File> file, const GgufTensor& tensor, int64_t cols, int64_t part)
      : file_(std::move(file)),
        type_(*tensor.type),
        cols_(cols),
        stride_bytes_(static_cast<uint64_t>(tensor.shape.back()) / type_.block_size * type_.block_bytes),
        offset_bytes_(tensor.offset_bytes + static_cast<uint64_t>(part) * row_bytes()) {}

  std::vector<uint32_t> row_order, column_order;  // indices in the file, in output order; empty: as stored
  Change change = Change::none;

  Status read(uint64_t begin, std::span<float> into) const override {
    const uint64_t cols = static_cast<uint64_t>(cols_);
    return each_run(begin / cols, into.size() / cols, [&](uint64_t row, uint64_t done, uint64_t run) {
      return read_floats(row, into.subspan(done * cols, run * cols));
    });
  }

  std::optional<WeightFormat> stored_format() const override {
    if (change != Change::none) return std::nullopt;
    return column_order.empty() ? gguf_format(type_.id) : gguf_format(type_.id, column_run());
  }

  Status read_stored(uint64_t first, uint64_t count, std::span<std::byte> into) const override {
    const size_t row_bytes = into.size() / count;
    const bool is_quantised = is_stored(*stored_format());
    if (!is_quantised && row_bytes != this->row_bytes())  // a tensor whose shape has other rows, such as A_log
      return make_error(StatusCode::unsupported, "a tensor is only read as floats");
    return each_run(first, count, [&](uint64_t row, uint64_t done, uint64_t run) {
      std::byte* const to = into.data() + done * row_bytes;
      return is_quantised ? read_blocks(row, run, row_bytes, to) : read_elements(row, run, to);
    });
  }

 private:
  // Calls body(first row in the file, rows done, rows) for each run of consecutive rows in the file.
  template <class Body>
  Status each_run(uint64_t first, uint64_t count, Body&& body) const {
    for (uint64_t done = 0; done < count;) {
      uint64_t run = 1;
      const uint64_t stored = row_order.empty() ? first + done : row_order[first + done];
      while (done + run < count && (row_order.empty() || row_order[first + done + run] == stored + run)) ++run;
      PAGODA_RETURN_IF_ERROR(body(stored, done, run));
      done += run;
    }
    return ok_status();
  }

  uint64_t row_bytes() const noexcept { return static_cast<uint64_t>(cols_) / type_.block_size * type_.block_bytes; }

  Status read_raw(uint64_t row, std::span<std::byte> into) const {
    if (stride_bytes_ == row_bytes()) return file_->read(offset_bytes_ + row * stride_bytes_, into);
    for (; !into.empty(); into = into.subspan(row_bytes()), ++row)
      PAGODA_RETURN_IF_ERROR(file_->read(offset_bytes_ + row * stride_bytes_, into.first(row_bytes())));
    return ok_status();
  }

  // The largest number of columns such that each aligned run of them stays together.
  int64_t column_run() const noexcept {
    size_t divisor = column_order.size();
    for (size_t i = 1; i < column_order.size(); ++i)
      if (column_order[i] != column_order[i - 1] + 1) divisor = std::gcd(std::gcd(divisor, i), size_t{column_order[i]});
    return static_cast<int64_t>(divisor);
  }

  Status read_blocks(uint64_t row, uint64_t count, size_t stored_bytes, std::byte* to) const {
    std::vector<std::byte> raw(count * row_bytes());
    PAGODA_RETURN_IF_ERROR(read_raw(row, raw));
    const QuantFormat& in_file = quant_format(*gguf_format(type_.id));
    const QuantFormat& wanted = quant_format(*stored_format());
    std::vector<std::byte> in_order(column_order.empty() ? 0 : stored_row_bytes(in_file, cols_));
    for (uint64_t i = 0; i < count; ++i, to += stored_bytes) {
      const StoredRow out = stored_row(wanted, cols_, to);
      if (column_order.empty()) {
        split_gguf_row(type_.id, raw.data() + i * row_bytes(), cols_, out);
        continue;
      }
      const StoredRow split = stored_row(in_file, cols_, in_order.data());
      split_gguf_row(type_.id, raw.data() + i * row_bytes(), cols_, split);
      reorder_gguf_row(type_.id, wanted, split, column_order, out);
    }
    return ok_status();
  }

  // Rows of floats as in the file, but for the order of their columns.
  Status read_elements(uint64_t row, uint64_t count, std::byte* to) const {
    PAGODA_RETURN_IF_ERROR(read_raw(row, {to, count * row_bytes()}));
    if (column_order.empty()) return ok_status();
    std::vector<std::byte> as_stored(row_bytes());
    const size_t width = type_.block_bytes;
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(as_stored.data(), to, as_stored.size());
      for (const uint32_t column : column_order) {
        std::memcpy(to, as_stored.data() + column * width, width);
        to += width;
      }
    }
    return ok_status();
  }

  Status read_floats(uint64_t row, std::span<float> into) const {
    const uint64_t cols = static_cast<uint64_t>(cols_), blocks_per_row = cols / type_.block_size;
    const uint64_t row_bytes = this->row_bytes();
    const uint64_t rows_at_once = std::max<uint64_t>(1, (uint64_t{1} << 20) / row_bytes);
    std::vector<std::byte> raw;
    std::vector<float> as_stored(column_order.empty() ? 0 : cols);
    for (uint64_t done = 0; done * cols < into.size(); done += rows_at_once) {
      const uint64_t rows = std::min(rows_at_once, into.size() / cols - done);
      raw.resize(rows * row_bytes);
      PAGODA_RETURN_IF_ERROR(read_raw(row + done, raw));
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
  int64_t cols_;
  uint64_t stride_bytes_, offset_bytes_;  // between rows, of the first
};

// The location of V-head h of the usual order in the file, element by element, after `before` others.
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

// Each K-head has `sizes` rows, one kind after another: the rows of kinds [first, last), grouped by kind.
std::vector<uint32_t> packed_order(int64_t num_heads, std::span<const int64_t> sizes, size_t first, size_t last) {
  std::vector<uint32_t> order;
  const int64_t per_head = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  for (size_t kind = first; kind < last; ++kind) {
    const int64_t begin = std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(kind), int64_t{0});
    for (int64_t head = 0; head < num_heads; ++head)
      for (int64_t i = 0; i < sizes[kind]; ++i) order.push_back(static_cast<uint32_t>(head * per_head + begin + i));
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

// Sets up a tensor's decoder to undo the converter's change. An order is built only if the tensor has the expected
// size, because the sizes come from an untrusted file.
class Undo {
 public:
  Undo(const GgufShape& shape, std::string_view gguf_name, std::string_view name, const GgufTensor& tensor,
       GgufDecoder& decoder)
      : s_(shape),
        gguf_name_(gguf_name),
        name_(name),
        rows_(tensor.shape.size() > 1 ? tensor.shape.front() : 1),
        cols_(tensor.shape.back()),
        decoder_(decoder) {}

  // False if the size of the tensor does not match its heads.
  bool run() {
    if (s_.architecture == "llama" && s_.head_dim % 2 == 0) {
      if (ends("q_proj.weight")) rotated(rows_, s_.num_heads, decoder_.row_order);
      if (ends("k_proj.weight")) rotated(rows_, s_.num_kv_heads, decoder_.row_order);
      if (ends("q_proj.bias")) rotated(cols_, s_.num_heads, decoder_.column_order);
      if (ends("k_proj.bias")) rotated(cols_, s_.num_kv_heads, decoder_.column_order);
    }
    if (s_.architecture == "gemma3" && ends("norm.weight")) decoder_.change = Change::minus_one;
    if (ends("A_log")) decoder_.change = Change::log_of_negative;
    if (s_.num_v_heads == 0) return fits_;
    const bool is_norm = ends("norm.weight") || ends("pre_fc_norm_embedding.weight") ||
                         ends("pre_fc_norm_hidden.weight") || ends("ple.norm_key.weight") ||
                         ends("ple.norm_query.weight") || ends("ple.norm_conv.weight");
    if (is_norm && !ends("linear_attn.norm.weight")) decoder_.change = Change::minus_one;
    s_.has_tiled_v_heads ? untile() : unpack();
    return fits_;
  }

 private:
  bool ends(std::string_view end) const noexcept { return name_.ends_with(end); }

  void untile() {
    const int64_t qk = 2 * s_.num_k_heads * s_.k_head_dim;
    if (ends("in_proj_qkv.weight") || ends("linear_attn.conv1d.weight"))
      tiled(rows_, qk, s_.v_head_dim, decoder_.row_order);
    if (ends("in_proj_z.weight")) tiled(rows_, 0, s_.v_head_dim, decoder_.row_order);
    if (ends("in_proj_b.weight") || ends("in_proj_a.weight")) tiled(rows_, 0, 1, decoder_.row_order);
    if (ends("A_log") || ends("dt_bias")) tiled(cols_, 0, 1, decoder_.column_order);
    if (ends("out_proj.weight")) tiled(cols_, 0, s_.v_head_dim, decoder_.column_order);
  }

  void unpack() {
    const int64_t v_heads = s_.num_v_heads / s_.num_k_heads, v = v_heads * s_.v_head_dim, k = s_.k_head_dim;
    if (gguf_name_.ends_with("ssm_ba.weight")) {
      const bool is_b = ends("in_proj_b.weight");
      packed({{v_heads, v_heads}}, 2 * s_.num_v_heads, is_b ? 0 : 1, is_b ? 1 : 2);
    }
    if (gguf_name_.ends_with("ssm_in.weight")) {
      const bool is_z = ends("in_proj_z.weight");
      packed({{k, k, v, v}}, 2 * s_.num_k_heads * k + 2 * s_.num_v_heads * s_.v_head_dim, is_z ? 3 : 0, is_z ? 4 : 3);
    }
  }

  void packed(std::span<const int64_t> sizes, int64_t rows, size_t first, size_t last) {
    fits_ = fits_ && rows_ == rows;
    if (fits_) decoder_.row_order = packed_order(s_.num_k_heads, sizes, first, last);
  }
  void rotated(int64_t size, int64_t num_heads, std::vector<uint32_t>& order) {
    fits_ = fits_ && size == num_heads * s_.head_dim;
    if (fits_) order = rope_order(num_heads, s_.head_dim);
  }
  void tiled(int64_t size, int64_t before, int64_t head_size, std::vector<uint32_t>& order) {
    fits_ = fits_ && size == before + s_.num_v_heads * head_size;
    if (fits_) order = v_head_order(s_, before, head_size);
  }

  const GgufShape& s_;
  std::string_view gguf_name_, name_;
  int64_t rows_, cols_;
  GgufDecoder& decoder_;
  bool fits_ = true;
};

// Restores the shape in the model's own files: GGUF has dimensions of 1 at other indices, or none if quantised.
void restore_ones(std::string_view name, std::vector<int64_t>& shape) {
  const bool is_conv = name.ends_with("conv1d.weight");
  if (!is_conv && !name.ends_with("A_log")) return;
  const int64_t cols = is_conv ? shape.back() : 1;
  const int64_t rows = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()) / cols;
  if (is_conv) shape = {rows, 1, cols};
  else shape = {1, 1, rows, 1};
}

// A matrix in GGUF that other checkpoints have as two, side by side: which of them has the name; -1: it is whole.
int64_t half_of(std::string_view name) noexcept {
  return name.ends_with("nextn.fc_embedding.weight") ? 0 : name.ends_with("nextn.fc_hidden.weight") ? 1 : -1;
}

// Norms of all residual streams of an MTP head have a row for each stream, or none.
bool is_norm_of_streams(std::string_view name) noexcept {
  return name.ends_with("nextn.pre_fc_norm_hidden.weight") ||
         name.ends_with("nextn.hyper_connection_mixer.hc_norm.weight");
}

Result<TensorEntry> make_entry(const Gguf& gguf, const GgufShape& shape, const std::string& name,
                               const GgufTensor& tensor, const std::string& new_name) {
  if (tensor.type->decode == nullptr)
    return make_error(StatusCode::unsupported, gguf.file()->name() + ": tensor " + io::quoted(name) + " is " +
                                                   std::string(tensor.type->name) + ", which is not read");
  const int64_t half = half_of(new_name), cols = half < 0 ? tensor.shape.back() : tensor.shape.back() / 2;
  if (half >= 0 && (tensor.shape.back() % 2 != 0 || cols % static_cast<int64_t>(tensor.type->block_size) != 0))
    return make_error(StatusCode::bad_file, gguf.file()->name() + ": tensor " + io::quoted(name) +
                                                " has columns that do not divide into two halves of whole blocks");
  auto decoder = std::make_shared<GgufDecoder>(gguf.file(), tensor, cols, std::max<int64_t>(half, 0));
  if (!Undo(shape, name, new_name, tensor, *decoder).run())
    return make_error(StatusCode::bad_file,
                      gguf.file()->name() + ": tensor " + io::quoted(name) + " does not have the size of its heads");
  TensorEntry entry;
  entry.shape = tensor.shape;
  entry.shape.back() = cols;
  if (is_norm_of_streams(new_name) && entry.shape.size() == 2) entry.shape = {entry.shape[0] * entry.shape[1]};
  entry.offset_bytes = tensor.offset_bytes;
  entry.size_bytes = half < 0 ? tensor.size_bytes : tensor.size_bytes / 2;
  if (!decoder->row_order.empty()) entry.shape.front() = static_cast<int64_t>(decoder->row_order.size());
  if (shape.architecture == "kimi-linear") restore_ones(new_name, entry.shape);
  else if (new_name.ends_with("conv1d.weight") && entry.shape.size() == 2)
    entry.shape.insert(entry.shape.begin() + 1, 1);
  if (new_name.ends_with("shared_expert_gate.weight") && entry.shape.size() == 1)
    entry.shape.insert(entry.shape.begin(), 1);
  entry.bits = tensor.type->bits;
  entry.decoder = std::move(decoder);
  return entry;
}

std::vector<std::string> names_of(const GgufShape& shape, const std::string& name, bool fuses_gate_up) {
  if (shape.ngram_layer >= 0 && name == "per_layer_token_embd.weight")
    return {concat("model.layers.", shape.ngram_layer, ".ple.ple_embedding.ngram_embedding.weight")};
  return hugging_face_names(shape.architecture, name, fuses_gate_up);
}

}  // namespace

Result<TensorMap> gguf_tensors(std::span<const Gguf> parts) {
  PAGODA_ASSIGN_OR_RETURN(const auto shape, read_gguf_shape(parts.front()));
  const bool fuses_gate_up = std::ranges::any_of(
      parts, [](const Gguf& part) { return part.tensors().contains("blk.0.ffn_gate_up_exps.weight"); });
  TensorMap tensors;
  for (size_t i = 0; i < parts.size(); ++i) {
    // A head in a separate file comes with a copy of the embedding and the last norm.
    const bool is_head = i > 0 && is_gguf_head(parts[i]), is_vision = i > 0 && is_gguf_vision(parts[i]);
    for (const auto& [name, tensor] : parts[i].tensors()) {
      if (is_head && !name.starts_with("blk.")) continue;
      std::vector<std::string> new_names;
      if (!is_vision) new_names = names_of(shape, name, fuses_gate_up);
      else if (std::string renamed = vision_tensor_name(parts[i], name); !renamed.empty())
        new_names.push_back(std::move(renamed));
      if (new_names.empty() && tensor.type->decode == nullptr) continue;
      if (new_names.empty()) new_names.push_back(name);
      for (std::string& new_name : new_names) {
        PAGODA_ASSIGN_OR_RETURN(auto entry,
                                make_entry(parts[i], is_vision ? GgufShape{} : shape, name, tensor, new_name));
        entry.file_index = static_cast<int>(i);
        if (!tensors.emplace(std::move(new_name), std::move(entry)).second)
          return make_error(StatusCode::bad_file,
                            parts[i].file()->name() + ": tensor " + io::quoted(name) + " occurs twice");
      }
    }
  }
  return tensors;
}

}  // namespace pagoda::io
