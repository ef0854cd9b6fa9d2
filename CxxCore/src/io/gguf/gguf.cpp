// Reads GGUF headers: every count and length is compared with the rest of the file before it is used.
#include "io/gguf/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/concat.h"
#include "base/quoted.h"

namespace pagoda::io {
namespace {

enum ValueType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64, kEnd };
constexpr std::array<uint64_t, kEnd> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr uint64_t kDefaultAlignment = 32;

}  // namespace

// Reads one header, front to back.
class GgufReader {
 public:
  explicit GgufReader(Gguf& gguf) : gguf_(gguf), file_(*gguf.file_) {}

  Status read() {
    uint32_t magic = 0, version = 0;
    uint64_t num_tensors = 0, num_keys = 0;
    PAGODA_RETURN_IF_ERROR(take(magic));
    if (magic != 0x46554747) return bad("does not begin with GGUF");
    PAGODA_RETURN_IF_ERROR(take(version));
    if (version != 2 && version != 3) return unsupported(version);
    PAGODA_RETURN_IF_ERROR(take(num_tensors));
    PAGODA_RETURN_IF_ERROR(take(num_keys));
    if (num_keys > kMaxGgufKeys) return bad(concat("states ", num_keys, " keys"));
    if (num_tensors > kMaxGgufTensors) return bad(concat("states ", num_tensors, " tensors"));
    for (uint64_t i = 0; i < num_keys; ++i) PAGODA_RETURN_IF_ERROR(read_value());
    PAGODA_RETURN_IF_ERROR(read_alignment());
    for (uint64_t i = 0; i < num_tensors; ++i) PAGODA_RETURN_IF_ERROR(read_tensor());
    return place_tensors();
  }

 private:
  Status bad(const std::string& what) const { return make_error(StatusCode::bad_file, file_.name() + ": " + what); }
  Status unsupported(uint32_t version) const {
    const bool is_swapped = version == 2u << 24 || version == 3u << 24;
    return make_error(StatusCode::unsupported, concat(file_.name(), ": GGUF version ", version,
                                                      (is_swapped ? " (big-endian)" : ""), "; known are 2 and 3"));
  }

  // Makes sure that header_ contains `count` bytes from `at_` on. Reads ahead, because many small reads would be slow.
  Status need(uint64_t count) {
    constexpr uint64_t kAhead = 256 << 10;
    const uint64_t have = gguf_.header_.size(), room = kMaxGgufHeaderBytes - at_;  // at_ never exceeds the maximum
    if (count <= std::min(have - at_, room)) return ok_status();
    if (count > file_.size_bytes() - at_) return bad(concat("ends within its header, at byte ", at_));
    if (count > room) return bad(concat("has a header of more than ", kMaxGgufHeaderBytes, " bytes"));
    const uint64_t end = std::min(file_.size_bytes(), std::max(at_ + count, have + kAhead));
    gguf_.header_.resize(end);
    return file_.read(have, std::as_writable_bytes(std::span(gguf_.header_).subspan(have)));
  }

  template <class T>
  Status take(T& value) {
    PAGODA_RETURN_IF_ERROR(need(sizeof value));
    std::memcpy(&value, gguf_.header_.data() + at_, sizeof value);
    at_ += sizeof value;
    return ok_status();
  }

  Status skip(uint64_t count) {
    PAGODA_RETURN_IF_ERROR(need(count));
    at_ += count;
    return ok_status();
  }

  Status take_name(std::string& name, const char* what) {
    uint64_t size = 0;
    PAGODA_RETURN_IF_ERROR(take(size));
    if (size == 0 || size > kMaxGgufNameBytes) return bad(concat("the name of a ", what, " has ", size, " bytes"));
    PAGODA_RETURN_IF_ERROR(need(size));
    name.assign(gguf_.header_, at_, size);
    at_ += size;
    return ok_status();
  }

  Status skip_elements(const std::string& key, uint32_t type, uint64_t count) {
    if (type == kString) {
      for (uint64_t i = 0; i < count; ++i) {
        uint64_t size = 0;
        PAGODA_RETURN_IF_ERROR(take(size));
        PAGODA_RETURN_IF_ERROR(skip(size));
      }
      return ok_status();
    }
    uint64_t bytes;
    if (!checked_multiply(count, kValueBytes[type], bytes)) return bad("key " + io::quoted(key) + " is too long");
    return skip(bytes);
  }

