// Products of a few rows without matrix units: on the software device, where 8x8 products add in the same order, they
// have the same bits.
#include <cstring>

#include "device/gpu/dry_device.h"
#include "device/stored/stored_weights.h"
#include "device/support.h"
#include "ops/ops.h"

namespace pagoda::test {
namespace {

using device::Tensor;

struct Case {
  WeightFormat format;
  int64_t rows, columns;  // of the weight
  bool silu_mul = false, has_bias = false, is_made = false;
};

struct Results {
  std::vector<float> out;
  bool is_scalar = false;  // whether a kernel without matrix units was launched
};

void use_scalars(Rig& rig, bool enabled) {
  dynamic_cast<device::ScalarProducts&>(rig.device()).use_scalar_products(enabled);
  device::set_kernel_timing(rig.device(), true);
}

Results finish(Rig& rig, const Tensor& out) {
  CHECK_OK(rig.finish());
  Results results{rig.read(out), false};
  for (const device::OpTime& kernel : rig.device().take_profile())
    results.is_scalar |= kernel.name.find("_scalar_") != std::string::npos;
  return results;
}

// Of random numbers, or of random codes in a format of files.
std::unique_ptr<device::Weight> weight_of(Rig& rig, Random& random, WeightFormat format, int64_t rows, int64_t cols) {
  if (is_stored(format)) return StoredMatrix(format, rows, cols, random).on(rig.device());
  const std::vector<float> numbers = random.normal(rows * cols);
  const auto read_rows = [&](int64_t begin, int64_t count, std::byte* into) {
    std::memcpy(into, numbers.data() + begin * cols, static_cast<size_t>(count * cols) * sizeof(float));
    return ok_status();
  };
  auto made = rig.device().make_weight({"test", DType::f32, rows, cols, read_rows}, format);
  CHECK_OK(made);
  return std::move(*made);
}

// x lies between other columns. A norm before the product has its rows made in the kernel; its result is added to
// `out`.
Results product(Rig& rig, const Case& c, int64_t m, bool is_scalar) {
  use_scalars(rig, is_scalar);
  Random random(seed(91));
  const auto owner = weight_of(rig, random, c.format, c.rows, c.columns);
  device::Weight* weight = owner.get();
  const int64_t width = c.silu_mul ? c.rows / 2 : c.rows;
  const Tensor wide = rig.floats(random.normal(m * (c.columns + 8)), {m, c.columns + 8});
  Tensor x = device::slice(wide, 1, 4, c.columns);
  const Tensor bias = c.has_bias ? rig.floats(random.normal(c.rows), {c.rows}) : Tensor{};
  const Tensor out = rig.floats(random.normal(m * width), {m, width});
  if (!c.is_made) {
    CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, out, c.silu_mul}));
    return finish(rig, out);
  }
  const Tensor normed = rig.zeros(DType::f32, {m, c.columns}), product = rig.zeros(DType::f32, {m, width});
  const Tensor norm = rig.floats(random.normal(c.columns), {c.columns}),
               last = rig.floats(random.normal(width), {width});
  CHECK_OK(
      ops::rms_norm(rig.encoder(),
                    {.x = x, .residual = {}, .weight = norm, .weight_offset = 1.0f, .out = normed, .only_next = true}));
  CHECK_OK(ops::matmul(rig.encoder(), {normed, weight, bias, product, c.silu_mul}));
  CHECK_OK(ops::rms_norm(rig.encoder(), {out, product, last, 1e-6f, 1.0f, rig.zeros(DType::f32, {m, width})}));
  return finish(rig, out);
}

Results product(const Case& c, int64_t m, bool is_scalar) {
  Rig rig("software");
  return product(rig, c, m, is_scalar);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check_bits(const Case& c, int64_t most_rows) {
  for (int64_t m = 1; m <= most_rows; ++m) {
    const Results wanted = product(c, m, false), got = product(c, m, true);
    CHECK(!wanted.is_scalar);
    CHECK_EQ(got.is_scalar, m <= 4);
    if (!same_bits(wanted.out, got.out))
      fail(__FILE__, __LINE__,
           (is_stored(c.format) ? describe(c.format) : std::string(weight_format_name(c.format))) + ", " +
               std::to_string(c.rows) + " x " + std::to_string(c.columns) + ", " + std::to_string(m) +
               " rows: other bits than with matrix products");
  }
}

}  // namespace

