// Finds tensors packed as integers and checks all shapes before any of them is used.
#include "io/quantize/integers.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/quoted.h"
#include "io/quantize/integer_decoder.h"
#include "io/quantize/stored.h"

namespace pagoda::io {
namespace {

void unsupported(ConfigFields& fields, std::string_view key, const std::string& what) {
  fields.fail(key, what + " is not supported", StatusCode::unsupported);
}

void read_gptq(ConfigFields& fields, bool is_awq, IntegerPacking& packing) {
  packing.bits = fields.integer(is_awq && !fields.has("bits") ? "w_bit" : "bits", 0, 64, 4);
  const int32_t group =
      fields.integer(is_awq && !fields.has("group_size") ? "q_group_size" : "group_size", -1, 1 << 20, 128);
  packing.group = group < 0 ? 0 : group;
  fields.check(packing.bits == 4 || (packing.bits == 8 && !is_awq), "bits", concat(packing.bits, " is not supported"));
  fields.check(group != 0, "group_size", "is 0");
  if (is_awq) {
    const std::string version = fields.string("version", "gemm");
    if (version != "gemm" && version != "GEMM") unsupported(fields, "version", quoted(version));
    return;
  }
  const std::string format = fields.string("checkpoint_format", "gptq");
  if (format != "gptq" && format != "gptq_v2") unsupported(fields, "checkpoint_format", quoted(format));
  packing.adds_one = format == "gptq";
  const Json* dynamic = fields.find("dynamic");
  if (dynamic != nullptr && dynamic->is_object() && !dynamic->members().empty())
    unsupported(fields, "dynamic", "a packing of each layer's own");
}

void read_compressed(ConfigFields& fields, IntegerPacking& packing) {
  const std::string format = fields.string("format", "");
  if (format != "pack-quantized" && format != "int-quantized") unsupported(fields, "format", quoted(format));
  packing.layout = format == "int-quantized" ? IntegerLayout::bytes : IntegerLayout::packed;
  for (const char* key : {"sparsity_config", "transform_config"}) {
    const Json* other = fields.find(key);
    if (other != nullptr && other->is_object() && !other->members().empty()) unsupported(fields, key, "a second form");
  }
}

class IntegerUnpacker {
 public:
  IntegerUnpacker(const IntegerPacking& packing, std::span<const std::shared_ptr<File>> files, TensorMap& tensors)
      : packing_(packing), files_(files), tensors_(tensors) {}

  Status run() {
    const std::string ending = is_transposed()                            ? ".qweight"
                               : packing_.layout == IntegerLayout::packed ? ".weight_packed"
                                                                          : ".weight_scale";
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_)
      if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
    for (const std::string& name : names) PAGODA_RETURN_IF_ERROR(unpack(name));
    return ok_status();
  }

