// CudaBench: the CUDA backend over a fake driver, with two adding kernels and two buffers.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/cuda/fake_cuda.h"
#include "support/test.h"

namespace pagoda::test {

// out[i] = x[i] + value, under two names.
inline constexpr device::gpu::BindingInfo kAdderBindings[] = {
    {"out", 0, device::gpu::BindingKind::buffer, 4, true},
    {"value", 2, device::gpu::BindingKind::values, sizeof(float), false},
    {"x", 5, device::gpu::BindingKind::buffer, 4, false}};
inline constexpr device::gpu::ConstantInfo kAdderConstants[] = {{"has_bias", 0, device::gpu::ConstantType::bool_},
                                                                {"limit", 1, device::gpu::ConstantType::float_}};
inline constexpr device::gpu::KernelInfo kAdderKernels[] = {{"adder", "adders", kAdderBindings, kAdderConstants, 256},
                                                            {"other", "adders", kAdderBindings, kAdderConstants, 256}};
inline const device::gpu::KernelFile kAdderFiles[] = {{kAdderKernels, {"adders", "text", "entries"}}};
inline constexpr device::gpu::Constant kAdderPlain[] = {{"has_bias", 0}, {"limit", 0}};

inline bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// A backend over a fresh fake, and two buffers.
struct CudaBench {
  explicit CudaBench(bool has_early_edges = false, int major = 9) {
    fake_cuda() = {};
    fake_cuda().major = major;
    device::gpu::cuda::Driver driver = fake_driver();
    if (!has_early_edges) driver.cuGraphAddDependencies_v2 = nullptr;  // as in older drivers
    auto made = device::gpu::cuda::CudaBackend::make(driver, fake_nvrtc(), kAdderFiles);
    CHECK(made.is_ok());
    backend = std::move(*made);
    x = std::move(*backend->allocate(64, "x"));
    out = std::move(*backend->allocate(64, "out"));
    fake_cuda().diary.clear();
  }
  const device::gpu::Pipeline& pipeline(const char* name) { return **backend->pipeline(name, kAdderPlain); }
  void launch(const device::gpu::Pipeline& pipeline, uint32_t groups, float value, device::Buffer* to = nullptr) {
    const std::array bindings = {device::gpu::Binding{.index = 0, .buffer = to != nullptr ? to : out.get()},
                                 device::gpu::Binding{.index = 2, .values = &value, .size_bytes = sizeof value},
                                 device::gpu::Binding{.index = 5, .buffer = x.get(), .offset_bytes = 16}};
    backend->launch(pipeline, {groups}, {32}, bindings);
  }
  Status finish() { return static_cast<device::gpu::Backend&>(*backend).submit().wait(); }
  // The calls of the steps; a kernel is compiled in the first step that launches it.
  std::vector<std::string> take_diary() {
    auto diary = std::exchange(fake_cuda().diary, {});
    std::erase_if(diary,
                  [](const std::string& call) { return call.starts_with("compile") || call.starts_with("function"); });
    return diary;
  }

  std::unique_ptr<device::gpu::cuda::CudaBackend> backend;
  std::unique_ptr<device::Buffer> x, out;
};

}  // namespace pagoda::test