  Status read_value() {
    std::string key;
    PAGODA_RETURN_IF_ERROR(take_name(key, "key"));
    Gguf::Value value;
    PAGODA_RETURN_IF_ERROR(take(value.type));
    if (value.type == kArray) {
      value.is_array = true;
      PAGODA_RETURN_IF_ERROR(take(value.type));
      PAGODA_RETURN_IF_ERROR(take(value.count));
    }
    if (value.type >= kEnd || value.type == kArray)
      return bad(concat("key ", io::quoted(key), " has a value of unknown type ", value.type));
    value.offset = at_;
    PAGODA_RETURN_IF_ERROR(skip_elements(key, value.type, value.count));
    if (!gguf_.values_.emplace(key, value).second) return bad("key " + io::quoted(key) + " occurs twice");
    return ok_status();
  }

  Status read_alignment() {
    const Gguf::Value* value = gguf_.find("general.alignment");
    if (value == nullptr) return ok_status();
    const std::optional<int64_t> stated = gguf_.integer("general.alignment");
    if (value->type != kU32 || !stated) return bad("general.alignment is not an unsigned 32-bit integer");
    alignment_ = static_cast<uint64_t>(*stated);
    if (!std::has_single_bit(alignment_) || alignment_ > kMaxGgufAlignment)
      return bad(concat("general.alignment ", alignment_, " is not a power of two up to ", kMaxGgufAlignment));
    return ok_status();
  }

  Status read_tensor() {
    std::string name;
    PAGODA_RETURN_IF_ERROR(take_name(name, "tensor"));
    const auto bad_tensor = [&](const std::string& what) { return bad("tensor " + io::quoted(name) + " " + what); };
    GgufTensor tensor;
    uint32_t num_dims = 0, type = 0;
    PAGODA_RETURN_IF_ERROR(take(num_dims));
    if (num_dims == 0 || num_dims > kMaxGgufDims) return bad_tensor(concat("has ", num_dims, " dimensions"));
    uint64_t elements = 1;
    for (uint32_t i = 0; i < num_dims; ++i) {
      uint64_t size = 0;
      PAGODA_RETURN_IF_ERROR(take(size));
      if (size == 0 || size > INT64_MAX || !checked_multiply(elements, size, elements) || elements > INT64_MAX / 8)
        return bad_tensor("has an impossible shape");
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(size));
    }
    PAGODA_RETURN_IF_ERROR(take(type));
    tensor.type = find_gguf_type(type);
    if (tensor.type == nullptr) return bad_tensor(concat("is of unknown type ", type));
    if (static_cast<uint64_t>(tensor.shape.back()) % tensor.type->block_size != 0)
      return bad_tensor(concat("has rows of ", tensor.shape.back(), ", which ", tensor.type->name, " cannot have"));
    PAGODA_RETURN_IF_ERROR(take(tensor.offset_bytes));
    if (tensor.offset_bytes % alignment_ != 0)
      return bad_tensor(concat("begins at ", tensor.offset_bytes, ", which is not aligned to ", alignment_));
    if (!checked_multiply(elements / tensor.type->block_size, tensor.type->block_bytes, tensor.size_bytes))
      return bad_tensor("is too large");
    if (!gguf_.tensors_.emplace(name, std::move(tensor)).second) return bad_tensor("occurs twice");
    return ok_status();
  }

  // Offsets count from the first aligned byte after the header.
  Status place_tensors() {
    const uint64_t data = (at_ + alignment_ - 1) / alignment_ * alignment_;
    for (auto& [name, tensor] : gguf_.tensors_) {
      uint64_t begin, end;
      if (!checked_add(data, tensor.offset_bytes, begin) || !checked_add(begin, tensor.size_bytes, end) ||
          end > file_.size_bytes())
        return bad(concat("tensor ", io::quoted(name), " of ", tensor.size_bytes, " bytes is outside the file of ",
                          file_.size_bytes(), " bytes"));
      tensor.offset_bytes = begin;
    }
    gguf_.header_.resize(at_);
    gguf_.header_.shrink_to_fit();
    return ok_status();
  }

  Gguf& gguf_;
  const File& file_;
  uint64_t at_ = 0;  // the next byte of the header
  uint64_t alignment_ = kDefaultAlignment;
};

