// io/safetensors: every rule of the format has a file that breaks it, and the odd but legal files are read.
#include "io/safetensors/safetensors.h"

#include <cstring>
#include <random>

#include "io/quantize/bad_row.h"
#include "io/safetensors/safetensors_file.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

using test::safetensors;
using test::tensor;

Result<TensorMap> read(const std::string& bytes) { return read_safetensors_header(test::StringFile("w", bytes), 3); }

// A header that is not worth storing: `length` bytes of `filler`, with `json` at `at`.
class PaddedFile final : public File {
 public:
  PaddedFile(uint64_t length, char filler, uint64_t at, std::string json)
      : length_(length), filler_(filler), at_(8 + at), json_(std::move(json)) {}
  uint64_t size_bytes() const noexcept override { return 8 + length_; }
  const std::string& name() const noexcept override { return name_; }
  Status read(uint64_t offset, std::span<std::byte> into) const noexcept override {
    std::memset(into.data(), filler_, into.size());
    largest_read_ = std::max(largest_read_, into.size());
    for (uint64_t i = std::max(offset, at_); i < std::min(offset + into.size(), at_ + json_.size()); ++i) {
      into[i - offset] = static_cast<std::byte>(json_[i - at_]);
    }
    for (uint64_t i = offset; i < std::min<uint64_t>(offset + into.size(), 8); ++i) {
      into[i - offset] = static_cast<std::byte>(length_ >> (8 * i));
    }
    return ok_status();
  }
  size_t largest_read() const noexcept { return largest_read_; }

 private:
  std::string name_ = "padded";
  uint64_t length_;
  char filler_;
  uint64_t at_;
  std::string json_;
  mutable size_t largest_read_ = 0;
};

struct BadRow {
  const char* name;
  std::string bytes;
  const char* message;
  StatusCode code = StatusCode::bad_file;
};

std::string one(const std::string& fields, size_t data_bytes = 4) {
  return safetensors("{\"t\":" + fields + "}", data_bytes);
}

std::string one_tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return one("{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}");
}

std::string repeated(const std::string& chunk, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += chunk;
  return all;
}

std::string length_only(uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(length >> (8 * i));
  return bytes + rest;
}

}  // namespace

PAGODA_TEST(safetensors_reads_entries_of_every_dtype) {
  struct Row {
    const char* name;
    DType dtype;
  };
  const Row rows[] = {{"F64", DType::f64},      {"F32", DType::f32},         {"F16", DType::f16},
                      {"BF16", DType::bf16},    {"I64", DType::i64},         {"I32", DType::i32},
                      {"I16", DType::i16},      {"I8", DType::i8},           {"U64", DType::u64},
                      {"U32", DType::u32},      {"U16", DType::u16},         {"U8", DType::u8},
                      {"BOOL", DType::boolean}, {"F8_E4M3", DType::f8_e4m3}, {"F8_E5M2", DType::f8_e5m2}};
  for (const Row& row : rows) {
    const size_t size = 6 * dtype_bytes(row.dtype);
    const std::string header = "{" + tensor("a.b", row.name, "[2,3]", 0, size) + "}";
    const auto tensors = read(safetensors(header, size));
    REQUIRE_OK(tensors);
    const TensorEntry& entry = tensors->at("a.b");
    CHECK(entry.dtype == row.dtype);
    CHECK(entry.shape == (std::vector<int64_t>{2, 3}));
    CHECK_EQ(entry.offset_bytes, 8 + header.size());
    CHECK_EQ(entry.size_bytes, size);
    CHECK_EQ(entry.file_index, 3);
  }
}

