// The header of a safetensors file: u64 length, JSON that may be padded with whitespace, then the tensor data.
#include "io/safetensors/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "base/assign_or_return.h"
#include "base/checked.h"
#include "base/concat.h"
#include "base/json_reader.h"
#include "base/quoted.h"

namespace pagoda::io {
namespace {

constexpr uint64_t kLengthBytes = 8;

struct DTypeRow {
  std::string_view name;
  uint64_t bits;
  std::optional<DType> dtype;  // empty: a valid safetensors type that the engine does not read
};

constexpr DTypeRow kDTypes[] = {
    {"BOOL", 8, DType::boolean},
    {"U8", 8, DType::u8},
    {"I8", 8, DType::i8},
    {"F8_E4M3", 8, DType::f8_e4m3},
    {"F8_E5M2", 8, DType::f8_e5m2},
    {"I16", 16, DType::i16},
    {"U16", 16, DType::u16},
    {"F16", 16, DType::f16},
    {"BF16", 16, DType::bf16},
    {"I32", 32, DType::i32},
    {"U32", 32, DType::u32},
    {"F32", 32, DType::f32},
    {"I64", 64, DType::i64},
    {"U64", 64, DType::u64},
    {"F64", 64, DType::f64},
    {"F4", 4, std::nullopt},
    {"F6_E2M3", 6, std::nullopt},
    {"F6_E3M2", 6, std::nullopt},
    {"F8_E8M0", 8, std::nullopt},
    {"F8_E4M3FNUZ", 8, std::nullopt},
    {"F8_E5M2FNUZ", 8, std::nullopt},
    {"C64", 64, std::nullopt},
};

bool is_whitespace(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Trims whitespace from both ends of [begin, end) in the file, reading in chunks: writers may pad up to 100 MB.
Status trim_whitespace(const File& file, uint64_t& begin, uint64_t& end) {
  std::array<char, 1 << 16> chunk;
  const auto read_chunk = [&](bool front, std::span<char>& into) {
    into = std::span(chunk.data(), static_cast<size_t>(std::min<uint64_t>(chunk.size(), end - begin)));
    return file.read(front ? begin : end - into.size(), std::as_writable_bytes(into));
  };
  // Padding is usually one repeated byte, which memcmp detects much faster than a loop.
  const auto is_padding = [](std::span<const char> bytes) {
    return is_whitespace(bytes[0]) && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
  };
  std::span<char> bytes;
  while (begin < end) {
    PAGODA_RETURN_IF_ERROR(read_chunk(true, bytes));
    const auto stop = is_padding(bytes) ? bytes.end() : std::find_if_not(bytes.begin(), bytes.end(), is_whitespace);
    begin += static_cast<uint64_t>(stop - bytes.begin());
    if (stop != bytes.end()) break;
  }
  while (begin < end) {
    PAGODA_RETURN_IF_ERROR(read_chunk(false, bytes));
    const auto stop = is_padding(bytes) ? bytes.rend() : std::find_if_not(bytes.rbegin(), bytes.rend(), is_whitespace);
    end -= static_cast<uint64_t>(stop - bytes.rbegin());
    if (stop != bytes.rend()) break;
  }
  return ok_status();
}

// Parses the header straight into entries, without a JSON tree: a hostile header then costs no more than its own size.
// Entry offsets count from the start of the tensor data.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view json) noexcept : reader_(json) {}

  bool parse() {
    if (!reader_.take('{')) return reader_.fail("the header is not a JSON object");
    bool more = !reader_.take('}');
    while (more) {
      if (!parse_member() || !reader_.read_separator('}', more)) return false;
    }
    return reader_.at_end() || reader_.fail("bytes after the header's object");
  }

  Status status() const { return {code_, reader_.status().message}; }
  TensorMap& tensors() noexcept { return tensors_; }

 private:
  bool fail(const std::string& reason) { return reader_.fail("tensor " + io::quoted(name_) + ": " + reason); }

  bool parse_member() {
    if (!reader_.read_string(name_) || !(reader_.take(':') || reader_.fail("expected ':'"))) return false;
    if (name_ == "__metadata__") return parse_metadata();
    if (tensors_.size() == kMaxTensorsPerFile) {
      code_ = StatusCode::unsupported;
      return reader_.fail(concat("more than ", kMaxTensorsPerFile, " tensors in one file"));
    }
    if (!check_name()) return false;
    TensorEntry entry;
    if (!parse_tensor(entry)) return false;
    return tensors_.emplace(name_, std::move(entry)).second || fail("is listed twice");
  }

  bool check_name() {
    if (name_.empty()) return fail("has an empty name");
    if (name_.size() > kMaxTensorNameBytes) return fail(concat("name is too long: ", name_.size(), " bytes"));
    for (char c : name_) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return fail("control character in the name");
    }
    if (name_.find("../") != name_.npos || name_.find("..\\") != name_.npos) return fail("the name looks like a path");
    return true;
  }

