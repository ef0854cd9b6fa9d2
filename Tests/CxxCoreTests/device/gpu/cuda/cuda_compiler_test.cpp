// The CUDA backend's compiler without a GPU: a kernel is compiled once for its constants, and errors are reported.
#include <algorithm>

#include "device/gpu/cuda/cuda_bench.h"
#include "device/gpu/tensor_texts.h"

using namespace pagoda;
using namespace pagoda::test;
using namespace pagoda::device;
using namespace pagoda::device::gpu;
using namespace pagoda::device::gpu::cuda;

PAGODA_TEST(cuda_compiles_a_kernel_once_for_its_constants) {
  CudaBench bench;
  const Constant limited[] = {{"limit", 0x3fc00000u}, {"has_bias", 1}};
  const auto first = bench.backend->pipeline("adder", limited);
  REQUIRE(first.is_ok());
  CHECK(*first == *bench.backend->pipeline("adder", limited));
  CHECK(*first != *bench.backend->pipeline("adder", kAdderPlain));
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
    CHECK(i > 0 || (contains(all, "sm_90") && contains(all, "-DMSL_ONLY=adder ") &&
                    contains(all, "-DMSL_CONSTANT_has_bias=true -DMSL_CONSTANT_limit=0x1.8p+0f")));
  }
  bench.launch(bench.pipeline("adder"), 1, 1.0f);
  bench.launch(bench.pipeline("other"), 1, 1.0f);
  bench.launch(**first, 1, 1.0f);
  CHECK_OK(bench.finish());
  const std::string all = compiled();  // in parallel, in any order
  CHECK_EQ(std::ranges::count(all, '\n'), 2);
  CHECK(contains(all, "MSL_ONLY=adder -DMSL_CONSTANT_has_bias=false -DMSL_CONSTANT_limit=0x0p+0f"));
  CHECK(contains(all, "MSL_ONLY=other -DMSL_CONSTANT_has_bias=false"));
  CHECK(contains(bench.backend->pipeline("subtractor", kAdderPlain).status.message, "subtractor"));
  const Constant wrong[] = {{"has_bias", 0}, {"limt", 1}};
  CHECK(contains(bench.backend->pipeline("adder", wrong).status.message, "limt"));
}

PAGODA_TEST(cuda_reports_the_output_of_the_compiler) {
  CudaBench bench;
  const Pipeline& adder = bench.pipeline("adder");
  for (const char* call : {"compile", "function"}) {
    fake_cuda().fail_call = call;
    bench.launch(adder, 1, 1.0f);
    const Status status = bench.finish();
    const bool is_compiler = std::string(call) == "compile";
    CHECK(status.code == (is_compiler ? StatusCode::internal : StatusCode::device_error));
    if (is_compiler) CHECK(contains(status.message, "kernel adder does not compile: NVRTC_ERROR_COMPILATION"));
    if (is_compiler) CHECK(contains(status.message, "expected a declaration"));
    CHECK(bench.take_diary().empty());  // no part of the step ran
  }
  fake_cuda().fail_call = "";
  bench.launch(adder, 1, 1.0f);
  CHECK_OK(bench.finish());
  CHECK_EQ(fake_cuda().live_modules, 1);
}

// Needs NVRTC but no GPU: compiles every kernel, with constants of all zeros and of all ones.
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
        const auto code = compiler.compile(kernel, file.source, constants);
        CHECK_OK(code.status);
        ++compiled;
        if (kernel.constants.empty()) break;
      }
  note(std::to_string(compiled) + " pipelines compiled");
  CHECK(compiled > 0);
}