PAGODA_TEST(safetensors_accepts_odd_but_legal_files) {
  const std::string a = tensor("a", "U8", "[4]", 0, 4);
  const std::string rows[] = {
      safetensors("{}", 0),
      safetensors("{\"__metadata__\":{}}", 0),
      safetensors("{\"__metadata__\":null}", 0),
      safetensors("{\"__metadata__\":{\"format\":\"pt\",\"\":\"\"}," + a + "}", 4),
      safetensors("{" + tensor("scalar", "F32", "[]", 0, 4) + "}", 4),
      safetensors("{" + tensor("empty", "F32", "[0,7]", 0, 0) + "," + a + "}", 4),
      safetensors("{" + a + "," + tensor("empty", "F32", "[0]", 4, 4) + "," + tensor("e2", "U8", "[0]", 4, 4) + "}", 4),
      safetensors("{" + tensor("second", "U8", "[4]", 4, 8) + "," + a + "}", 8),  // not in the order of the file
      safetensors("   \n\t\r{" + a + "}", 4),
      safetensors("{" + a + "}     \n ", 4),
      safetensors(std::string(70'000, ' ') + "{ " + a + " }" + std::string(200'000, '\n'), 4),
      safetensors("{" + a + "}" + std::string(100'000, ' ') + "\n" + std::string(65'536, ' '), 4),
      one("{\"shape\":[4],\"data_offsets\":[0,4],\"dtype\":\"U8\"}"),
      safetensors("{" + tensor("\\u00e9t\\u00e9 1", "U8", "[4]", 0, 4) + "}", 4),
      safetensors("{" + tensor(std::string(1024, 'n'), "U8", "[4]", 0, 4) + "}", 4),
  };
  for (const std::string& bytes : rows) CHECK_OK(read(bytes));
}

