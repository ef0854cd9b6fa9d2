// Counts of the GPU device: launches of a decode step without running it, and the time of each kernel.
#include "device/gpu/counting.h"

#include <algorithm>

#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/cuda/fake_cuda.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/software/software_backend.h"
#include "device/rig.h"
#include "device/support.h"
#include "engine/load/loader.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using device::Tensor;

// A token of a sequence with `context` tokens before it.
model::ForwardBatch decode_token(int32_t context, int32_t max_blocks) {
  model::ForwardBatch batch;
  batch.token_ids = {1};
  batch.positions = {context};
  batch.slot_mapping = {context};
  batch.cu_seqlens = {0, 1};
  batch.context_lens = {context + 1};
  for (int32_t i = 0; i < max_blocks; ++i) batch.block_tables.push_back(i);
  batch.state_slots = {0};
  batch.logits_rows = {0};
  batch.draws.push_back({.top_k = 1});
  return batch;
}

// Launches of a decode step at 128 tokens of context, or the barriers between them.
int64_t decode_launches(const std::string& device, const std::string& format, bool barriers = false,
                        const std::string& shape = "qwen3.5-0.8b") {
  ModelSource source;
  source.shape = shape;
  EngineOptions options;
  options.device = device;
  options.quantize = format;
  options.max_model_len = 256;
  options.max_num_seqs = 1;
  auto loaded = engine::load(source, options, nullptr);
  CHECK_OK(loaded);
  if (!loaded.is_ok()) return 0;
  loaded->device->set_profiling(true);
  CHECK_OK(loaded->model->forward(decode_token(128, loaded->core.limits.max_blocks_per_seq)));
  int64_t launches = 0;
  for (const OpTime& op : loaded->device->take_profile())
    if ((op.name == "barrier") == barriers) launches += op.calls;
  return launches;
}

// A norm, a product and another norm: kernels by name.
std::vector<OpTime> kernels_of(Rig& rig) {
  constexpr int64_t kWidth = 64;
  Random random(seed(17));
  const Tensor x = rig.floats(random.normal(2 * kWidth), {2, kWidth}), out = rig.zeros(DType::f32, {2, kWidth});
  const Tensor norm = rig.floats(random.normal(kWidth), {kWidth});
  device::Weight* weight = rig.weight(random.normal(kWidth * kWidth), kWidth, kWidth, WeightFormat::f32);
  const Tensor product = rig.zeros(DType::f32, {2, kWidth});
  for (int i = 0; i < 2; ++i)
    CHECK_OK(ops::rms_norm(rig.encoder(), {.x = x, .residual = {}, .weight = norm, .out = out}));
  CHECK_OK(ops::matmul(rig.encoder(), {.x = out, .weight = weight, .bias = {}, .out = product}));
  CHECK_OK(rig.finish());
  return rig.device().take_profile();
}

// The kernels of a product that is large enough for any tile.
std::vector<OpTime> large_product(const char* device) {
  constexpr int64_t kRows = 1024, kOut = 1024, kWidth = 64;
  Rig rig(device);
  const Tensor x = rig.zeros(DType::f32, {kRows, kWidth}), out = rig.zeros(DType::f32, {kRows, kOut});
  device::Weight* weight = rig.weight(std::vector<float>(kOut * kWidth), kOut, kWidth, WeightFormat::bf16);
  device::set_kernel_timing(rig.device(), true);
  CHECK_OK(ops::matmul(rig.encoder(), {.x = x, .weight = weight, .bias = {}, .out = out}));
  CHECK_OK(rig.finish());
  return rig.device().take_profile();
}

const OpTime* find(const std::vector<OpTime>& times, const char* name) {
  const auto found = std::ranges::find(times, name, &OpTime::name);
  return found != times.end() ? &*found : nullptr;
}

}  // namespace

// 24 layers of 5 launches, plus the embedding, the last norm, the head and two to select the token.
// Where launches overlap, norms and gates are separate launches.
PAGODA_TEST(gpu_count_of_launches_for_a_token_of_the_0_8b_shape) {
  CHECK_EQ(decode_launches("dry", "bf16"), 24 * 5 + 5);
  CHECK_EQ(decode_launches("dry:overlap", "bf16"), 197);
  CHECK_EQ(decode_launches("dry", "8bit"), 24 * 5 + 5);
  CHECK_EQ(decode_launches("dry:overlap", "8bit"), 197);
  CHECK_EQ(decode_launches("dry", "4bit"), 24 * 5 + 5);
  CHECK_EQ(decode_launches("dry:overlap", "4bit"), 198);  // rounds the row of the vocabulary before
}

