// The CUDA backend without a GPU: what it asks of the driver, in which order, and what its errors say.
#include "device/gpu/cuda/cuda_backend.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "device/gpu/fake_cuda.h"
#include "device/gpu/tensor_texts.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using namespace pagoda::device;
using namespace pagoda::device::gpu;
using namespace pagoda::device::gpu::cuda;

namespace {

// out[i] = x[i] + value, by two names.
constexpr BindingInfo kBindings[] = {{"out", 0, BindingKind::buffer, 4, true},
                                     {"value", 2, BindingKind::values, sizeof(float), false},
                                     {"x", 5, BindingKind::buffer, 4, false}};
constexpr ConstantInfo kConstants[] = {{"has_bias", 0, ConstantType::bool_}, {"limit", 1, ConstantType::float_}};
constexpr KernelInfo kKernels[] = {{"adder", "adders", kBindings, kConstants, 256},
                                   {"other", "adders", kBindings, kConstants, 256}};
const KernelFile kFiles[] = {{kKernels, {"adders", "", "cuda text"}}};
constexpr Constant kPlain[] = {{"has_bias", 0}, {"limit", 0}};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// A backend over a fresh fake, and two buffers.
struct Bench {
  explicit Bench(bool has_early_edges = false, int major = 9) {
    fake_cuda() = {};
    fake_cuda().major = major;
    Driver driver = fake_driver();
    if (!has_early_edges) driver.cuGraphAddDependencies_v2 = nullptr;  // as of older drivers
    auto made = CudaBackend::make(driver, fake_nvrtc(), kFiles);
    CHECK(made.is_ok());
    backend = std::move(*made);
    x = std::move(*backend->allocate(64, "x"));
    out = std::move(*backend->allocate(64, "out"));
    fake_cuda().diary.clear();
  }
  const Pipeline& pipeline(const char* name) { return **backend->pipeline(name, kPlain); }
  void launch(const Pipeline& pipeline, uint32_t groups, float value, Buffer* to = nullptr) {
    const std::array bindings = {Binding{.index = 0, .buffer = to != nullptr ? to : out.get()},
                                 Binding{.index = 2, .values = &value, .size_bytes = sizeof value},
                                 Binding{.index = 5, .buffer = x.get(), .offset_bytes = 16}};
    backend->launch(pipeline, {groups}, {32}, bindings);
  }
  Status finish() { return static_cast<Backend&>(*backend).submit().wait(); }
  // The work of the steps; kernels are compiled in the first that launches them.
  std::vector<std::string> take_diary() {
    auto diary = std::exchange(fake_cuda().diary, {});
    std::erase_if(diary,
                  [](const std::string& call) { return call.starts_with("compile") || call.starts_with("function"); });
    return diary;
  }

  std::unique_ptr<CudaBackend> backend;
  std::unique_ptr<Buffer> x, out;
};

}  // namespace

PAGODA_TEST(cuda_without_a_driver_says_so) {
  const auto driver = load_driver({"libpagoda-no-such-driver.so"});
  CHECK(driver.status.code == StatusCode::unsupported);
  CHECK(has(driver.status.message, "NVIDIA's driver cannot be opened here"));
  CHECK(has(driver.status.message, "libpagoda-no-such-driver.so"));
  const auto nvrtc = load_nvrtc({"libpagoda-no-such-a.so", "libpagoda-no-such-b.so"});
  CHECK(nvrtc.status.code == StatusCode::unsupported);
  CHECK(has(nvrtc.status.message, "NVRTC") && has(nvrtc.status.message, "such-a") &&
        has(nvrtc.status.message, "such-b"));
}

PAGODA_TEST(cuda_names_the_function_that_a_library_lacks) {
#if defined(__linux__)
  const auto driver = load_driver({"libpagoda-no-such-driver.so", "libc.so.6"});
  CHECK(driver.status.code == StatusCode::unsupported);
  CHECK_EQ(driver.status.message, std::string("cuda: libc.so.6 has no cuInit: it is too old"));
#else
  note("there is no libc.so.6 on this system to stand for a library without the driver's functions");
#endif
}

