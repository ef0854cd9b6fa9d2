// io/quantized_tensors: packed tensors give the numbers of the libraries that packed them; invalid ones are refused.
#include "io/quantize/tensors.h"

#include <cmath>
#include <cstring>

#include "base/quant/stored_row.h"
#include "io/checkpoint.h"
#include "io/quantize/bad_row.h"
#include "io/safetensors/safetensors.h"
#include "io/safetensors/safetensors_file.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

Result<Checkpoint> open(const std::string& name) {
  auto files = open_model_files({.directory = test::fixtures_dir() + "/quantized/" + name, .files = {}});
  if (!files.is_ok()) return files.status;
  return Checkpoint::open(**files);
}

// Rows of `name` from `first` on are those of NAME.expected, to the bit.
void check_tensor(const Checkpoint& checkpoint, const std::string& name, int64_t first) {
  const TensorEntry* tensor = checkpoint.find(name + ".weight");
  const TensorEntry* expected = checkpoint.find(name + ".expected");
  REQUIRE(tensor != nullptr && expected != nullptr && tensor->decoder != nullptr);
  CHECK(tensor->shape.back() == expected->shape.back() && tensor->dtype == DType::f32);
  std::vector<float> wanted(expected->size_bytes / 4), got(wanted.size());
  CHECK_OK(checkpoint.read(*expected, 0, std::as_writable_bytes(std::span(wanted))));
  CHECK_OK(tensor->decoder->read(static_cast<uint64_t>(first * tensor->shape.back()), got));
  const bool is_equal = std::memcmp(got.data(), wanted.data(), wanted.size() * 4) == 0;
  if (!is_equal) test::fail(__FILE__, __LINE__, name + " differs from the reference");
}

// Two tensors of a file that has 16 x 8 words and the scales and biases given.
Status unpack(const std::string& config, const std::string& weight_type, int64_t words, const std::string& scales_type,
              int64_t scale_cols, bool has_biases) {
  const auto shape = [](int64_t cols) { return "[2," + std::to_string(cols) + "]"; };
  const auto bytes = [](const std::string& type) { return type == "U32" || type == "F32" ? 4 : type == "F16" ? 2 : 1; };
  const uint64_t a = static_cast<uint64_t>(2 * words * bytes(weight_type));
  const uint64_t b = a + static_cast<uint64_t>(2 * scale_cols * bytes(scales_type)), c = 2 * b - a;
  std::string header = "{" + test::tensor("x.weight", weight_type, shape(words), 0, a) + "," +
                       test::tensor("x.scales", scales_type, shape(scale_cols), a, b);
  if (has_biases) header += "," + test::tensor("x.biases", scales_type, shape(scale_cols), b, c);
  auto file = std::make_shared<test::StringFile>("w", test::safetensors(header + "}", has_biases ? c : b));
  auto tensors = read_safetensors_header(*file, 0);
  if (!tensors.is_ok()) return tensors.status;
  const std::shared_ptr<File> files[] = {file};
  return decode_quantized(config, files, *tensors);
}

}  // namespace

PAGODA_TEST(quantized_tensors_of_every_affine_setting_are_those_of_mlx) {
  const auto checkpoint = open("mlx");
  REQUIRE_OK(checkpoint);
  int num_compared = 0;
  for (const auto& [name, tensor] : checkpoint->tensors()) {
    if (!name.ends_with(".weight")) continue;
    check_tensor(*checkpoint, name.substr(0, name.size() - 7), 0);
    CHECK(checkpoint->find(name.substr(0, name.size() - 7) + ".scales") == nullptr);
    ++num_compared;
  }
  CHECK_EQ(num_compared, 6 * 3 * 3 + 1);
}

