// Measures products with weights in the formats of files beside those in 8bit, on one thread: per number of rows the
// time and the rate of each format, and the rate relative to 8bit. Runs of all formats are interleaved; the minimum
// counts. Build: make -C Tools/native stored_bench Usage: stored_bench [DEVICE [ROUNDS [SIZE]]], such as stored_bench
// cpu:avx512vnni 40 4096
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/quant/stored_row.h"
#include "device/registry.h"
#include "ops/ops.h"

namespace {

using namespace pagoda;
using device::Tensor;

constexpr int64_t kRows[] = {1, 2, 4, 8, 16, 64, 256};

void check(const Status& status) {
  if (status.is_ok()) return;
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}
template <class T>
T taken(Result<T> result) {
  check(result.status);
  return std::move(*result);
}

// A matrix [size, size] of random numbers, or of random codes with scales of about 1 / size.
std::unique_ptr<device::Weight> matrix(device::Device& device, WeightFormat format, int64_t size) {
  std::mt19937 random(1);
  device::WeightSource source{"matrix", DType::f32, size, size, nullptr};
  source.read_rows = [&](int64_t, int64_t count, std::byte* into) {
    for (int64_t i = 0; i < count * size; ++i) {
      const float value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
      std::memcpy(into + i * 4, &value, 4);
    }
    return ok_status();
  };
  if (!is_stored(format)) return taken(device.make_weight(source, format));
  const QuantFormat& f = quant_format(format);
  const size_t row_bytes = stored_row_bytes(f, size);
  source.read_stored = [&](int64_t, int64_t count, std::span<std::byte> into) {
    for (int64_t i = 0; i < count; ++i) {
      const StoredRow row = stored_row(f, size, into.data() + static_cast<size_t>(i) * row_bytes);
      std::fill(reinterpret_cast<std::byte*>(row.codes), reinterpret_cast<std::byte*>(row.codes) + row_bytes,
                std::byte{7});
      for (int64_t k = 0; k < size; ++k) row.codes[k] = static_cast<uint8_t>(k * 37 + i * 11) & ((1 << f.bits) - 1);
    }
    return ok_status();
  };
  return taken(device.make_weight(source, format));
}

// Of this thread, which does all the work: other programs on the machine count less.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds(device::Device& device, const device::MatmulArgs& args) {
  const double begin = now();
  check(ops::matmul(device.encoder(), args));
  check(device.encoder().submit().wait());
  return now() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 40;
  const int64_t size = argc > 3 ? std::atoll(argv[3]) : 4096, most = *std::ranges::max_element(kRows);
  const auto device = taken(device::make_device(argc > 1 ? argv[1] : "cpu", 1));
  device::StepLimits limits{};
  limits.tokens = limits.rows_by_head = most;
  limits.cols = limits.head_cols = size;
  check(device->reserve(limits));
  const auto affine = static_cast<QuantId>(static_cast<size_t>(QuantId::first_affine) + 2 * 9 + 1 * 3 + 1);
  std::vector<WeightFormat> formats{WeightFormat::q8};
  for (const QuantId id : {QuantId::q4_0, QuantId::q4_1, QuantId::q8_0, QuantId::q4_k, QuantId::q5_k, QuantId::q6_k,
                           QuantId::iq4_xs, QuantId::q2_k, affine, QuantId::fp8})
    formats.push_back(weight_format(id));
  std::vector<std::unique_ptr<device::Weight>> weights;
  for (const WeightFormat format : formats) weights.push_back(matrix(*device, format, size));
  auto x = taken(device->allocate(static_cast<size_t>(most * size * 4), "x"));
  auto out = taken(device->allocate(static_cast<size_t>(most * size * 4), "out"));
  std::printf("%s, %lld x %lld, GOP/s (relative to 8bit)\n%6s", device->info().description.c_str(),
              static_cast<long long>(size), static_cast<long long>(size), "rows");
  for (const WeightFormat format : formats) std::printf(" %15s", std::string(weight_format_name(format)).c_str());
  std::printf("\n");
  for (const int64_t rows : kRows) {
    std::vector<double> least(formats.size(), 1e9);
    const auto tensor = [&](device::Buffer& buffer) { return device::dense(&buffer, DType::f32, {rows, size}); };
    for (int round = 0; round < rounds; ++round)
      for (size_t i = 0; i < formats.size(); ++i)
        least[i] = std::min(least[i], seconds(*device, {tensor(*x), weights[i].get(), Tensor{}, tensor(*out)}));
    std::printf("%6lld", static_cast<long long>(rows));
    for (const double time : least)
      std::printf(" %8.0f (%4.2f)", 2e-9 * static_cast<double>(rows * size * size) / time, least[0] / time);
    std::printf("\n");
  }
  return 0;
}