PAGODA_TEST(cuda_refuses_machines_without_a_fitting_gpu) {
  fake_cuda() = {};
  fake_cuda().num_gpus = 0;
  auto none = CudaBackend::make(fake_driver(), fake_nvrtc(), kFiles);
  CHECK(none.status.code == StatusCode::unsupported && has(none.status.message, "no GPU"));
  fake_cuda() = {};
  fake_cuda().major = 7;
  auto old = CudaBackend::make(fake_driver(), fake_nvrtc(), kFiles);
  CHECK(old.status.code == StatusCode::unsupported && has(old.status.message, "Fake GPU has compute capability 7.0"));
  fake_cuda() = {};
  fake_cuda().fail_call = "cuStreamCreate";
  auto broken = CudaBackend::make(fake_driver(), fake_nvrtc(), kFiles);
  CHECK(broken.status.code == StatusCode::device_error);
  CHECK_EQ(fake_cuda().live_contexts, 0);
}

PAGODA_TEST(cuda_copies_memory_and_frees_what_it_took) {
  {
    Bench bench;
    CHECK_EQ(bench.backend->info().name, "cuda");
    CHECK(has(bench.backend->info().description, "Fake GPU"));
    const int32_t sent[4] = {1, 2, 3, 4};
    int32_t got[6] = {9, 9, 9, 9, 9, 9};
    CHECK_OK(bench.backend->upload(*bench.x, 8, sent, sizeof sent));
    CHECK_OK(bench.backend->download(*bench.x, 0, got, sizeof got));
    CHECK(got[0] == 0 && got[1] == 0 && got[2] == 1 && got[5] == 4);
    CHECK(bench.backend->upload(*bench.x, 52, sent, sizeof sent).code == StatusCode::internal);
    CHECK(bench.backend->download(*bench.x, -4, got, 4).code == StatusCode::internal);
    fake_cuda().fail_call = "cuMemAlloc_v2";
    fake_cuda().fail_result = 2;
    const auto refused = bench.backend->allocate(123, "KV pool");
    CHECK(refused.status.code == StatusCode::out_of_memory);
    CHECK(has(refused.status.message, "KV pool, 123 bytes: out of memory"));
    fake_cuda().fail_call = "";
    bench.launch(bench.pipeline("adder"), 1, 1.0f);
    CHECK_OK(bench.finish());
  }
  CHECK_EQ(fake_cuda().live_buffers, 0);
  CHECK_EQ(fake_cuda().live_modules, 0);
  CHECK_EQ(fake_cuda().live_graphs, 0);
  CHECK_EQ(fake_cuda().live_streams, 0);
  CHECK_EQ(fake_cuda().live_contexts, 0);
}

PAGODA_TEST(cuda_compiles_a_kernel_once_for_its_constants) {
  Bench bench;
  const Constant limited[] = {{"limit", 0x3fc00000u}, {"has_bias", 1}};
  const auto first = bench.backend->pipeline("adder", limited);
  REQUIRE(first.is_ok());
  CHECK(*first == *bench.backend->pipeline("adder", limited));
  CHECK(*first != *bench.backend->pipeline("adder", kPlain));
  CHECK(fake_cuda().diary.empty());
  const auto compiled = [&] {
    std::string all;
    for (const std::string& call : std::exchange(fake_cuda().diary, {}))
      if (call.starts_with("compile")) all += call + "\n";
    return all;
  };
  for (int i = 0; i < 2; ++i) {
    bench.launch(**first, 1, 1.0f);
    bench.launch(**first, 2, 1.0f);
    CHECK_OK(bench.finish());
    const std::string all = compiled();
    CHECK_EQ(std::ranges::count(all, '\n'), 1 - i);
    CHECK(i > 0 || (has(all, "sm_90") && has(all, "-DMSL_ONLY -DMSL_ONLY_adder ") &&
                    has(all, "-DMSL_CONSTANT_has_bias=true -DMSL_CONSTANT_limit=0x1.8p+0f")));
  }
  bench.launch(bench.pipeline("adder"), 1, 1.0f);
  bench.launch(bench.pipeline("other"), 1, 1.0f);
  bench.launch(**first, 1, 1.0f);
  CHECK_OK(bench.finish());
  const std::string all = compiled();  // side by side, in any order
  CHECK_EQ(std::ranges::count(all, '\n'), 2);
  CHECK(has(all, "MSL_ONLY_adder -DMSL_CONSTANT_has_bias=false -DMSL_CONSTANT_limit=0x0p+0f"));
  CHECK(has(all, "MSL_ONLY_other -DMSL_CONSTANT_has_bias=false"));
  CHECK(has(bench.backend->pipeline("subtractor", kPlain).status.message, "subtractor"));
  const Constant wrong[] = {{"has_bias", 0}, {"limt", 1}};
  CHECK(has(bench.backend->pipeline("adder", wrong).status.message, "limt"));
}