// Stored rows are q * scale + bias, unrounded; MLX rounds the product and the sum to the type of the scales.
PAGODA_TEST(quantized_tensors_are_read_as_stored) {
  const auto checkpoint = open("mlx");
  REQUIRE_OK(checkpoint);
  for (const auto& [name, tensor] : checkpoint->tensors()) {
    if (!name.ends_with(".weight")) continue;
    const auto format = tensor.decoder->stored_format();
    REQUIRE(format.has_value() && is_stored(*format));
    const QuantFormat& f = quant_format(*format);
    const int64_t cols = tensor.shape.back(), rows = tensor.shape.front();
    std::vector<float> decoded(static_cast<size_t>(rows * cols)), got(static_cast<size_t>(cols));
    CHECK_OK(tensor.decoder->read(0, decoded));
    std::vector<std::byte> stored(stored_row_bytes(f, cols) * static_cast<size_t>(rows - 1));
    CHECK_OK(tensor.decoder->read_stored(1, static_cast<uint64_t>(rows - 1), stored));
    const float rounding = f.scale == ScaleType::bf16 ? 0x1p-7f : f.scale == ScaleType::f16 ? 0x1p-10f : 0.0f;
    for (int64_t row = 1; row < rows; ++row) {
      const StoredRow at =
          stored_row(f, cols, stored.data() + static_cast<size_t>(row - 1) * stored_row_bytes(f, cols));
      dequantise(f, at, cols, got.data());
      bool is_near = true;
      for (int64_t i = 0; i < cols; ++i) {
        const float wanted = decoded[static_cast<size_t>(row * cols + i)];
        const GroupScales s = group_scales(f, at, i / f.group);
        const float size = f.has_min ? std::abs(s.scale * at.codes[i]) + std::abs(s.min) : 0.0f;
        is_near = is_near && std::abs(got[static_cast<size_t>(i)] - wanted) <= size * rounding;
      }
      if (!is_near) test::fail(__FILE__, __LINE__, name + " is not what is stored");
    }
  }
}

PAGODA_TEST(quantized_tensors_in_nvfp4_are_those_of_mlx) {
  const auto checkpoint = open("nvfp4");
  REQUIRE_OK(checkpoint);
  check_tensor(*checkpoint, "x", 0);
  const TensorEntry* tensor = checkpoint->find("x.weight");
  const QuantFormat& f = quant_format(*tensor->decoder->stored_format());
  CHECK_EQ(std::string(f.name), std::string("NVFP4"));
  const int64_t cols = tensor->shape.back();
  std::vector<float> decoded(static_cast<size_t>(cols)), got(decoded.size());
  std::vector<std::byte> stored(stored_row_bytes(f, cols));
  for (uint64_t row = 0; row < static_cast<uint64_t>(tensor->shape.front()); ++row) {
    CHECK_OK(tensor->decoder->read(row * static_cast<uint64_t>(cols), decoded));
    CHECK_OK(tensor->decoder->read_stored(row, 1, stored));
    dequantise(f, stored_row(f, cols, stored.data()), cols, got.data());
    CHECK(got == decoded);
  }
}

PAGODA_TEST(quantized_tensors_in_blocks_of_fp8_are_those_of_torch) {
  const auto checkpoint = open("fp8");
  REQUIRE_OK(checkpoint);
  check_tensor(*checkpoint, "x", 126);
  CHECK(!checkpoint->find("x.weight")->decoder->stored_format().has_value());  // the last block has 4 columns
}

// Rows 126 to 130 of 140 x 256, which have scales of two blocks; row 139 contains NaN.
PAGODA_TEST(quantized_tensors_in_blocks_of_fp8_are_read_as_stored) {
  constexpr uint64_t kRows = 140, kCols = 256, kCodes = kRows * kCols;
  const std::string header = "{" + test::tensor("x.weight", "F8_E4M3", "[140,256]", 0, kCodes) + "," +
                             test::tensor("x.weight_scale_inv", "BF16", "[2,2]", kCodes, kCodes + 8);
  std::string bytes = test::safetensors(header + "}", 0);
  for (uint64_t i = 0; i < kCodes; ++i) bytes += static_cast<char>((i * 37 + i / kCols) % 127 | (i % 3 == 0 ? 128 : 0));
  bytes[bytes.size() - 7] = '\x7f';
  for (const float scale : {0.5f, 3.0f, 0.25f, 7.0f})
    for (const int shift : {0, 8}) bytes += static_cast<char>(f32_to_bf16(scale) >> shift);
  const std::shared_ptr<File> files[] = {std::make_shared<test::StringFile>("w", bytes)};
  auto tensors = read_safetensors_header(*files[0], 0);
  REQUIRE_OK(tensors);
  CHECK_OK(decode_quantized(R"({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})",
                            files, *tensors));
  const TensorDecoder& decoder = *tensors->at("x.weight").decoder;
  REQUIRE(decoder.stored_format() == weight_format(QuantId::fp8));
  const QuantFormat& f = quant_format(*decoder.stored_format());
  const size_t row_bytes = stored_row_bytes(f, kCols);
  std::vector<std::byte> stored(5 * row_bytes);
  CHECK_OK(decoder.read_stored(126, 5, stored));
  std::vector<float> wanted(5 * kCols), got(kCols);
  CHECK_OK(decoder.read(126 * kCols, wanted));
  for (size_t i = 0; i < 5; ++i) {
    dequantise(f, stored_row(f, kCols, stored.data() + i * row_bytes), kCols, got.data());
    CHECK(std::equal(got.begin(), got.end(), wanted.begin() + static_cast<int64_t>(i * kCols)));
  }
  CHECK(wanted[128] != 0 && wanted[2 * kCols] != 0);
  test::check_row("NaN", decoder.read_stored(135, 5, stored), StatusCode::bad_file, "NaN");
}

