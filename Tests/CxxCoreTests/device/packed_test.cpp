// Packed weights: rotation and rounding are as specified, and products equal the integer sums written out here, to the
// bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "device/host/quantise.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using namespace pagoda::device::host;

namespace {

std::vector<float> padded_and_rotated(const float* row, int64_t cols) {
  std::vector<float> out(static_cast<size_t>((cols + kColumnPadding - 1) / kColumnPadding * kColumnPadding));
  std::copy_n(row, cols, out.begin());
  rotate(out, rotation_block(static_cast<int64_t>(out.size())));
  return out;
}

struct Integers {
  std::vector<int> values;
  float scale;
};

Integers quantised_weight(const float* row, int64_t cols, WeightFormat format) {
  std::vector<float> w = padded_and_rotated(row, cols);
  const float block = static_cast<float>(rotation_block(static_cast<int64_t>(w.size())));
  for (float& v : w) v /= block;
  Integers out{std::vector<int>(w.size()), 0.0f};
  if (format == WeightFormat::q8) {
    std::vector<int8_t> values(w.size());
    CHECK(quantise_8bit(w, values.data(), out.scale));
    std::copy(values.begin(), values.end(), out.values.begin());
  } else {
    std::vector<uint8_t> values(w.size());
    std::vector<Steps> steps(w.size() / kStepGroup);
    CHECK(quantise_4bit(w, values.data(), steps.data(), out.scale));
    for (size_t i = 0; i < w.size(); ++i)
      out.values[i] = steps[i / kStepGroup].step * values[i] + steps[i / kStepGroup].offset - 128;
  }
  return out;
}

Integers quantised_row(const float* row, int64_t cols) {
  const std::vector<float> x = padded_and_rotated(row, cols);
  float top = 0;
  for (float v : x) top = std::max(top, std::fabs(v));
  Integers out{std::vector<int>(x.size()), top / 127.0f};
  for (size_t i = 0; i < x.size(); ++i) out.values[i] = static_cast<int>(std::nearbyint(x[i] * (127.0f / top)));
  return out;
}

float product(const Integers& w, const Integers& x) {
  int32_t sum = 0;
  for (size_t i = 0; i < w.values.size(); ++i) sum += w.values[i] * x.values[i];
  return static_cast<float>(sum) * w.scale * x.scale;
}

}  // namespace

PAGODA_TEST(packed_rotation_twice_is_the_row_times_its_block) {
  CHECK_EQ(rotation_block(128), 128);
  CHECK_EQ(rotation_block(3584), 512);
  CHECK_EQ(rotation_block(8192), 4096);
  Random random(seed(51));
  const std::vector<float> row = random.normal(384);
  std::vector<float> twice = row;
  rotate(twice, 128);
  CHECK(std::fabs(twice[0] - row[0]) > 1e-3f);
  rotate(twice, 128);
  for (size_t i = 0; i < row.size(); ++i) CHECK(std::fabs(twice[i] / 128 - row[i]) < 1e-5f);
}

PAGODA_TEST(packed_numbers_are_rounded_to_the_nearest) {
  Random random(seed(52));
  const std::vector<float> row = random.normal(256, 0.02f);
  int8_t bytes[256];
  float scale;
  CHECK(quantise_8bit(row, bytes, scale));
  for (size_t i = 0; i < row.size(); ++i) CHECK(std::fabs(scale * bytes[i] - row[i]) <= scale * 0.5001f);
  uint8_t nibbles[256];
  Steps steps[8];
  CHECK(quantise_4bit(row, nibbles, steps, scale));
  for (size_t i = 0; i < row.size(); ++i) {
    const Steps s = steps[i / kStepGroup];
    CHECK(nibbles[i] <= 15 && s.step >= 1 && s.step <= 17 && s.offset + 15 * s.step <= 255);
    const float value = scale * static_cast<float>(s.step * nibbles[i] + s.offset - 128);
    CHECK(std::fabs(value - row[i]) <= scale * s.step * 2.6f);  // a step may be a quarter too short, over 15 levels
  }
  for (float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const float with_bad[2] = {1.0f, bad};
    CHECK(!quantise_8bit(with_bad, bytes, scale));
    CHECK(!quantise_4bit(with_bad, nibbles, steps, scale));
  }
  const float zeros[2] = {0.0f, 1e-44f};
  CHECK(quantise_8bit(zeros, bytes, scale) && scale * bytes[0] == 0.0f && scale * bytes[1] == 0.0f);
}