  bool parse_metadata() {
    if (has_metadata_) return reader_.fail("__metadata__ occurs twice");
    has_metadata_ = true;
    if (reader_.take_word("null")) return true;  // mlx writes null for empty metadata
    if (!reader_.take('{')) return reader_.fail("__metadata__ is not an object");
    std::set<std::string> keys;
    std::string key, value;
    bool more = !reader_.take('}');
    while (more) {
      if (!reader_.read_string(key) || !(reader_.take(':') || reader_.fail("expected ':'"))) return false;
      if (reader_.peek() != '"') return reader_.fail("__metadata__: value of " + io::quoted(key) + " is not a string");
      if (!reader_.read_string(value)) return false;
      if (keys.size() == kMaxMetadataKeys) return reader_.fail("__metadata__ has too many keys");
      if (!keys.insert(key).second) return reader_.fail("__metadata__: duplicate key " + io::quoted(key));
      if (!reader_.read_separator('}', more)) return false;
    }
    return true;
  }

  bool parse_tensor(TensorEntry& entry) {
    if (!reader_.take('{')) return fail("is not described by an object");
    std::string field, dtype;
    bool has_dtype = false, has_shape = false, has_offsets = false;
    std::vector<int64_t> offsets;
    bool more = !reader_.take('}');
    while (more) {
      if (!reader_.read_string(field) || !(reader_.take(':') || reader_.fail("expected ':'"))) return false;
      bool* seen = field == "dtype"          ? &has_dtype
                   : field == "shape"        ? &has_shape
                   : field == "data_offsets" ? &has_offsets
                                             : nullptr;
      if (seen == nullptr) return fail("unknown field " + io::quoted(field));
      if (*seen) return fail("field " + field + " occurs twice");
      *seen = true;
      if (seen == &has_dtype && reader_.peek() != '"') return fail("dtype is not a string");
      if (!(seen == &has_dtype ? reader_.read_string(dtype)
                               : parse_integers(field, seen == &has_shape ? entry.shape : offsets))) {
        return false;
      }
      if (!reader_.read_separator('}', more)) return false;
    }
    if (!has_dtype || !has_shape || !has_offsets) {
      return fail(std::string("has no ") + (!has_dtype ? "dtype" : !has_shape ? "shape" : "data_offsets"));
    }
    if (offsets.size() != 2) return fail("data_offsets is not a pair");
    if (offsets[1] < offsets[0]) return fail("data_offsets end before they begin");
    entry.offset_bytes = static_cast<uint64_t>(offsets[0]);
    entry.size_bytes = static_cast<uint64_t>(offsets[1] - offsets[0]);
    return check_size(dtype, entry);
  }

  bool parse_integers(const std::string& field, std::vector<int64_t>& into) {
    if (!reader_.take('[')) return fail(field + " is not an array");
    bool more = !reader_.take(']');
    while (more) {
      JsonNumber number;
      const char c = reader_.peek();
      if (c != '-' && (c < '0' || c > '9')) return fail(field + " has an element that is not a number");
      if (!reader_.read_number(number)) return false;
      if (!number.is_integer || number.integer < 0) {
        return fail(field + " has an element that is not an integer from 0 to 2^63 - 1");
      }
      if (into.size() == kMaxTensorDims) return fail(field + " has too many elements");
      into.push_back(number.integer);
      if (!reader_.read_separator(']', more)) return false;
    }
    return true;
  }