// 64 columns leave runs empty; 1088 give runs of three chunks, an odd number, of which the last is cut. 70 and 33 rows
// of weights leave a threadgroup with lanes to spare.
PAGODA_TEST(gpu_scalar_products_have_the_bits_of_matrix_products) {
  for (const WeightFormat format : {WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
    check_bits({format, 33, 64, false, true}, 5);
    check_bits({format, 70, 1088, true, true, true}, 5);
    check_bits({format, 64, 576, true}, 5);
    check_bits({format, 40, 1088}, 5);
  }
}

// Units of 256 columns: one, so that runs are empty, and five, which give runs of three chunks, of which the last is
// cut.
PAGODA_TEST(gpu_scalar_products_have_the_bits_of_matrix_products_in_formats_of_files) {
  for (const WeightFormat format : few_formats()) {
    check_bits({format, 33, 256, false, true}, 2);
    check_bits({format, 70, 1280, true, true, true}, 5);
    check_bits({format, 40, 1280}, 4);
  }
}

// So many rows of weights would make the rows of x again too often: they are made once, as floats.
PAGODA_TEST(gpu_scalar_products_multiply_heads_after_a_norm) {
  for (const WeightFormat format : {WeightFormat::q4, weight_format(QuantId::q4_0)}) {
    auto dry = device::gpu::dry_device().make(1);
    REQUIRE_OK(dry);
    Rig rig(std::move(*dry));
    CHECK(product(rig, {format, 65600, 64, false, false, true}, 1, true).is_scalar);
  }
}

// Several tokens of one expert take more than one round of a threadgroup. 1536 columns give runs of three chunks, and
// 192 rows of weights leave none after the last: what is read beyond it is out of bounds. 1280 give a run that is cut.
PAGODA_TEST(gpu_scalar_products_of_experts_have_the_bits_of_matrix_products) {
  constexpr int64_t kExperts = 4, kOut = 48;
  const std::vector<std::vector<int32_t>> chosen = {
      {3, 0}, {1, 3, 3, 0}, {1, 0, 1, 0, 1, 2, 1, 0}, {0, 1, 2, 0, 1, 2, 0, 2, 0, 1}};
  const WeightFormat formats[] = {WeightFormat::bf16,
                                  WeightFormat::q8,
                                  WeightFormat::q4,
                                  weight_format(QuantId::q4_k),
                                  weight_format(QuantId::q8_0),
                                  weight_format(QuantId::q6_k)};
  for (const WeightFormat format : formats)
    for (const std::vector<int32_t>& ids : chosen)
      for (const bool silu_mul : {false, true}) {
        const auto tokens = static_cast<int64_t>(ids.size() / 2);
        const int64_t columns = silu_mul ? 1280 : 1536;
        Results results[2];
        for (const bool is_scalar : {false, true}) {
          Rig rig("software");
          use_scalars(rig, is_scalar);
          Random random(seed(92));
          const auto weight = weight_of(rig, random, format, kExperts * kOut, columns);
          const Tensor x = rig.floats(random.normal(tokens * columns), {tokens, columns});
          const Tensor out = rig.zeros(DType::f32, {2 * tokens, silu_mul ? kOut / 2 : kOut});
          CHECK_OK(ops::expert_matmul(rig.encoder(), {.x = x,
                                                      .weight = weight.get(),
                                                      .num_experts = kExperts,
                                                      .ids = rig.ints(ids, {tokens, 2}),
                                                      .out = out,
                                                      .silu_mul = silu_mul}));
          results[is_scalar] = finish(rig, out);
        }
        CHECK(!results[0].is_scalar);
        CHECK_EQ(results[1].is_scalar, tokens <= 4);
        CHECK(same_bits(results[0].out, results[1].out));
      }
}

}  // namespace pagoda::test