PAGODA_TEST(cuda_tells_what_the_compiler_said) {
  Bench bench;
  const Pipeline& adder = bench.pipeline("adder");
  for (const char* call : {"compile", "function"}) {
    fake_cuda().fail_call = call;
    bench.launch(adder, 1, 1.0f);
    const Status status = bench.finish();
    const bool is_compiler = std::string(call) == "compile";
    CHECK(status.code == (is_compiler ? StatusCode::internal : StatusCode::device_error));
    if (is_compiler) CHECK(has(status.message, "kernel adder does not compile: NVRTC_ERROR_COMPILATION"));
    if (is_compiler) CHECK(has(status.message, "expected a declaration"));
    CHECK(bench.take_diary().empty());  // nothing of the step ran
  }
  fake_cuda().fail_call = "";
  bench.launch(adder, 1, 1.0f);
  CHECK_OK(bench.finish());
  CHECK_EQ(fake_cuda().live_modules, 1);
}

PAGODA_TEST(cuda_knows_a_fault_that_stays_from_one_that_passes) {
  Bench bench;
  const Pipeline& adder = bench.pipeline("adder");
  fake_cuda().fail_call = "function";
  bench.launch(adder, 1, 1.0f);
  CHECK(bench.finish().code == StatusCode::device_error);
  CHECK_OK(bench.backend->health());
  fake_cuda().fail_call = "cuStreamSynchronize";
  CHECK(bench.backend->health().code == StatusCode::device_error);
  fake_cuda().fail_call = "";
}

PAGODA_TEST(cuda_runs_launches_in_order_and_replays_steps) {
  Bench bench;
  const Pipeline &adder = bench.pipeline("adder"), &other = bench.pipeline("other");
  bench.take_diary();
  const auto step = [&](uint32_t groups, float value) {
    bench.launch(adder, groups, 1.0f);
    bench.launch(other, 4, value);
    bench.launch(adder, 0, 7.0f);  // nothing to do: no launch
    CHECK_OK(bench.finish());
    return bench.take_diary();
  };
  auto diary = step(3, 2.0f);
  REQUIRE(diary.size() == 4);
  CHECK(has(diary[0], "grid 3 block 32 value 1.0") && !has(diary[0], "after"));
  CHECK(has(diary[1], "grid 4 block 32 value 2.0") && has(diary[1], "after -1"));
  CHECK(diary[2] == "instantiate" && diary[3] == "launch");
  CHECK(diary[0].substr(4, 3) != diary[1].substr(4, 3));  // two functions

  CHECK(step(3, 2.0f) == std::vector<std::string>{"launch"});  // the same step: a replay
  diary = step(5, 2.0f);                                       // another grid: one node changes
  REQUIRE(diary.size() == 2);
  CHECK(has(diary[0], "set f") && has(diary[0], "grid 5 block 32 value 1.0"));
  diary = step(5, 2.5f);
  CHECK(diary.size() == 2 && has(diary[0], "grid 4 block 32 value 2.5"));
  CHECK(step(5, 2.5f).size() == 1);

  bench.launch(other, 4, 2.5f);  // another kind of step: another graph
  CHECK_OK(bench.finish());
  CHECK_EQ(bench.take_diary().size(), size_t{3});
  CHECK(step(5, 2.5f).size() == 1);  // and the first is still there
  CHECK_OK(bench.finish());          // nothing encoded: nothing runs
  CHECK(bench.take_diary().empty());
  CHECK_EQ(bench.backend->counts().instantiated, 2);
  CHECK_EQ(bench.backend->counts().nodes_updated, 2);
}

