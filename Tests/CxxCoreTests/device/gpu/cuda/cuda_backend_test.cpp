// The CUDA backend without a GPU: which libraries and GPUs it accepts, its memory, and faults of the device.
#include "device/gpu/cuda/cuda_bench.h"

using namespace pagoda;
using namespace pagoda::test;
using namespace pagoda::device;
using namespace pagoda::device::gpu;
using namespace pagoda::device::gpu::cuda;

PAGODA_TEST(cuda_without_a_driver_says_so) {
  const auto driver = load_driver({"libpagoda-no-such-driver.so"});
  CHECK(driver.status.code == StatusCode::unsupported);
  CHECK(contains(driver.status.message, "NVIDIA's driver cannot be opened here"));
  CHECK(contains(driver.status.message, "libpagoda-no-such-driver.so"));
  const auto nvrtc = load_nvrtc({"libpagoda-no-such-a.so", "libpagoda-no-such-b.so"});
  CHECK(nvrtc.status.code == StatusCode::unsupported);
  CHECK(contains(nvrtc.status.message, "NVRTC") && contains(nvrtc.status.message, "such-a") &&
        contains(nvrtc.status.message, "such-b"));
}

PAGODA_TEST(cuda_plans_with_the_memory_that_is_free) {
  for (const auto& [free_bytes, limit] : {std::pair<size_t, int64_t>{1000, 900}, {500, 485}}) {
    fake_cuda() = {};
    fake_cuda().free_bytes = free_bytes;
    const auto backend = CudaBackend::make(fake_driver(), fake_nvrtc(), kAdderFiles);
    REQUIRE_OK(backend);
    CHECK_EQ((*backend)->info().memory_limit_bytes, limit);
  }
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
  auto none = CudaBackend::make(fake_driver(), fake_nvrtc(), kAdderFiles);
  CHECK(none.status.code == StatusCode::unsupported && contains(none.status.message, "no GPU"));
  fake_cuda() = {};
  fake_cuda().major = 7;
  auto old = CudaBackend::make(fake_driver(), fake_nvrtc(), kAdderFiles);
  CHECK(old.status.code == StatusCode::unsupported &&
        contains(old.status.message, "Fake GPU has compute capability 7.0"));
  fake_cuda() = {};
  fake_cuda().fail_call = "cuStreamCreate";
  auto broken = CudaBackend::make(fake_driver(), fake_nvrtc(), kAdderFiles);
  CHECK(broken.status.code == StatusCode::device_error);
  CHECK_EQ(fake_cuda().live_contexts, 0);
}

PAGODA_TEST(cuda_copies_memory_and_frees_what_it_took) {
  {
    CudaBench bench;
    CHECK_EQ(bench.backend->info().name, "cuda");
    CHECK(contains(bench.backend->info().description, "Fake GPU"));
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
    CHECK(contains(refused.status.message, "KV pool, 123 bytes: out of memory"));
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

PAGODA_TEST(cuda_knows_a_fault_that_stays_from_one_that_passes) {
  CudaBench bench;
  const Pipeline& adder = bench.pipeline("adder");
  fake_cuda().fail_call = "function";
  bench.launch(adder, 1, 1.0f);
  CHECK(bench.finish().code == StatusCode::device_error);
  CHECK_OK(bench.backend->health());
  fake_cuda().fail_call = "cuStreamSynchronize";
  CHECK(bench.backend->health().code == StatusCode::device_error);
  fake_cuda().fail_call = "";
}

PAGODA_TEST(cuda_gives_results_that_the_host_sees) {
  CudaBench bench;
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