// More than one read: 3000 rows of 96 numbers in 8 bits.
PAGODA_TEST(quantized_tensors_are_the_same_read_whole_and_row_by_row) {
  constexpr uint64_t kRows = 3000, kCols = 96, kPacked = kRows * kCols, kScales = kRows * 3 * 2;
  const std::string header = "{" + test::tensor("x.weight", "U32", "[3,1000,24]", 0, kPacked) + "," +
                             test::tensor("x.scales", "F16", "[3,1000,3]", kPacked, kPacked + kScales) + "," +
                             test::tensor("x.biases", "F16", "[3,1000,3]", kPacked + kScales, kPacked + 2 * kScales);
  const std::shared_ptr<File> files[] = {
      std::make_shared<test::StringFile>("w", test::safetensors(header + "}", kPacked + 2 * kScales))};
  auto tensors = read_safetensors_header(*files[0], 0);
  REQUIRE_OK(tensors);
  CHECK_OK(decode_quantized(R"({"quantization": {"group_size": 32, "bits": 8}})", files, *tensors));
  const TensorEntry& tensor = tensors->at("x.weight");
  CHECK(tensor.shape == (std::vector<int64_t>{3, 1000, kCols}));
  std::vector<float> whole(kRows * kCols), row(kCols);
  CHECK_OK(tensor.decoder->read(0, whole));
  for (uint64_t i = 0; i < kRows; ++i) {
    CHECK_OK(tensor.decoder->read(i * kCols, row));
    CHECK(std::memcmp(row.data(), whole.data() + i * kCols, kCols * sizeof(float)) == 0);
  }
}

PAGODA_TEST(quantized_tensors_that_do_not_fit_are_refused) {
  const std::string four = R"({"quantization": {"group_size": 64, "bits": 4}})";
  CHECK_OK(unpack(four, "U32", 16, "F16", 2, true));
  const StatusCode bad = StatusCode::bad_file;
  test::check_row("no biases", unpack(four, "U32", 16, "F16", 2, false), bad, "no biases");
  test::check_row("scales too few", unpack(four, "U32", 16, "F16", 1, true), bad, "do not fit");
  test::check_row("scales too many", unpack(four, "U32", 16, "F16", 3, true), bad, "do not fit");
  test::check_row("weights are floats", unpack(four, "F32", 16, "F16", 2, true), bad, "odd form");
  test::check_row("scales are bytes", unpack(four, "U32", 16, "U8", 2, true), bad, "odd scales");
  const auto with = [](const char* fields) { return std::string("{\"quantization\": {") + fields + "}}"; };
  test::check_row("group 0", unpack(with(R"("group_size": 0, "bits": 4)"), "U32", 16, "F16", 2, true), bad,
                  "group_size");
  test::check_row("group 7", unpack(with(R"("group_size": 7, "bits": 4)"), "U32", 16, "F16", 2, true), bad,
                  "group_size");
  test::check_row("7 bits", unpack(with(R"("group_size": 64, "bits": 7)"), "U32", 16, "F16", 2, true), bad, "bits");
  test::check_row("no whole elements", unpack(with(R"("group_size": 64, "bits": 3)"), "U32", 16, "F16", 2, true), bad,
                  "whole elements");
  test::check_row("unknown mode", unpack(with(R"("bits": 4, "mode": "mxfp8")"), "U32", 16, "F16", 2, true),
                  StatusCode::unsupported, "mxfp8");
  const std::string nvfp4 = R"({"quantization": {"bits": 4, "mode": "nvfp4"}})";
  CHECK_OK(unpack(nvfp4, "U32", 16, "U8", 8, false));
  test::check_row("nvfp4 with few scales", unpack(nvfp4, "U32", 16, "U8", 4, false), bad, "do not fit");
  test::check_row("nvfp4 with float scales", unpack(nvfp4, "U32", 16, "F16", 8, false), bad, "odd scales");
  test::check_row("layer with group 7", unpack(with(R"("bits": 4, "x": {"group_size": 7})"), "U32", 16, "F16", 2, true),
                  bad, "x: group_size");
  test::check_row("fp8 blocks of 64",
                  unpack(R"({"quantization_config": {"quant_method": "fp8", "weight_block_size": [64, 64]}})", "U8", 16,
                         "F16", 2, false),
                  StatusCode::unsupported, "weight_block_size");
}

}  // namespace pagoda::io