// Each launch but the first reads what the one before it wrote.
PAGODA_TEST(gpu_count_of_barriers_for_a_token_of_the_0_8b_shape) {
  CHECK_EQ(decode_launches("dry", "4bit", true), 24 * 5 + 4);
  CHECK_EQ(decode_launches("dry", "4bit", true, "qwen3.5-4b"), 32 * 5 + 4);
}

// The shared expert of a layer does not wait for the router's choice, nor sorting by expert for the shared expert.
PAGODA_TEST(gpu_count_of_barriers_for_a_token_of_a_mixture) {
  const std::string shape = "qwen3.5-35b-a3b";
  CHECK_EQ(decode_launches("dry", "4bit", false, shape), 564);
  CHECK_EQ(decode_launches("dry", "4bit", true, shape), 563 - 2 * 40);
}

// The first is as Apple's GPUs, whose threads have 128 registers.
PAGODA_TEST(gpu_count_of_kernels_fits_the_registers) {
  const auto narrow = large_product("dry"), wide = large_product("dry:overlap");
  CHECK(find(narrow, "matmul_tiles_bf16_4") && !find(narrow, "matmul_tiles_bf16_8"));
  CHECK(find(wide, "matmul_tiles_bf16_8") && !find(wide, "matmul_tiles_bf16_4"));
}

PAGODA_TEST(gpu_count_times_each_kernel_alone) {
  Rig rig("software");
  rig.device().set_profiling(true);
  device::set_kernel_timing(rig.device(), true);
  const auto times = kernels_of(rig);
  for (const OpTime& time : times) note(time.name + ": " + std::to_string(time.seconds * 1e6) + " us");
  const OpTime *norm = find(times, "rms_norm"), *product = find(times, "matmul_f32");
  REQUIRE(times.size() == 2 && norm && product);
  CHECK(norm->calls == 2 && norm->seconds > 0 && product->calls == 1 && product->seconds > 0);
  device::set_kernel_timing(rig.device(), false);
  const auto ops = kernels_of(rig);
  CHECK(find(ops, "matmul") && !find(ops, "matmul_f32"));
}

// An error in a launch that is waited for immediately is reported as the step's error.
PAGODA_TEST(gpu_count_reports_what_goes_wrong_while_it_times_kernels) {
  constexpr int64_t kWidth = 300;
  auto backend = device::gpu::software::SoftwareBackend::create({.num_threads = 1, .max_rounds = 100});
  REQUIRE_OK(backend);
  Rig rig(device::gpu::make_gpu_device(std::move(*backend)));
  device::set_kernel_timing(rig.device(), true);
  const Tensor x = rig.zeros(DType::f32, {2, kWidth}), out = rig.zeros(DType::f32, {2, kWidth});
  const Tensor norm = rig.zeros(DType::f32, {kWidth});
  for (int i = 0; i < 2; ++i)
    CHECK_OK(ops::rms_norm(rig.encoder(), {.x = x, .residual = {}, .weight = norm, .out = out}));
  CHECK(rig.finish().message.find("endless loop") != std::string::npos);
  CHECK_OK(rig.finish());
}

// On CUDA the times come from events: 0.25 ms for every step on the fake driver.
PAGODA_TEST(gpu_count_takes_the_devices_own_times_of_kernels) {
  namespace gpu = device::gpu;
  fake_cuda() = {};
  auto backend = gpu::cuda::CudaBackend::make(fake_driver(), fake_nvrtc(), gpu::generated::files());
  REQUIRE_OK(backend);
  Rig rig(gpu::make_gpu_device(std::move(*backend)));
  rig.device().set_profiling(true);
  device::set_kernel_timing(rig.device(), true);
  const auto times = kernels_of(rig);
  const OpTime* norm = find(times, "rms_norm");
  REQUIRE(norm != nullptr);
  CHECK_EQ(norm->calls, 2);
  CHECK_EQ(norm->seconds, 2 * 0.25e-3);
}

}  // namespace pagoda::test