PAGODA_TEST(safetensors_refuses_each_bad_file) {
  const std::string a = tensor("a", "U8", "[4]", 0, 4);
  const BadRow rows[] = {
      {"empty", "", "w: too short"},
      {"7 bytes", std::string(7, '\0'), "w: too short"},
      {"n = 0", length_only(0, ""), "the header is not a JSON object"},
      {"n = 0 with data", length_only(0, "abcd"), "the header is not a JSON object"},
      {"n = 2^63", length_only(uint64_t{1} << 63, "{}"), "exceeds the format's limit"},
      {"n = 2^64 - 1", length_only(UINT64_MAX, "{}"), "exceeds the format's limit"},
      {"n = 100000001", length_only(100'000'001, "{}"), "exceeds the format's limit"},
      {"n past the file", length_only(3, "{}"), "past the end of the file"},
      {"only whitespace", safetensors("      ", 0), "the header is not a JSON object"},
      {"not UTF-8", safetensors("{\"\xff\":{}}", 0), "invalid UTF-8 at byte 2"},
      {"not JSON", safetensors("hello", 0), "the header is not a JSON object"},
      {"cut JSON", safetensors("{\"a\":", 0), "tensor 'a': is not described by an object"},
      {"array", safetensors("[]", 0), "the header is not a JSON object"},
      {"null", safetensors("null", 0), "the header is not a JSON object"},
      {"bytes after the object", safetensors("{} {}", 0), "bytes after the header's object"},
      {"NUL padding", safetensors(std::string("{}\0\0", 4), 0), "bytes after the header's object"},
      {"duplicate tensor", safetensors("{" + a + "," + a + "}", 4), "tensor 'a': is listed twice"},
      {"duplicate field", one("{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}"),
       "tensor 't': field dtype occurs twice"},
      {"metadata not an object", safetensors("{\"__metadata__\":[]}", 0), "__metadata__ is not an object"},
      {"metadata number", safetensors("{\"__metadata__\":{\"n\":1}}", 0), "value of 'n' is not a string"},
      {"metadata object", safetensors("{\"__metadata__\":{\"n\":{}}}", 0), "value of 'n' is not a string"},
      {"metadata twice", safetensors("{\"__metadata__\":{},\"__metadata__\":{}}", 0), "__metadata__ occurs twice"},
      {"metadata duplicate", safetensors("{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}", 0), "duplicate key 'k'"},
      {"deep nesting", safetensors(repeated("{\"a\":", 10'000), 0), "unknown field 'a'"},
      {"deep arrays", one("{\"shape\":" + repeated("[", 10'000)), "shape has an element that is not a number"},
      {"tensor is a list", one("[]"), "tensor 't': is not described by an object"},
      {"unknown field", one("{\"dtype\":\"U8\",\"stride\":[1]}"), "unknown field 'stride'"},
      {"no dtype", one("{\"shape\":[4],\"data_offsets\":[0,4]}"), "tensor 't': has no dtype"},
      {"no shape", one("{\"dtype\":\"U8\",\"data_offsets\":[0,4]}"), "tensor 't': has no shape"},
      {"no offsets", one("{\"dtype\":\"U8\",\"shape\":[4]}"), "tensor 't': has no data_offsets"},
      {"dtype is a number", one("{\"dtype\":8}"), "dtype is not a string"},
      {"unknown dtype", one_tensor("Q4", "[4]", "[0,4]"), "unknown dtype 'Q4'"},
      {"dtype in lower case", one_tensor("f32", "[1]", "[0,4]"), "unknown dtype 'f32'"},
      {"shape overflows", one_tensor("U8", "[4294967296,4294967296]", "[0,4]"), "overflow"},
      {"bytes overflow", one_tensor("F64", "[2305843009213693952]", "[0,4]"), "overflow"},
      {"negative shape", one_tensor("U8", "[-4]", "[0,4]"), "shape has an element"},
      {"float in shape", one_tensor("U8", "[4.0]", "[0,4]"), "shape has an element"},
      {"string in shape", one("{\"dtype\":\"U8\",\"shape\":[\"4\"],\"data_offsets\":[0,4]}"), "not a number"},
      {"1e400 in shape", one_tensor("U8", "[1e400]", "[0,4]"), "number outside double"},
      {"2^64 in shape", one_tensor("U8", "[18446744073709551616]", "[0,4]"), "2^63 - 1"},
      {"shape not a list", one_tensor("U8", "4", "[0,4]"), "shape is not an array"},
      {"too many dimensions", one("{\"dtype\":\"U8\",\"shape\":[" + repeated("1,", 16) + "4],\"data_offsets\":[0,4]}"),
       "shape has too many elements"},
      {"offsets swapped", one_tensor("U8", "[4]", "[4,0]"), "end before they begin"},
      {"offset negative", one_tensor("U8", "[4]", "[-4,0]"), "data_offsets has an element"},
      {"offsets not a pair", one_tensor("U8", "[4]", "[0,4,8]"), "is not a pair"},
      {"one offset", one_tensor("U8", "[4]", "[4]"), "is not a pair"},
      {"past the end", safetensors("{" + tensor("a", "U8", "[5]", 0, 5) + "}", 4), "tensor 'a': ends at byte 5"},
      {"far past the end", safetensors("{" + tensor("a", "U8", "[0]", INT64_MAX, INT64_MAX) + "}", 4), "ends at byte"},
      {"overlap", safetensors("{" + a + "," + tensor("b", "U8", "[4]", 2, 6) + "}", 6), "tensor 'b': begins at byte 2"},
      {"same bytes twice", safetensors("{" + a + "," + tensor("b", "U8", "[4]", 0, 4) + "}", 4), "inside the tensor"},
      {"gap", safetensors("{" + a + "," + tensor("b", "U8", "[4]", 5, 9) + "}", 9), "tensor 'b': begins at byte 5"},
      {"gap at the start", safetensors("{" + tensor("a", "U8", "[4]", 1, 5) + "}", 5), "tensor 'a': begins at byte 1"},
      {"trailing bytes", safetensors("{" + a + "}", 5), "1 bytes after the last tensor"},
      {"only trailing bytes", safetensors("{}", 5), "5 bytes after the last tensor"},
      {"missing bytes", safetensors("{" + a + "}", 3), "the file contains 3"},
      {"size is not shape * dtype", one_tensor("F32", "[2]", "[0,4]"),
       "data_offsets span 4 bytes, shape and dtype need 8"},
      {"F4 in half a byte", one_tensor("F4", "[7]", "[0,4]"), "do not fill whole bytes"},
      {"F6 in part of a byte", one_tensor("F6_E2M3", "[5]", "[0,4]"), "whole bytes"},
      {"F4", one_tensor("F4", "[8]", "[0,4]"), "'t': dtype F4 is not supported", StatusCode::unsupported},
      {"F8_E8M0", one_tensor("F8_E8M0", "[4]", "[0,4]"), "F8_E8M0", StatusCode::unsupported},
      {"empty name", safetensors("{" + tensor("", "U8", "[4]", 0, 4) + "}", 4), "has an empty name"},
      {"1 MB name", safetensors("{" + tensor(std::string(1'000'000, 'n'), "U8", "[4]", 0, 4) + "}", 4), "too long"},
      {"NUL in name", safetensors("{" + tensor("a\\u0000b", "U8", "[4]", 0, 4) + "}", 4), "control character"},
      {"path as name", safetensors("{" + tensor("../../x", "U8", "[4]", 0, 4) + "}", 4), "looks like a path"},
  };
  for (const BadRow& row : rows) {
    const Status status = read(row.bytes).status;
    test::check_row(row.name, status, row.code, row.message);
    test::check_row(row.name, status, row.code, "w: ");
    CHECK(status.message.size() < 400);
  }
}

PAGODA_TEST(safetensors_bounds_the_number_of_tensors) {
  std::string header = "{";
  for (size_t i = 0; i <= kMaxTensorsPerFile; ++i) {
    header += (i > 0 ? "," : "") + tensor(std::to_string(i), "U8", "[0]", 0, 0);
    if (i + 1 == kMaxTensorsPerFile) CHECK_OK(read(safetensors(header + "}", 0)));
  }
  const Status status = read(safetensors(header + "}", 0)).status;
  test::check_row("too many", status, StatusCode::unsupported, "more than 40000 tensors");
  std::string metadata = "{\"__metadata__\":{";
  for (size_t i = 0; i < kMaxMetadataKeys; ++i) metadata += "\"" + std::to_string(i) + "\":\"\",";
  const Status keys = read(safetensors(metadata + "\"last\":\"\"}}", 0)).status;
  test::check_row("4097 keys", keys, StatusCode::bad_file, "__metadata__ has too many keys");
}

PAGODA_TEST(safetensors_reads_huge_headers_in_small_chunks) {
  const PaddedFile after(kMaxHeaderBytes, ' ', 0, "{}"), before(kMaxHeaderBytes, '\n', kMaxHeaderBytes - 2, "{}");
  for (const PaddedFile* file : {&after, &before}) {
    CHECK_OK(read_safetensors_header(*file, 0));
    CHECK(file->largest_read() <= 1 << 16);
  }
  const PaddedFile spaces(kMaxHeaderBytes, ' ', 0, "");
  test::check_row("spaces", read_safetensors_header(spaces, 0).status, StatusCode::bad_file, "not a JSON object");
  const PaddedFile brackets(kMaxHeaderBytes, '[', 0, "{");
  test::check_row("brackets", read_safetensors_header(brackets, 0).status, StatusCode::unsupported, "header of 1000");
  CHECK(brackets.largest_read() <= 1 << 16);
}

PAGODA_TEST(safetensors_refuses_truncation_at_every_byte) {
  const std::string a = tensor("a", "F32", "[2]", 0, 8), b = tensor("b", "U8", "[3]", 8, 11);
  const std::string bytes = safetensors("{\"__metadata__\":{\"k\":\"v\"}," + a + "," + b + "} ", 11);
  CHECK_OK(read(bytes));
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Status status = read(bytes.substr(0, n)).status;
    if (status.code != StatusCode::bad_file) test::fail(__FILE__, __LINE__, "not refused at " + std::to_string(n));
  }
  CHECK(!read(bytes + "x").is_ok());
}

PAGODA_TEST(safetensors_random_mutations_give_entries_inside_the_file_or_a_status) {
  std::mt19937_64 random(test::seed(21));
  const std::string valid =
      safetensors("{" + tensor("a", "F32", "[2]", 0, 8) + "," + tensor("b", "BF16", "[2,1]", 8, 12) + "}  ", 12);
  const std::string alphabet = "{}[]\",:0123456789-.eFBU \x80\xff";
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = valid;
    for (uint64_t n = 1 + random() % 3; n > 0; --n) {
      const char c = alphabet[random() % alphabet.size()];
      bytes[random() % bytes.size()] = random() % 4 == 0 ? static_cast<char>(random()) : c;
    }
    const auto tensors = read(bytes);
    if (!tensors.is_ok()) continue;
    ++accepted;
    for (const auto& [name, entry] : *tensors) CHECK(entry.offset_bytes + entry.size_bytes <= bytes.size());
  }
  test::note("accepted " + std::to_string(accepted));
  CHECK(accepted > 100 && accepted < 19000);
}

}  // namespace pagoda::io
