// Rig and the random inputs and batches of op tests.
#include "device/rig.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/kv_row.h"
#include "device/host/quantise.h"
#include "device/registry.h"
#include "support/test.h"

namespace pagoda::test {

using device::Tensor;

static std::unique_ptr<device::Device> made(const std::string& name, int num_threads) {
  auto device = device::make_device(name, num_threads);
  CHECK_OK(device);
  return device.is_ok() ? std::move(*device) : nullptr;
}

Rig::Rig(const std::string& device_name, int num_threads) : Rig(made(device_name, num_threads)) {}

Rig::Rig(std::unique_ptr<device::Device> device) : device_(std::move(device)) {
  if (device_)
    CHECK_OK(device_->reserve({.tokens = 1104,
                               .cols = 4608,
                               .sequences = 16,
                               .context = 1536,
                               .heads = 70,
                               .head_dim = 256,
                               .k_heads = 4,
                               .v_heads = 8,
                               .k_dim = 256,
                               .logits_rows = 32,
                               .vocab = 10000,
                               .experts = 512}));
}

Tensor Rig::put(DType dtype, Shape shape, const void* values, size_t size_bytes) {
  int64_t elements = 1;
  for (int64_t n : shape) elements *= n;
  auto buffer = device_->allocate(static_cast<size_t>(elements) * dtype_bytes(dtype), "test");
  CHECK_OK(buffer);
  buffers_.push_back(std::move(*buffer));
  const Tensor t = device::dense(buffers_.back().get(), dtype, shape);
  if (values) CHECK_OK(device_->upload(t, values, size_bytes));
  return t;
}

Tensor Rig::zeros(DType dtype, Shape shape) { return put(dtype, shape, nullptr, 0); }

Tensor Rig::kv_cache(DType dtype, int64_t num_blocks, int64_t block_size, int64_t heads, int64_t dim) {
  const int64_t row = kv_row_bytes(dtype, dim) / static_cast<int64_t>(dtype_bytes(dtype));
  return device::slice(zeros(dtype, {num_blocks, block_size, heads, row}), 3, 0, dim);
}

Tensor Rig::floats(const std::vector<float>& values, Shape shape) {
  return put(DType::f32, shape, values.data(), values.size() * sizeof(float));
}

Tensor Rig::ints(const std::vector<int32_t>& values) { return ints(values, {static_cast<int64_t>(values.size())}); }

Tensor Rig::ints(const std::vector<int32_t>& values, Shape shape) {
  return put(DType::i32, shape, values.data(), values.size() * sizeof(int32_t));
}

Tensor Rig::longs(const std::vector<int64_t>& values) {
  return put(DType::i64, {static_cast<int64_t>(values.size())}, values.data(), values.size() * sizeof(int64_t));
}

device::Weight* Rig::weight(const std::vector<float>& values, int64_t rows, int64_t cols, WeightFormat format) {
  has_quantised_weights_ = has_quantised_weights_ || is_quantised(format);
  if (rounds_in_groups_ && is_quantised(format)) {
    std::vector<float> rounded = values;
    for (int64_t r = 0; r < rows; ++r)
      CHECK(
          device::host::round_in_groups(format, {&rounded[static_cast<size_t>(r * cols)], static_cast<size_t>(cols)}));
    return weight(rounded, rows, cols, WeightFormat::f32);
  }
  device::WeightSource source{"test", DType::f32, rows, cols, [&](int64_t begin, int64_t count, std::byte* into) {
                                std::copy_n(reinterpret_cast<const std::byte*>(values.data() + begin * cols),
                                            count * cols * 4, into);
                                return ok_status();
                              }};
  auto made = device_->make_weight(source, format);
  CHECK_OK(made);
  weights_.push_back(std::move(*made));
  return weights_.back().get();
}

std::vector<std::byte> Rig::bytes(const Tensor& dense) {
  CHECK_OK(finish());
  std::vector<std::byte> out(static_cast<size_t>(dense.num_elements()) * dtype_bytes(dense.dtype));
  CHECK_OK(device_->download(dense, out.data(), out.size()));
  return out;
}

std::vector<float> Rig::read(const Tensor& dense) {
  const std::vector<std::byte> raw = bytes(dense);
  std::vector<float> out(static_cast<size_t>(dense.num_elements()));
  for (size_t i = 0; i < out.size(); ++i) {
    if (dense.dtype == DType::f32) out[i] = reinterpret_cast<const float*>(raw.data())[i];
    else if (dense.dtype == DType::f16) out[i] = f16_to_f32(reinterpret_cast<const uint16_t*>(raw.data())[i]);
    else if (dense.dtype == DType::i8) out[i] = static_cast<float>(reinterpret_cast<const int8_t*>(raw.data())[i]);
    else out[i] = bf16_to_f32(reinterpret_cast<const uint16_t*>(raw.data())[i]);
  }
  return out;
}

std::vector<float> Rig::read_cache(const Tensor& kv_cache) {
  if (kv_cache.dtype != DType::i8) return read(kv_cache);
  const Tensor rows = whole_rows(kv_cache);
  const int64_t dim = kv_cache.shape[3];
  const std::vector<std::byte> raw = bytes(rows);
  std::vector<float> out;
  for (const std::byte* row = raw.data(); row < raw.data() + raw.size(); row += rows.shape[3]) {
    float scale = 0;
    std::memcpy(&scale, row + kv_scale_offset(dim), sizeof scale);
    for (int64_t i = 0; i < dim; ++i) out.push_back(scale * static_cast<float>(static_cast<int8_t>(row[i])));
  }
  return out;
}

std::vector<std::string> selected_devices() {
  std::vector<std::string> names = device::device_names();
  const char* wanted = std::getenv("PAGODA_TEST_DEVICE");
  if (!wanted) return names;
  const bool is_simd = std::string_view(wanted) == "simd";
  const std::string only = is_simd ? "cpu" : wanted;
  std::erase_if(names, [&](const auto& n) { return n != only && !n.starts_with(only + ":"); });
  if (is_simd) std::erase(names, "cpu:portable");
  return names;
}

std::vector<std::string> tested_devices() {
  std::vector<std::string> names = selected_devices();
  std::erase(names, "reference");
  std::erase(names, "cpu");  // identical to the first path
  return names;
}

// The polar method of libstdc++'s normal_distribution, with the same results. That class computes a logarithm of the
// engine's range per number, which takes 3 us where long double is emulated: most of the tests' time under qemu.
std::vector<float> Random::normal(int64_t count, float scale) {
  const auto signed_unit = [&] { return 2 * std::min(static_cast<float>(engine_()) * 0x1p-64f, 0x1.fffffep-1f) - 1; };
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); i += 2) {
    float x, y, square;
    do {
      x = signed_unit();
      y = signed_unit();
      square = x * x + y * y;
    } while (square > 1 || square == 0);
    const float factor = std::sqrt(-2 * std::log(square) / square);
    values[i] = scale * (y * factor);
    if (i + 1 < values.size()) values[i + 1] = scale * (x * factor);
  }
  return values;
}

int64_t Batch::num_rows() const {
  int64_t total = 0;
  for (int64_t n : rows) total += n;
  return total;
}

device::SequenceArgs make_sequences(Rig& rig, const Batch& batch, int64_t block_size, int64_t max_blocks) {
  std::vector<int32_t> bounds = {0}, context, blocks, slots;
  const int64_t n = batch.num_sequences();
  for (int64_t b = 0; b < n; ++b) {
    bounds.push_back(static_cast<int32_t>(bounds.back() + batch.rows[b]));
    context.push_back(static_cast<int32_t>(batch.cached[b] + batch.rows[b]));
    slots.push_back(static_cast<int32_t>(b + 1));
    const int64_t used = (context.back() + block_size - 1) / block_size;
    for (int64_t i = 0; i < max_blocks; ++i) blocks.push_back(i < used ? static_cast<int32_t>(i * n + b) : -1);
  }
  const int64_t longest = *std::ranges::max_element(context);
  return {rig.ints(bounds), rig.ints(context), rig.ints(blocks, {n, max_blocks}), rig.ints(slots), longest};
}

}  // namespace pagoda::test
