// Random matrices in the formats of files.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/quant/stored_row.h"
#include "device/rig.h"
#include "support/test.h"

namespace pagoda::test {

struct StoredMatrix {
  WeightFormat format;
  int64_t rows, cols;
  std::vector<std::byte> bytes;  // rows as base/quant/stored_row.h describes them

  StoredMatrix(WeightFormat which, int64_t num_rows, int64_t num_cols, Random& random)
      : format(which), rows(num_rows), cols(num_cols), bytes(static_cast<size_t>(num_rows) * row_bytes()) {
    for (int64_t i = 0; i < rows; ++i) fill(row(i), random);
  }

  const QuantFormat& description() const { return quant_format(format); }
  size_t row_bytes() const { return stored_row_bytes(description(), cols); }
  StoredRow row(int64_t i) {
    return stored_row(description(), cols, bytes.data() + static_cast<size_t>(i) * row_bytes());
  }

  std::unique_ptr<device::Weight> on(device::Device& device) {
    device::WeightSource source{"test", DType::f32, rows, cols, nullptr};
    source.read_stored = [this](int64_t begin, int64_t count, std::span<std::byte> into) {
      std::copy_n(bytes.begin() + begin * static_cast<int64_t>(row_bytes()), into.size(), into.begin());
      return into.size() == static_cast<size_t>(count) * row_bytes()
                 ? ok_status()
                 : make_error(StatusCode::internal, "a buffer of another size");
    };
    auto made = device.make_weight(source, format);
    CHECK_OK(made);
    return made.is_ok() ? std::move(*made) : nullptr;
  }

 private:
  static void put16(std::byte* at, int64_t index, uint16_t bits) {
    at[index * 2] = static_cast<std::byte>(bits & 255);
    at[index * 2 + 1] = static_cast<std::byte>(bits >> 8);
  }

  void fill(const StoredRow& to, Random& random) {
    const QuantFormat& f = description();
    for (int64_t i = 0; i < cols; ++i) to.codes[i] = static_cast<uint8_t>(random.below(int64_t{1} << f.bits));
    // 8-bit floats: without NaN
    for (int64_t i = 0; f.table == CodeTable::float8 && i < cols; ++i)
      if ((to.codes[i] & 127) == 127) to.codes[i] = static_cast<uint8_t>(i & 135);
    const int64_t groups = cols / f.group, supers = f.super > 0 ? cols / f.super : 0;
    const auto number = [&](std::byte* at, int64_t i, float value) {
      if (f.scale == ScaleType::f32) std::memcpy(at + i * 4, &value, 4);
      else put16(at, i, f.scale == ScaleType::bf16 ? f32_to_bf16(value) : f32_to_f16(value));
    };
    const std::vector<float> values = random.normal(4 * groups + 2, 0.05f);
    const int64_t limit = f.scale == ScaleType::nibbles ? 16 : f.scale == ScaleType::u8 ? 64 : 256;
    for (int64_t g = 0; g < groups; ++g)
      for (std::byte* at : {to.scales, to.mins}) {
        if (at == to.mins && !f.has_min) continue;
        if (at == to.mins && f.has_zeros) at[g] = static_cast<std::byte>(random.below(int64_t{1} << f.bits));
        else if (f.scale_bytes() >= 2) number(at, g, values[static_cast<size_t>(2 * g + (at == to.mins))]);
        else if (f.scale == ScaleType::e8m0) at[g] = static_cast<std::byte>(g % 7 == 6 ? g % 2 : 120 + random.below(6));
        else if (f.scale == ScaleType::e4m3) at[g] = static_cast<std::byte>(random.below(127));
        else at[g] = static_cast<std::byte>(random.below(limit));
      }
    for (int64_t s = 0; s < supers; ++s) {
      put16(to.supers, s, f32_to_f16(values[static_cast<size_t>(2 * groups + 2 * s)]));
      if (f.has_min) put16(to.super_mins, s, f32_to_f16(values[static_cast<size_t>(2 * groups + 2 * s + 1)]));
    }
  }
};

inline std::vector<WeightFormat> stored_formats() {
  std::vector<WeightFormat> formats;
  for (size_t i = 0; i < kNumQuantFormats; ++i) formats.push_back(weight_format(static_cast<QuantId>(i)));
  return formats;
}

// One of each form of scales and each kind of kernel of GPUs.
inline std::vector<WeightFormat> few_formats() {
  std::vector<WeightFormat> formats;
  for (const QuantId id : {QuantId::q4_0, QuantId::q4_1, QuantId::q8_0, QuantId::q4_k, QuantId::q5_k, QuantId::q6_k,
                           QuantId::q2_k, QuantId::iq4_xs, QuantId::mxfp4})
    formats.push_back(weight_format(id));
  for (const WeightFormat format : stored_formats()) {
    const QuantFormat& f = quant_format(format);
    if (f.name == "affine 4 bits" && f.group >= 64 && f.scale == ScaleType::bf16) formats.push_back(format);
    if (f.name == "int4" && f.group == 128 && f.scale == ScaleType::bf16) formats.push_back(format);
    if (f.name == "int4 with zeros" && f.group == 64 && f.scale == ScaleType::f16) formats.push_back(format);
  }
  return formats;
}

inline std::string describe(WeightFormat format) {
  const QuantFormat& f = quant_format(format);
  return std::string(f.name) + ", groups of " + std::to_string(f.group) + ", " + std::to_string(f.super) +
         " per upper scale";
}

}  // namespace pagoda::test