PAGODA_TEST(cuda_repeats_the_last_step_only) {
  Bench bench;
  Backend& backend = *bench.backend;
  const Pipeline& adder = bench.pipeline("adder");
  CHECK_EQ(backend.repeatable_step(), uint64_t{0});  // there was none
  bench.launch(adder, 3, 1.0f);
  CHECK_OK(bench.finish());
  const uint64_t first = backend.repeatable_step();
  CHECK(first != 0);
  bench.take_diary();
  CHECK_OK(backend.repeat().wait());
  CHECK(bench.take_diary() == std::vector<std::string>{"launch"});
  CHECK_EQ(backend.repeatable_step(), first);
  CHECK_EQ(bench.backend->counts().repeated, 1);

  bench.launch(adder, 4, 1.0f);
  CHECK_OK(bench.finish());
  CHECK(backend.repeatable_step() != 0 && backend.repeatable_step() != first);
  CHECK_OK(bench.finish());  // an empty step leaves nothing to repeat
  CHECK_EQ(backend.repeatable_step(), uint64_t{0});
  bench.launch(adder, 4, 1.0f);
  CHECK_OK(bench.finish());
  fake_cuda().fail_call = "launch";
  CHECK(backend.repeat().wait().code == StatusCode::device_error);
  CHECK_EQ(backend.repeatable_step(), uint64_t{0});
  fake_cuda().fail_call = "";
}

PAGODA_TEST(cuda_gives_results_that_the_host_sees) {
  Bench bench;
  auto made = bench.backend->allocate_readback(8, "tokens");
  REQUIRE(made.is_ok());
  CHECK((*made)->host_pointer() != nullptr && (*made)->host_pointer()[7] == std::byte{0});
  CHECK(bench.x->host_pointer() == nullptr);
  const int live = fake_cuda().live_buffers;
  made->reset();
  CHECK_EQ(fake_cuda().live_buffers, live - 1);
  fake_cuda().fail_call = "cuMemHostGetDevicePointer_v2";
  CHECK(bench.backend->allocate_readback(8, "tokens").status.code == StatusCode::device_error);
  CHECK_EQ(fake_cuda().live_buffers, live - 1);
  fake_cuda().fail_call = "";
}

PAGODA_TEST(cuda_lets_launches_run_side_by_side_that_touch_other_memory) {
  Bench bench;
  const Pipeline& adder = bench.pipeline("adder");
  auto other = std::move(*bench.backend->allocate(64, "other"));
  bench.take_diary();
  bench.launch(adder, 1, 1.0f);                 // out = x + 1
  bench.launch(adder, 1, 2.0f, other.get());    // other = x + 2: needs nothing of the first
  bench.launch(adder, 1, 3.0f, bench.x.get());  // x changes: waits for both
  bench.launch(adder, 1, 4.0f, other.get());    // waits for the third, and so for all
  CHECK_OK(bench.finish());
  const auto diary = bench.take_diary();
  REQUIRE(diary.size() == 6);
  CHECK(!has(diary[0], "after") && !has(diary[1], "after"));
  CHECK(has(diary[2], "after -2 after -1"));
  CHECK(has(diary[3], "after -1") && !has(diary[3], "after -2"));
  bench.launch(adder, 1, 1.0f);  // a new step waits for nothing of its own
  CHECK_OK(bench.finish());
  CHECK(!has(bench.take_diary()[0], "after"));
}

// An edge of a launch that waits for one other lets it begin early; one that waits for two has plain edges.
PAGODA_TEST(cuda_lets_a_launch_begin_before_the_one_it_waits_for_has_ended) {
  CHECK(!Bench().backend->overlaps_launches());         // a driver without the call
  CHECK(!Bench(true, 8).backend->overlaps_launches());  // a GPU whose kernels cannot wait
  Bench bench(true);
  CHECK(bench.backend->overlaps_launches());
  const Pipeline& adder = bench.pipeline("adder");
  auto other = std::move(*bench.backend->allocate(64, "other"));
  bench.take_diary();
  bench.launch(adder, 1, 1.0f);
  bench.launch(adder, 1, 2.0f, other.get());
  bench.launch(adder, 1, 3.0f, bench.x.get());  // waits for both
  bench.launch(adder, 1, 4.0f, other.get());    // waits for the third
  CHECK_OK(bench.finish());
  const auto diary = bench.take_diary();
  REQUIRE(diary.size() == 7);
  CHECK(has(diary[2], "after -2 after -1"));
  CHECK(!has(diary[3], "after"));
  CHECK(has(diary[4], "edge of 1 ports 1 0 type 1"));
  fake_cuda().fail_call = "edge";
  for (int i = 0; i < 3; ++i) bench.launch(adder, 1, 1.0f, other.get());
  CHECK(!bench.finish().is_ok());
}

