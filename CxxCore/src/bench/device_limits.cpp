// Grows a copy and a matrix product until the device takes long enough for both, and keeps the best of several passes.
#include "bench/device_limits.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "device/registry.h"
#include "device/support.h"
#include "ops/ops.h"

namespace pagoda::bench {
namespace {

constexpr double kLongEnough = 0.02;  // seconds, so that the time to start and to wait is negligible
constexpr int kPasses = 3;
constexpr int64_t kLeastCopy = int64_t{1} << 16, kMostCopy = int64_t{1} << 30;  // bytes
constexpr int64_t kLeastSide = 128, kMostSide = 4096;                           // of the matrices

class Measurement {
 public:
  explicit Measurement(device::Device& device) : device_(device) {}

  // Bytes read and written per second.
  Result<double> copy() {
    Result<double> speed = make_error(StatusCode::internal, "nothing was copied");
    for (int64_t bytes = kLeastCopy; bytes <= kMostCopy; bytes *= 4) {
      auto pool = zeros(DType::i8, {2, bytes});
      if (!pool.is_ok()) return speed.is_ok() ? speed : pool.status;  // the largest size that fits in memory
      const auto seconds = best([&] { return ops::copy_slot(device_.encoder(), {.pool = *pool, .from = 0, .to = 1}); });
      buffers_.clear();
      if (!seconds.is_ok()) return seconds.status;
      speed = 2.0 * static_cast<double>(bytes) / *seconds;
      if (*seconds >= kLongEnough) break;
    }
    return speed;
  }

  // Multiplications and additions per second.
  Result<double> multiply() {
    Result<double> speed = make_error(StatusCode::internal, "nothing was multiplied");
    for (int64_t side = kLeastSide; side <= kMostSide; side *= 2) {
      const auto seconds = product(side);
      buffers_.clear();
      if (!seconds.is_ok()) return seconds.status;
      const double n = static_cast<double>(side);
      speed = 2.0 * n * n * n / *seconds;
      if (*seconds >= kLongEnough) break;
    }
    return speed;
  }

 private:
  Result<device::Tensor> zeros(DType dtype, std::initializer_list<int64_t> shape) {
    device::Tensor made = device::dense(nullptr, dtype, shape);
    auto buffer = device_.allocate(static_cast<size_t>(made.num_elements()) * dtype_bytes(dtype), "bench");
    if (!buffer.is_ok()) return buffer.status;
    made.buffer = buffer->get();
    buffers_.push_back(std::move(*buffer));
    return made;
  }

  Result<double> product(int64_t side) {
    PAGODA_RETURN_IF_ERROR(device_.reserve({.tokens = side, .cols = side}));
    auto x = zeros(DType::f32, {side, side}), out = zeros(DType::f32, {side, side});
    if (!x.is_ok()) return x.status;
    if (!out.is_ok()) return out.status;
    const auto ones = [side](int64_t, int64_t rows, std::byte* into) {
      constexpr uint16_t kOne = 0x3f80;  // 1.0 in bfloat16
      for (int64_t i = 0; i < rows * side; ++i) std::memcpy(into + 2 * i, &kOne, 2);
      return ok_status();
    };
    auto weight = device_.make_weight({"bench", DType::bf16, side, side, ones}, WeightFormat::bf16);
    if (!weight.is_ok()) return weight.status;
    return best(
        [&] { return ops::matmul(device_.encoder(), {.x = *x, .weight = weight->get(), .bias = {}, .out = *out}); });
  }

  // Seconds of the work that `encode` encodes: the device's own time if it reports one, otherwise wall-clock time.
  template <class Encode>
  Result<double> best(const Encode& encode) {
    double least = 0;
    for (int pass = 0; pass <= kPasses; ++pass) {
      (void)device_.take_profile();
      PAGODA_RETURN_IF_ERROR(encode());
      const auto begin = std::chrono::steady_clock::now();
      PAGODA_RETURN_IF_ERROR(device_.encoder().submit().wait());
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      for (const OpTime& op : device_.take_profile())
        if (op.name == "step") seconds = op.seconds;
      if (pass == 1 || (pass > 1 && seconds < least)) least = seconds;  // the first one only warms up
      if (pass == 0 && seconds > 10 * kLongEnough) return seconds;
    }
    return std::max(least, 1e-9);
  }

  device::Device& device_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
};

}  // namespace

MachineLimits measure_device(device::Device& device) {
  MachineLimits limits;
  if (dynamic_cast<device::KernelTiming*>(&device) == nullptr) {
    limits.status = make_error(StatusCode::unsupported, device.info().name + " runs no kernels");
    return limits;
  }
  device.set_profiling(true);
  Measurement measurement(device);
  const auto copied = measurement.copy(), multiplied = measurement.multiply();
  device.set_profiling(false);
  limits.status = copied.is_ok() ? multiplied.status : copied.status;
  if (!limits.status.is_ok()) return limits;
  limits.read_bytes_per_second = *copied;
  limits.int8_ops_per_second = limits.bf16_ops_per_second = limits.f32_ops_per_second = *multiplied;
  limits.int8_instruction = limits.bf16_instruction = limits.f32_instruction = "matmul";
  return limits;
}

MachineLimits measure_device(const std::string& name, int32_t num_threads) {
  auto device = device::make_device(name, num_threads);
  if (device.is_ok()) return measure_device(**device);
  MachineLimits limits;
  limits.status = device.status;
  return limits;
}

}  // namespace pagoda::bench
