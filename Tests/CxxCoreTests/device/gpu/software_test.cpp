// The software device: a kernel of Shaders/ from source to results, and launches that the device refuses.
#include "device/gpu/software/software_backend.h"

#include <cmath>
#include <random>

#include "args/rms_norm.h"
#include "device/gpu/generated/bindings.h"
#include "support/test.h"

namespace pagoda::device::gpu::software {
namespace {

namespace rms = kernels::rms_norm;
constexpr uint32_t kRows = 5, kWidth = 300;

struct RmsNormRun {
  std::vector<float> x, residual, weight, out;
  Status status;
};

// Runs rms_norm on rows of random numbers; `spoil` changes the bindings first.
template <class Spoil>
RmsNormRun run_rms_norm(const Options& options, bool has_residual, Spoil spoil) {
  RmsNormRun run;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> numbers(-1.0f, 1.0f);
  for (auto* v : {&run.x, &run.residual, &run.out}) v->resize(kRows * kWidth);
  run.weight.resize(kWidth);
  for (auto* v : {&run.x, &run.residual, &run.weight})
    for (float& f : *v) f = numbers(random);
  auto backend = SoftwareBackend::create(options);
  if (!backend.is_ok()) return {{}, {}, {}, {}, backend.status};
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (auto* v : {&run.x, &run.residual, &run.weight, &run.out}) {
    auto made = (*backend)->allocate(v->size() * sizeof(float), "numbers");
    if (!made.is_ok()) return {{}, {}, {}, {}, made.status};
    buffers.push_back(std::move(*made));
    (void)(*backend)->upload(*buffers.back(), 0, v->data(), v->size() * sizeof(float));
  }
  const Constant constants[] = {{kernels::rms_norm_constants::has_residual, has_residual}};
  auto pipeline = (*backend)->pipeline(rms::kernel, constants);
  if (!pipeline.is_ok()) return {{}, {}, {}, {}, pipeline.status};
  const pagoda_args::RmsNorm args = {kWidth, kWidth, kWidth, kWidth, 1e-6f, 1.0f};
  std::vector<Binding> bindings = {{.index = rms::x, .buffer = buffers[0].get()},
                                   {.index = rms::residual, .buffer = buffers[1].get()},
                                   {.index = rms::weight, .buffer = buffers[2].get()},
                                   {.index = rms::out, .buffer = buffers[3].get()},
                                   {.index = rms::args, .values = &args, .size_bytes = sizeof args}};
  Size3 threads{256, 1, 1};
  spoil(bindings, threads);
  (*backend)->launch(**pipeline, {kRows, 1, 1}, threads, bindings);
  run.status = (*backend)->submit().wait();
  (void)(*backend)->download(*buffers[3], 0, run.out.data(), run.out.size() * sizeof(float));
  return run;
}

RmsNormRun run_rms_norm(const Options& options, bool has_residual = true) {
  return run_rms_norm(options, has_residual, [](auto&, auto&) {});
}

PAGODA_TEST(gpu_software_runs_a_kernel_of_the_text) {
  for (const bool has_residual : {false, true}) {
    const RmsNormRun run = run_rms_norm(installed_options(), has_residual);
    REQUIRE_OK(run.status);
    for (uint32_t row = 0; row < kRows; ++row) {
      double sum = 0;
      const auto at = [&](uint32_t i) {
        return double(run.x[row * kWidth + i]) + (has_residual ? run.residual[row * kWidth + i] : 0.0f);
      };
      for (uint32_t i = 0; i < kWidth; ++i) sum += at(i) * at(i);
      for (uint32_t i = 0; i < kWidth; ++i) {
        const double want = at(i) / std::sqrt(sum / kWidth + 1e-6) * (run.weight[i] + 1.0);
        CHECK(std::abs(run.out[row * kWidth + i] - want) < 1e-6 * (1 + std::abs(want)));
      }
    }
  }
}

PAGODA_TEST(gpu_software_gives_the_same_bits_in_any_order_of_threads) {
  const std::vector<float> want = run_rms_norm({}).out;
  for (Order order : {Order::forward, Order::reverse, Order::shuffled, Order::random})
    for (uint64_t seed = 1; seed <= 2; ++seed)
      for (int num_threads : {1, 3}) {
        const RmsNormRun run = run_rms_norm({.order = order, .seed = seed, .num_threads = num_threads});
        CHECK_OK(run.status);
        CHECK(run.out == want);
      }
}

void refused(const std::string& part, void (*spoil)(std::vector<Binding>&, Size3&)) {
  const RmsNormRun run = run_rms_norm({}, true, spoil);
  test::note(part + ": " + run.status.message);
  CHECK(!run.status.is_ok());
  CHECK(run.status.message.find(part) != std::string::npos);
}

PAGODA_TEST(gpu_software_refuses_launches_that_the_text_does_not_allow) {
  refused("nothing is bound to weight", [](auto& bindings, auto&) { bindings.erase(bindings.begin() + 2); });
  refused("args takes 24 bytes, not 20", [](auto& bindings, auto&) { bindings[4].size_bytes = 20; });
  refused("args takes values", [](auto& bindings, auto&) { bindings[4] = {.index = 4, .buffer = bindings[0].buffer}; });
  refused("out begins at byte 2", [](auto& bindings, auto&) { bindings[3].offset_bytes = 2; });
  refused("of a buffer of 1200", [](auto& bindings, auto&) { bindings[2].offset_bytes = 1204; });
  refused("100 threads a threadgroup", [](auto&, Size3& threads) { threads.x = 100; });
  refused("at most 256", [](auto&, Size3& threads) { threads.x = 512; });
  refused("6 bindings are given", [](auto& bindings, auto&) {
    bindings.push_back(bindings[0]);
    bindings.back().index = 9;
  });
}

PAGODA_TEST(gpu_software_refuses_unknown_kernels_and_constants) {
  auto backend = SoftwareBackend::create({.num_threads = 1});
  REQUIRE_OK(backend);
  CHECK_EQ((*backend)->pipeline("rms_nrom", {}).status.message, std::string("no kernel named 'rms_nrom'"));
  CHECK_EQ((*backend)->pipeline(rms::kernel, {}).status.message,
           std::string("rms_norm: function constant 'has_residual' is given 0 times, not once"));
  const Constant wrong[] = {{"has_residul", 1}};
  CHECK_EQ((*backend)->pipeline(rms::kernel, wrong).status.message,
           std::string("rms_norm: no function constant named 'has_residul'"));
  const Constant right[] = {{"has_residual", 1}};
  const auto first = (*backend)->pipeline(rms::kernel, right), second = (*backend)->pipeline(rms::kernel, right);
  REQUIRE_OK(first);
  CHECK(*first == *second);
}

PAGODA_TEST(gpu_software_ends_a_threadgroup_that_runs_out_of_rounds) {
  const RmsNormRun run = run_rms_norm({.max_rounds = 100});
  CHECK(run.status.message.find("endless loop") != std::string::npos);
  CHECK(run.status.code == StatusCode::device_error);
}

}  // namespace
}  // namespace pagoda::device::gpu::software