PAGODA_TEST(cuda_keeps_a_bounded_number_of_graphs) {
  Bench bench;
  const Pipeline& adder = bench.pipeline("adder");
  for (int launches = 1; launches <= 40; ++launches) {
    for (int i = 0; i < launches; ++i) bench.launch(adder, 1, 1.0f);
    CHECK_OK(bench.finish());
  }
  CHECK_EQ(fake_cuda().live_graphs, 16);
  bench.take_diary();
  for (int i = 0; i < 40; ++i) bench.launch(adder, 1, 1.0f);
  CHECK_OK(bench.finish());
  CHECK_EQ(bench.take_diary().size(), size_t{1});  // the newest is kept
}

PAGODA_TEST(cuda_turns_faults_into_the_steps_status) {
  Bench bench;
  const Pipeline& adder = bench.pipeline("adder");
  for (const char* call : {"add", "instantiate", "launch", "cuStreamSynchronize"}) {
    fake_cuda().fail_call = call;
    bench.launch(adder, 1, 1.0f);
    bench.launch(adder, 1, 2.0f);
    const Status status = bench.finish();
    CHECK(status.code == StatusCode::device_error);
    CHECK(has(status.message, "an illegal memory access was encountered (700)"));
    fake_cuda().fail_call = "";
    if (call != std::string("cuStreamSynchronize")) CHECK_EQ(fake_cuda().live_graphs, 0);
    bench.launch(adder, 1, 1.0f);
    CHECK_OK(bench.finish());
  }
  fake_cuda().fail_call = "set";
  bench.launch(adder, 9, 1.0f);
  CHECK(bench.finish().code == StatusCode::device_error);
  CHECK_EQ(fake_cuda().live_graphs, 0);  // a half changed graph never runs again
}

PAGODA_TEST(cuda_refuses_launches_that_cannot_work) {
  Bench bench;
  const Pipeline& adder = bench.pipeline("adder");
  bench.take_diary();
  float value = 1;
  const std::array bindings = {Binding{.index = 0, .buffer = bench.out.get()},
                               Binding{.index = 2, .values = &value, .size_bytes = 4},
                               Binding{.index = 5, .buffer = bench.x.get()}};
  bench.backend->launch(adder, {1}, {512}, bindings);
  CHECK(has(bench.finish().message, "adder: "));
  bench.backend->launch(adder, {1}, {32}, std::span(bindings).first(2));
  bench.launch(adder, 1, 1.0f);  // not run either: its step failed
  CHECK(has(bench.finish().message, "adder: "));
  auto narrow = bindings;
  narrow[1].size_bytes = 2;
  bench.backend->launch(adder, {1}, {32}, narrow);
  CHECK(has(bench.finish().message, "adder: value takes 4"));
  CHECK(bench.take_diary().empty());
  CHECK_OK(bench.finish());
}

PAGODA_TEST(cuda_times_its_steps) {
  Bench bench;
  for (int i = 0; i < 3; ++i) {
    bench.launch(bench.pipeline("adder"), 1, 1.0f);
    CHECK_OK(bench.finish());
  }
  const StepTimes times = bench.backend->take_step_times();
  CHECK_EQ(times.steps, 3);
  CHECK_EQ(times.seconds, 0.75e-3);
  CHECK_EQ(bench.backend->take_step_times().steps, 0);
}

// Needs NVRTC and no GPU: every kernel, with constants of all zeros and of all ones.
PAGODA_TEST(cuda_compiles_every_kernel_where_nvrtc_is) {
  const auto nvrtc = load_nvrtc();
  if (!nvrtc.is_ok()) return note("not run: " + nvrtc.status.message);
  const Compiler compiler(*nvrtc, 9, 0);
  int compiled = 0;
  for (const KernelFile& file : generated::files())
    for (const KernelInfo& kernel : has_tensors(file.source) ? std::span<const KernelInfo>() : file.kernels)
      for (uint32_t bits : {0u, 1u}) {
        std::vector<Constant> constants;
        for (const ConstantInfo& info : kernel.constants) constants.push_back({info.name, bits});
        const auto code = compiler.compile(kernel, file.source.cuda, constants);
        CHECK_OK(code.status);
        ++compiled;
        if (kernel.constants.empty()) break;
      }
  note(std::to_string(compiled) + " pipelines compiled");
  CHECK(compiled > 0);
}
