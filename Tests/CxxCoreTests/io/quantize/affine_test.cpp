// io/affine_quantize: bit-identical to mlx.core.quantize for every number format, width and group size.
#include "io/quantize/affine.h"

#include <cstring>

#include "base/dtype.h"
#include "io/checkpoint.h"
#include "io/safetensors/safetensors.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

Result<std::unique_ptr<File>> open_fixture(TensorMap& tensors) {
  ModelSource source;
  source.directory = test::fixtures_dir() + "/quantize";
  auto files = open_model_files(source);
  if (!files.is_ok()) return files.status;
  auto file = (*files)->open("mlx.safetensors");
  if (!file.is_ok()) return file.status;
  auto header = read_safetensors_header(**file, 0);
  if (!header.is_ok()) return header.status;
  tensors = std::move(*header);
  return std::move(*file);
}

std::vector<std::byte> bytes_of(const File& file, const TensorEntry& entry) {
  std::vector<std::byte> bytes(entry.size_bytes);
  CHECK_OK(file.read(entry.offset_bytes, bytes));
  return bytes;
}

float number(DType dtype, const std::byte* bytes, size_t i) {
  float value;
  uint16_t half;
  if (dtype == DType::f32) {
    std::memcpy(&value, bytes + 4 * i, 4);
    return value;
  }
  std::memcpy(&half, bytes + 2 * i, 2);
  return dtype == DType::bf16 ? bf16_to_f32(half) : f16_to_f32(half);
}

float rounded(DType dtype, float value) {
  return dtype == DType::f32    ? value
         : dtype == DType::bf16 ? bf16_to_f32(f32_to_bf16(value))
                                : f16_to_f32(f32_to_f16(value));
}

// Compares every row of one matrix in one setting; returns the number of groups that differ.
int differing_groups(const File& file, const TensorMap& tensors, const std::string& name, int bits, int group_size) {
  const TensorEntry& matrix = tensors.at(name);
  const std::string stem = name + "." + std::to_string(bits) + "." + std::to_string(group_size);
  const auto input = bytes_of(file, matrix);
  const auto words = bytes_of(file, tensors.at(stem + ".words"));
  const auto scales = bytes_of(file, tensors.at(stem + ".scales"));
  const auto biases = bytes_of(file, tensors.at(stem + ".biases"));
  const size_t rows = static_cast<size_t>(matrix.shape[0]), columns = static_cast<size_t>(matrix.shape[1]);
  const size_t row_words = columns * static_cast<size_t>(bits) / 32,
               row_groups = columns / static_cast<size_t>(group_size);
  const size_t group_words = row_words / row_groups;
  std::vector<float> row(columns);
  std::vector<uint32_t> got(row_words);
  std::vector<AffineGroup> groups(row_groups);
  int differing = 0;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) row[c] = number(matrix.dtype, input.data(), r * columns + c);
    quantize_row(row, bits, group_size, got.data(), groups.data());
    for (size_t g = 0; g < row_groups; ++g) {
      const size_t at = r * row_groups + g;
      const bool is_same =
          rounded(matrix.dtype, groups[g].scale) == number(matrix.dtype, scales.data(), at) &&
          rounded(matrix.dtype, groups[g].bias) == number(matrix.dtype, biases.data(), at) &&
          std::memcmp(got.data() + g * group_words, words.data() + 4 * at * group_words, 4 * group_words) == 0;
      if (!is_same) test::note(stem + ": row " + std::to_string(r) + ", group " + std::to_string(g) + " differs");
      differing += !is_same;
    }
  }
  return differing;
}

}  // namespace

PAGODA_TEST(affine_quantize_gives_the_bits_of_mlx) {
  TensorMap tensors;
  const auto file = open_fixture(tensors);
  REQUIRE_OK(file);
  int num_settings = 0;
  for (const char* name : {"weights", "hard"}) {
    for (const char* dtype : {"float32", "float16", "bfloat16"}) {
      for (const int bits : {4, 8}) {
        for (const int group_size : {32, 64, 128}) {
          const std::string matrix = std::string(name) + "." + dtype;
          CHECK_EQ(differing_groups(**file, tensors, matrix, bits, group_size), 0);
          ++num_settings;
        }
      }
    }
  }
  CHECK_EQ(num_settings, 36);
}

}  // namespace pagoda::io