  bool check_size(const std::string& dtype, TensorEntry& entry) {
    const auto* row = std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](auto& r) { return r.name == dtype; });
    if (row == std::end(kDTypes)) return fail("unknown dtype " + io::quoted(dtype));
    uint64_t bits = row->bits;
    for (int64_t dim : entry.shape) {
      if (!checked_multiply(bits, static_cast<uint64_t>(dim), bits)) return fail("shape and dtype overflow 64 bits");
    }
    if (bits % 8 != 0) return fail("shape and dtype " + dtype + " do not fill whole bytes");
    if (bits / 8 != entry.size_bytes) {
      return fail(concat("data_offsets span ", entry.size_bytes, " bytes, shape and dtype need ", bits / 8));
    }
    if (!row->dtype) {
      code_ = StatusCode::unsupported;
      return fail("dtype " + dtype + " is not supported");
    }
    entry.dtype = *row->dtype;
    return true;
  }

  JsonReader reader_;
  StatusCode code_ = StatusCode::bad_file;
  std::string name_;  // of the tensor being read
  bool has_metadata_ = false;
  TensorMap tensors_;
};

// Checks that the tensors, sorted by offset, are contiguous from 0 to `data_bytes`.
Status check_layout(const std::string& file, const TensorMap& tensors, uint64_t data_bytes) {
  std::vector<const TensorMap::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& tensor : tensors) order.push_back(&tensor);
  const auto key = [](const auto* t) { return std::pair(t->second.offset_bytes, t->second.size_bytes); };
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  uint64_t previous_end = 0;
  for (const auto* tensor : order) {
    const auto& [name, entry] = *tensor;
    const uint64_t begin = entry.offset_bytes, end = begin + entry.size_bytes;
    const auto fail = [&](const std::string& reason) {
      return make_error(StatusCode::bad_file, file + ": tensor " + io::quoted(name) + ": " + reason);
    };
    if (end > data_bytes) {
      return fail(concat("ends at byte ", end, " of the data, the file contains ", data_bytes));
    }
    if (begin != previous_end) {
      return fail(concat("begins at byte ", begin, " of the data, ", (begin < previous_end ? "inside" : "beyond"),
                         " the tensor before it, which ends at ", previous_end));
    }
    previous_end = end;
  }
  if (previous_end == data_bytes) return ok_status();
  return make_error(StatusCode::bad_file,
                    concat(file, ": ", data_bytes - previous_end, " bytes after the last tensor"));
}

Result<uint64_t> read_header_length(const File& file) {
  const auto fail = [&](const std::string& reason) {
    return make_error(StatusCode::bad_file, file.name() + ": " + reason);
  };
  if (file.size_bytes() < kLengthBytes) return fail("too short to be a safetensors file");
  std::array<uint8_t, kLengthBytes> bytes;
  PAGODA_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(bytes))));
  uint64_t length = 0;
  for (size_t i = bytes.size(); i-- > 0;) length = length << 8 | bytes[i];
  if (length > kMaxHeaderBytes) return fail(concat("header length ", length, " exceeds the format's limit"));
  if (length > file.size_bytes() - kLengthBytes) {
    return fail(concat("header length ", length, " extends past the end of the file"));
  }
  return length;
}

}  // namespace

std::string_view safetensors_dtype_name(DType type) noexcept {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == type) return row.name;
  }
  return {};
}

Result<TensorMap> read_safetensors_header(const File& file, int file_index) {
  PAGODA_ASSIGN_OR_RETURN(const auto length, read_header_length(file));
  const uint64_t data_offset = kLengthBytes + length;
  uint64_t begin = kLengthBytes, end = data_offset;
  PAGODA_RETURN_IF_ERROR(trim_whitespace(file, begin, end));
  if (end - begin > kMaxHeaderJsonBytes) {
    return make_error(StatusCode::unsupported,
                      concat(file.name(), ": header of ", end - begin, " bytes, more than ", kMaxHeaderJsonBytes));
  }
  std::string json(static_cast<size_t>(end - begin), '\0');
  PAGODA_RETURN_IF_ERROR(file.read(begin, std::as_writable_bytes(std::span(json))));
  HeaderParser parser(json);
  if (!parser.parse()) {
    const Status status = parser.status();
    return make_error(status.code, file.name() + ": header: " + status.message);
  }
  TensorMap& tensors = parser.tensors();
  PAGODA_RETURN_IF_ERROR(check_layout(file.name(), tensors, file.size_bytes() - data_offset));
  for (auto& [name, entry] : tensors) {
    entry.offset_bytes += data_offset;
    entry.file_index = file_index;
  }
  return std::move(tensors);
}

}  // namespace pagoda::io
