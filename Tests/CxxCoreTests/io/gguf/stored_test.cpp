// io: a row of a GGUF file read as it is represents the numbers that the row decodes to, to the bit.
#include "io/gguf/stored.h"

#include <cstring>
#include <random>
#include <span>

#include "io/checkpoint.h"
#include "io/gguf/types.h"
#include "io/quantize/stored.h"
#include "support/test.h"

namespace pagoda::test {

using namespace io;
namespace {

constexpr uint32_t kTypes[] = {2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 20, 23, 39};

// Some of the scales are infinite or no numbers.
std::vector<std::byte> random_row(const GgufType& type, int64_t cols, std::mt19937_64& random) {
  std::vector<std::byte> row(static_cast<size_t>(cols) / type.block_size * type.block_bytes);
  for (std::byte& b : row) b = static_cast<std::byte>(random() & 255);
  return row;
}

// 0 and -0 are the same number.
bool is_same(float a, float b) { return a == b || (a != a && b != b); }

}  // namespace

PAGODA_TEST(gguf_stored_rows_represent_the_decoded_numbers) {
  constexpr int64_t kCols = 768;
  std::mt19937_64 random(seed(81));
  for (const uint32_t id : kTypes) {
    const GgufType& type = *find_gguf_type(id);
    const auto format = gguf_format(id);
    REQUIRE(format.has_value() && is_stored(*format));
    CHECK_EQ(weight_format_name(*format), type.name);
    const QuantFormat& f = quant_format(*format);
    const std::vector<std::byte> blocks = random_row(type, kCols, random);
    std::vector<std::byte> buffer(stored_row_bytes(f, kCols));
    const StoredRow row = stored_row(f, kCols, buffer.data());
    split_gguf_row(id, blocks.data(), kCols, row);
    std::vector<float> wanted(kCols), got(kCols);
    type.decode(blocks.data(), kCols / type.block_size, wanted.data());
    dequantise(f, row, kCols, got.data());
    bool same = true;
    for (size_t i = 0; i < wanted.size(); ++i) same = same && is_same(wanted[i], got[i]);
    if (!same) fail(__FILE__, __LINE__, std::string(type.name) + ": numbers differ");
  }
}

// Columns of heads in another order: the same numbers, in that order.
PAGODA_TEST(gguf_stored_rows_are_reordered_by_heads) {
  constexpr int64_t kCols = 768;
  std::mt19937_64 random(seed(82));
  for (const uint32_t id : kTypes) {
    const GgufType& type = *find_gguf_type(id);
    const auto format = gguf_format(id, 128);
    REQUIRE(format.has_value());
    std::vector<uint32_t> order;
    for (const uint32_t head : {2u, 0u, 5u, 3u, 1u, 4u})
      for (uint32_t i = 0; i < 128; ++i) order.push_back(head * 128 + i);
    const std::vector<std::byte> blocks = random_row(type, kCols, random);
    const QuantFormat &in_file = quant_format(*gguf_format(id)), &f = quant_format(*format);
    std::vector<std::byte> first(stored_row_bytes(in_file, kCols)), second(stored_row_bytes(f, kCols));
    const StoredRow split = stored_row(in_file, kCols, first.data()), reordered = stored_row(f, kCols, second.data());
    split_gguf_row(id, blocks.data(), kCols, split);
    reorder_gguf_row(id, f, split, order, reordered);
    std::vector<float> decoded(kCols), got(kCols);
    type.decode(blocks.data(), kCols / type.block_size, decoded.data());
    dequantise(f, reordered, kCols, got.data());
    bool same = true;
    for (size_t i = 0; i < got.size(); ++i) same = same && is_same(got[i], decoded[order[i]]);
    if (!same) fail(__FILE__, __LINE__, std::string(type.name) + ": numbers differ");
  }
  CHECK(!gguf_format(12, 48).has_value() && !gguf_format(2, 16).has_value());
  CHECK(gguf_format(2, 32) == gguf_format(2));
  CHECK(gguf_format(30) == WeightFormat::bf16 && !gguf_format(16).has_value());
}

PAGODA_TEST(mlx_codes_of_every_width_are_unpacked) {
  std::mt19937_64 random(seed(83));
  for (const int bits : kAffineBits) {
    std::vector<uint8_t> wanted(64), got(64);
    std::vector<std::byte> packed(static_cast<size_t>(8 * bits) + kSpareBytes);
    for (size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = static_cast<uint8_t>(random() & ((1u << bits) - 1));
      for (size_t b = 0; b < static_cast<size_t>(bits); ++b)
        packed[(i * static_cast<size_t>(bits) + b) / 8] |=
            static_cast<std::byte>((wanted[i] >> b & 1) << (i * static_cast<size_t>(bits) + b) % 8);
    }
    unpack_codes(packed.data(), bits, wanted.size(), got.data());
    CHECK(got == wanted);
    for (const int64_t group : {32, 64, 128}) {
      const auto format = affine_format(bits, group, DType::bf16);
      REQUIRE(format.has_value());
      CHECK(quant_format(*format).bits == bits && quant_format(*format).group == group &&
            quant_format(*format).has_min);
    }
    CHECK(!affine_format(bits, 16, DType::f16).has_value());
  }
}

// Matrices of 16-bit floats are read as they are, also where the file has rows (llama) or columns (qwen35) in another
// order.
PAGODA_TEST(gguf_half_floats_are_read_without_floats_in_between) {
  for (const char* name : {"llama.gguf", "qwen35.gguf"}) {
    const auto files = open_model_files({.directory = fixtures_dir() + "/gguf/" + name, .files = {}});
    REQUIRE_OK(files);
    const auto checkpoint = Checkpoint::open(**files);
    REQUIRE_OK(checkpoint);
    size_t num_halves = 0;
    for (const auto& [tensor, entry] : checkpoint->tensors()) {
      if (entry.decoder->stored_format() != WeightFormat::f16 || entry.shape.size() != 2) continue;
      const auto rows = static_cast<uint64_t>(entry.shape[0]), cols = static_cast<uint64_t>(entry.shape[1]);
      const uint64_t first = rows / 3, count = rows - first;
      std::vector<uint16_t> halves(count * cols);
      std::vector<float> wanted(count * cols);
      CHECK_OK(entry.decoder->read_stored(first, count, std::as_writable_bytes(std::span(halves))));
      CHECK_OK(entry.decoder->read(first * cols, wanted));
      bool same = true;
      for (size_t i = 0; i < wanted.size(); ++i) same = same && f16_to_f32(halves[i]) == wanted[i];
      if (!same) fail(__FILE__, __LINE__, tensor + ": numbers differ");
      ++num_halves;
    }
    CHECK(num_halves >= 15);
  }
}

}  // namespace pagoda::test