// A group's unit is the row's, halved as often as its largest number allows: an outlier affects only its own group.
PAGODA_TEST(packed_groups_keep_an_outlier_to_themselves) {
  Random random(seed(54));
  std::vector<float> row = random.normal(200, 0.02f);  // the last group has 8 columns
  row[40] = -3.0f;
  for (size_t i = 64; i < 96; ++i) row[i] = 0.0f;
  row[100] = 1e-9f;
  int8_t values[200];
  uint8_t shifts[7];
  float scale;
  CHECK(quantise_8bit_groups(row, values, shifts, scale));
  CHECK_EQ(scale, 3.0f / 127.0f);
  CHECK(shifts[1] == 0 && values[40] == -127 && shifts[2] == 15);
  std::vector<float> rounded = row;
  CHECK(round_in_groups(WeightFormat::q8, rounded));
  for (size_t i = 0; i < row.size(); ++i) {
    const float unit = std::ldexp(scale, -shifts[i / kStepGroup]);
    CHECK_EQ(rounded[i], unit * values[i]);
    CHECK(std::fabs(rounded[i] - row[i]) <= unit * 0.5001f);
  }
  for (const size_t group : {size_t{0}, size_t{3}, size_t{6}}) CHECK(shifts[group] >= 4);
  const float with_bad[2] = {1.0f, std::numeric_limits<float>::infinity()};
  CHECK(!quantise_8bit_groups(with_bad, values, shifts, scale));
  std::vector<float> tiny = {0.0f, 1e-44f}, bad(with_bad, with_bad + 2);
  CHECK(round_in_groups(WeightFormat::q8, tiny) && tiny[0] == 0.0f && tiny[1] == 0.0f);
  CHECK(!round_in_groups(WeightFormat::q4, bad));
}

PAGODA_TEST(packed_products_are_the_integer_sums) {
  const struct {
    int64_t m, n, k;
  } shapes[] = {{1, 1, 1},     {1, 70, 130},  {2, 33, 128},   {3, 16, 640},  {5, 40, 257},
                {6, 17, 1100}, {37, 50, 384}, {40, 35, 1700}, {530, 18, 900}};
  std::vector<std::string> names = tested_devices();
  std::erase_if(names, runs_kernels);
  for (const std::string& name : names)
    for (WeightFormat format : {WeightFormat::q8, WeightFormat::q4})
      for (const auto& s : shapes) {
        Rig rig(name);
        Random random(seed(53));
        const std::vector<float> w = random.normal(s.n * s.k, 0.1f), x = random.normal(s.m * s.k, 3.0f);
        const device::Tensor out = rig.zeros(DType::f32, {s.m, s.n});
        CHECK_OK(ops::matmul(rig.encoder(),
                             {rig.floats(x, {s.m, s.k}), rig.weight(w, s.n, s.k, format), device::Tensor{}, out}));
        const std::vector<float> got = rig.read(out);
        bool same = true;
        std::vector<Integers> rows;
        for (int64_t m = 0; m < s.m; ++m) rows.push_back(quantised_row(x.data() + m * s.k, s.k));
        for (int64_t n = 0; n < s.n; ++n) {
          const Integers weight = quantised_weight(w.data() + n * s.k, s.k, format);
          for (int64_t m = 0; m < s.m; ++m) {
            const float wanted = product(weight, rows[static_cast<size_t>(m)]);
            same = same && std::bit_cast<uint32_t>(wanted) == std::bit_cast<uint32_t>(got[m * s.n + n]);
          }
        }
        if (!same)
          fail(__FILE__, __LINE__,
               name + " " + std::string(weight_format_name(format)) + " " + std::to_string(s.m) + " " +
                   std::to_string(s.n) + " " + std::to_string(s.k) + ": bits differ");
      }
}