Result<Gguf> Gguf::open(std::shared_ptr<File> file) {
  Gguf gguf;
  gguf.file_ = std::move(file);
  PAGODA_RETURN_IF_ERROR(GgufReader(gguf).read());
  return gguf;
}

const Gguf::Value* Gguf::find(std::string_view key) const noexcept {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<int64_t> Gguf::integer_at(uint32_t type, uint64_t offset) const noexcept {
  const auto load = [&]<class T>(T value) -> std::optional<int64_t> {
    std::memcpy(&value, header_.data() + offset, sizeof value);
    if (std::in_range<int64_t>(value)) return static_cast<int64_t>(value);
    return std::nullopt;
  };
  switch (type) {
    case kU8: return load(uint8_t{});
    case kI8: return load(int8_t{});
    case kU16: return load(uint16_t{});
    case kI16: return load(int16_t{});
    case kU32: return load(uint32_t{});
    case kI32: return load(int32_t{});
    case kU64: return load(uint64_t{});
    case kI64: return load(int64_t{});
    default: return std::nullopt;
  }
}

std::optional<int64_t> Gguf::integer(std::string_view key) const noexcept {
  const Value* value = find(key);
  if (value == nullptr || value->is_array) return std::nullopt;
  return integer_at(value->type, value->offset);
}

std::optional<double> Gguf::number(std::string_view key) const noexcept {
  const Value* value = find(key);
  if (value == nullptr || value->is_array) return std::nullopt;
  if (value->type == kF32) {
    float single;
    std::memcpy(&single, header_.data() + value->offset, sizeof single);
    return single;
  }
  if (value->type == kF64) {
    double real;
    std::memcpy(&real, header_.data() + value->offset, sizeof real);
    return real;
  }
  const auto whole = integer(key);
  return whole ? std::optional<double>(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<bool> Gguf::boolean(std::string_view key) const noexcept {
  const Value* value = find(key);
  if (value == nullptr || value->is_array || value->type != kBool) return std::nullopt;
  return header_[value->offset] != 0;
}

std::optional<std::string_view> Gguf::string(std::string_view key) const noexcept {
  const Value* value = find(key);
  if (value == nullptr || value->is_array || value->type != kString) return std::nullopt;
  uint64_t size;
  std::memcpy(&size, header_.data() + value->offset, sizeof size);
  return std::string_view(header_).substr(value->offset + sizeof size, size);
}

std::optional<std::vector<std::string_view>> Gguf::strings(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || !value->is_array || value->type != kString) return std::nullopt;
  std::vector<std::string_view> all;
  all.reserve(value->count);
  uint64_t at = value->offset;
  for (uint64_t i = 0; i < value->count; ++i) {
    uint64_t size;
    std::memcpy(&size, header_.data() + at, sizeof size);
    all.push_back(std::string_view(header_).substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return all;
}

std::optional<std::vector<int64_t>> Gguf::integers(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || !value->is_array || value->type == kString) return std::nullopt;
  std::vector<int64_t> all;
  all.reserve(value->count);
  for (uint64_t i = 0; i < value->count; ++i) {
    const auto element = integer_at(value->type, value->offset + i * kValueBytes[value->type]);
    if (!element) return std::nullopt;
    all.push_back(*element);
  }
  return all;
}

std::optional<std::vector<bool>> Gguf::booleans(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || !value->is_array || value->type != kBool) return std::nullopt;
  std::vector<bool> all;
  for (uint64_t i = 0; i < value->count; ++i) all.push_back(header_[value->offset + i] != 0);
  return all;
}

std::optional<std::vector<float>> Gguf::floats(std::string_view key) const {
  constexpr uint32_t kFloat32 = 6;
  const Value* value = find(key);
  if (value == nullptr || !value->is_array || value->type != kFloat32) return std::nullopt;
  std::vector<float> all(value->count);
  std::memcpy(all.data(), header_.data() + value->offset, all.size() * sizeof(float));
  return all;
}

}  // namespace pagoda::io