 private:
  bool is_transposed() const noexcept { return packing_.layout <= IntegerLayout::awq; }
  static Status bad(const std::string& name, const std::string& what, StatusCode code = StatusCode::bad_file) {
    return make_error(code, "quantized tensor " + quoted(name) + " " + what);
  }
  const TensorEntry* find(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  const std::shared_ptr<File>& file_of(const TensorEntry& entry) const { return files_[entry.file_index]; }
  static bool has_shape(const TensorEntry* entry, DType dtype, int64_t lines, int64_t width) {
    return entry != nullptr && entry->dtype == dtype && entry->shape == std::vector<int64_t>{lines, width};
  }

  template <class T>
  Status read_numbers(const std::string& name, const TensorEntry& entry, DType dtype, size_t count,
                      std::vector<T>& into) {
    if (entry.dtype != dtype || entry.shape != std::vector<int64_t>{static_cast<int64_t>(count)})
      return bad(name, "has an odd form");
    into.resize(count);
    return file_of(entry)->read(entry.offset_bytes, std::as_writable_bytes(std::span(into)));
  }

  // Columns must be in the order of their groups.
  Status check_order(const std::string& name, const std::string& order_name, const IntegerMatrix& m) {
    const TensorEntry* entry = find(order_name);
    if (entry == nullptr) return ok_status();
    std::vector<int32_t> groups;
    PAGODA_RETURN_IF_ERROR(read_numbers(order_name, *entry, DType::i32, m.cols, groups));
    for (uint64_t k = 0; k < m.cols; ++k)
      if (groups[k] != static_cast<int32_t>(k / (m.cols / m.groups)))
        return bad(name, "has its columns in another order than its groups (desc_act), which is not supported",
                   StatusCode::unsupported);
    return ok_status();
  }

  // Rows, columns, groups and bits, from the shapes.
  Status measure(const std::string& name, const TensorEntry& w, const TensorEntry& s, IntegerMatrix& m) {
    if (w.shape.size() != 2 || s.shape.size() != 2 || w.shape[0] < 1 || w.shape[1] < 1 || s.shape[0] < 1 ||
        s.shape[1] < 1)
      return bad(name, "has an odd form");
    const DType wanted = packing_.layout == IntegerLayout::bytes ? DType::i8 : DType::i32;
    if (w.dtype != wanted) return bad(name, "has an odd form");
    int64_t rows = w.shape[0], cols = w.shape[1], groups = s.shape[is_transposed() ? 0 : 1];
    const int64_t scale_rows = s.shape[is_transposed() ? 1 : 0];
    if (packing_.layout == IntegerLayout::gptq) std::swap(rows, cols), cols = cols * 32 / packing_.bits;
    else if (packing_.layout == IntegerLayout::awq) std::swap(rows, cols), rows = rows * 8;
    else if (packing_.layout == IntegerLayout::bytes) m.packing.bits = 8;
    else PAGODA_RETURN_IF_ERROR(measure_packed(name, rows, cols, m));
    if (scale_rows != rows || cols % groups != 0 || (packing_.group != 0 && cols / groups != packing_.group) ||
        (is_transposed() && packing_.group == 0 && groups != 1))
      return bad(name, "has scales that do not fit its shape");
    if (cols % 32 != 0) return bad(name, concat("has rows of ", cols, " elements, no multiple of 32"));
    m.rows = static_cast<uint64_t>(rows), m.cols = static_cast<uint64_t>(cols),
    m.groups = static_cast<uint64_t>(groups);
    return ok_status();
  }

  // `cols`: words of a row, then the elements that the file states.
  Status measure_packed(const std::string& name, int64_t rows, int64_t& cols, IntegerMatrix& m) {
    const TensorEntry* entry = find(name + ".weight_shape");
    if (entry == nullptr) return bad(name, "has no weight_shape");
    std::vector<int64_t> shape;
    PAGODA_RETURN_IF_ERROR(read_numbers(name + ".weight_shape", *entry, DType::i64, 2, shape));
    const int64_t words = cols;
    for (const int bits : {4, 8})
      if (shape[0] == rows && words * 32 / bits == shape[1]) {
        m.packing.bits = bits;
        cols = shape[1];
        return ok_status();
      }
    return bad(name, "has a weight_shape that does not fit 4 or 8 bits");
  }

  Status find_zeros(const std::string& name, IntegerMatrix& m) {
    const int64_t rows = static_cast<int64_t>(m.rows), groups = static_cast<int64_t>(m.groups),
                  per_word = 32 / m.packing.bits;
    const TensorEntry* zeros = find(name + (is_transposed() ? ".qzeros" : ".weight_zero_point"));
    if (zeros == nullptr) return is_transposed() ? bad(name, "has no qzeros") : ok_status();
    const bool fits = packing_.layout == IntegerLayout::bytes ? has_shape(zeros, DType::i8, rows, groups)
                      : packing_.layout == IntegerLayout::packed
                          ? has_shape(zeros, DType::i32, (rows + per_word - 1) / per_word, groups)
                          : rows % per_word == 0 && has_shape(zeros, DType::i32, groups, rows / per_word);
    if (!fits) return bad(name, "has zeros that do not fit its shape");
    m.zeros = *zeros;
    m.zeros_file = file_of(*zeros);
    return ok_status();
  }

  Status unpack(const std::string& name) {
    const std::string weight_name = name + (is_transposed()                            ? ".qweight"
                                            : packing_.layout == IntegerLayout::packed ? ".weight_packed"
                                                                                       : ".weight");
    const std::string scales_name = name + (is_transposed() ? ".scales" : ".weight_scale"),
                      order_name = name + (is_transposed() ? ".g_idx" : ".weight_g_idx");
    const TensorEntry *w = find(weight_name), *s = find(scales_name);
    if (w == nullptr || s == nullptr) return bad(name, w == nullptr ? "has scales and no weight" : "has no scales");
    IntegerMatrix m;
    m.packing = packing_;
    PAGODA_RETURN_IF_ERROR(measure(name, *w, *s, m));
    PAGODA_RETURN_IF_ERROR(find_zeros(name, m));
    PAGODA_RETURN_IF_ERROR(check_order(name, order_name, m));
    const auto group = static_cast<int64_t>(m.cols / m.groups);
    const auto format = integer_format(m.packing.bits, group, s->dtype, m.zeros.has_value());
    if (s->dtype != DType::f16 && s->dtype != DType::bf16) return bad(name, "has odd scales");
    if (!format) return bad(name, concat("has groups of ", group, " columns, no multiple of 32"));
    m.format = *format;
    m.weight = *w, m.scales = *s;
    m.weight_file = file_of(*w), m.scales_file = file_of(*s);
    TensorEntry entry = *w;
    entry.dtype = DType::f32;
    entry.shape = {static_cast<int64_t>(m.rows), static_cast<int64_t>(m.cols)};
    entry.bits = m.packing.bits;
    entry.decoder = std::make_shared<IntegerDecoder>(std::move(m));
    for (const std::string& used :
         {weight_name, scales_name, order_name, name + ".qzeros", name + ".weight_shape", name + ".weight_zero_point"})
      tensors_.erase(used);
    if (!tensors_.emplace(name + ".weight", std::move(entry)).second) return bad(name, "also exists as floats");
    return ok_status();
  }

  const IntegerPacking& packing_;
  std::span<const std::shared_ptr<File>> files_;
  TensorMap& tensors_;
};

}  // namespace

std::optional<IntegerPacking> read_integers(ConfigFields& fields) {
  const std::string method = fields.string("quant_method", "");
  IntegerPacking packing;
  if (method == "gptq" || method == "awq") {
    packing.layout = method == "awq" ? IntegerLayout::awq : IntegerLayout::gptq;
    read_gptq(fields, method == "awq", packing);
  } else if (method == "compressed-tensors") {
    read_compressed(fields, packing);
  } else {
    return std::nullopt;
  }
  return packing;
}

Status unpack_integers(const IntegerPacking& packing, std::span<const std::shared_ptr<File>> files,
                       TensorMap& tensors) {
  return IntegerUnpacker(packing, files, tensors).run();
}

}  // namespace pagoda::io
