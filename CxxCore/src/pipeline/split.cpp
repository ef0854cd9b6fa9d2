// Split: finds the ends of the parts by dynamic programming; and measures the speed of a stage.
#include "pipeline/split.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/size_text.h"
#include "device/registry.h"
#include "ops/ops.h"

namespace pagoda::pipeline {

Result<std::vector<int32_t>> split_layers(const LayerCosts& costs, std::span<const StageLimits> stages) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const size_t num_layers = costs.bytes.size(), num_stages = stages.size();
  if (num_stages == 0 || num_stages > num_layers)
    return make_error(StatusCode::invalid_argument,
                      concat("a model of ", num_layers, " layers cannot have ", num_stages, " stages"));
  // times[s][n]: the slowest of the stages up to s if they run the first n layers.
  std::vector<std::vector<double>> times(num_stages, std::vector<double>(num_layers + 1, kNever));
  std::vector<std::vector<size_t>> begins(num_stages, std::vector<size_t>(num_layers + 1, 0));
  for (size_t s = 0; s < num_stages; ++s)
    for (size_t end = s + 1; end <= num_layers; ++end) {
      double read = s == 0 ? static_cast<double>(costs.head_read_bytes) : 0;
      int64_t kept = s == 0 ? costs.head_bytes : 0;
      for (size_t begin = end; begin-- > s;) {
        read += static_cast<double>(costs.read_bytes[begin]);
        kept += costs.bytes[begin];
        if (kept > stages[s].memory_bytes) break;
        if (s == 0 && begin > 0) continue;
        const double before = s == 0 ? 0 : times[s - 1][begin];
        const double time = std::max(before, read / std::max(stages[s].speed, 1e-9));
        if (time < times[s][end]) times[s][end] = time, begins[s][end] = begin;
      }
    }
  if (times[num_stages - 1][num_layers] == kNever) {
    std::string limits;
    for (const StageLimits& stage : stages) limits += (limits.empty() ? "" : ", ") + size_text(stage.memory_bytes);
    return make_error(StatusCode::out_of_memory, "the layers do not fit the stages, which have " + limits);
  }
  std::vector<int32_t> ends(num_stages);
  size_t end = num_layers;
  for (size_t s = num_stages; s-- > 0; end = begins[s][end]) ends[s] = static_cast<int32_t>(end);
  return ends;
}

Result<std::vector<int32_t>> parse_split(const std::string& text, int32_t num_layers, size_t num_stages) {
  std::vector<int32_t> ends;
  const char *next = text.data(), *end = text.data() + text.size();
  int32_t sum = 0;
  while (next < end) {
    int32_t count = 0;
    const auto [rest, error] = std::from_chars(next, end, count);
    if (error != std::errc() || count < 1 || count > num_layers - sum || (rest < end && *rest != ',')) break;
    ends.push_back(sum += count);
    next = rest < end ? rest + 1 : rest;
  }
  if (next < end || text.ends_with(',') || sum != num_layers || ends.size() != num_stages)
    return make_field_error(StatusCode::invalid_argument, "pipeline_split",
                            concat("pipeline_split must be ", num_stages, " numbers of layers with the sum ",
                                   num_layers, ", not '", text, "'"));
  return ends;
}

Result<double> measure_speed(const std::string& device_name, int num_threads) {
  PAGODA_ASSIGN_OR_RETURN(auto made, device::make_device(device_name, num_threads));
  device::Device& device = *made;
  constexpr int64_t kSize = 1024, kRows = 4;
  constexpr double kSeconds = 0.02;
  constexpr int kMinProducts = 32;
  device::WeightSource source{"speed", DType::f32, kSize, kSize, nullptr};
  source.read_rows = [&](int64_t, int64_t count, std::byte* into) {
    std::fill_n(reinterpret_cast<float*>(into), count * kSize, 0.5f);
    return ok_status();
  };
  PAGODA_ASSIGN_OR_RETURN(auto weight, device.make_weight(source, WeightFormat::bf16));
  PAGODA_ASSIGN_OR_RETURN(
      auto buffer, device.allocate(static_cast<size_t>(2 * kRows * kSize) * sizeof(float), "rows to measure with"));
  PAGODA_RETURN_IF_ERROR(device.reserve({.tokens = kRows, .cols = kSize}));
  const device::Tensor x = device::dense(buffer.get(), DType::f32, {kRows, kSize}, 0);
  const device::Tensor out = device::dense(buffer.get(), DType::f32, {kRows, kSize}, kRows * kSize * int64_t{4});
  const std::vector<float> ones(static_cast<size_t>(kRows * kSize), 1.0f);
  PAGODA_RETURN_IF_ERROR(device.upload(x, ones.data(), ones.size() * sizeof(float)));
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const Clock::time_point begin = Clock::now();
  double fastest = std::numeric_limits<double>::infinity();  // other work on the machine slows the other runs
  for (int i = 0; i < kMinProducts || since(begin) < kSeconds; ++i) {
    const Clock::time_point start = Clock::now();
    PAGODA_RETURN_IF_ERROR(ops::matmul(device.encoder(), {.x = x, .weight = weight.get(), .bias = {}, .out = out}));
    PAGODA_RETURN_IF_ERROR(device.encoder().submit().wait());
    fastest = std::min(fastest, std::max(since(start), 1e-9));
  }
  return static_cast<double>(kSize * kSize * 2) / fastest;
}

}  // namespace pagoda::pipeline
