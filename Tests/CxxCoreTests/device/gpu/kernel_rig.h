// KernelRig: launches a test kernel once on any backend, with inputs and outputs in host vectors.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/gpu/backend.h"
#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu::generated {
std::span<const KernelFile> test_files() noexcept;  // of Tests/Kernels
}

namespace pagoda::device::gpu::test_kernels {

// The binding of one index: bytes that are copied to the device and back.
struct Bound {
  int index = 0;
  std::vector<std::byte> bytes;

  template <class T>
  static Bound of(int index, const std::vector<T>& values) {
    Bound made{index, std::vector<std::byte>(values.size() * sizeof(T))};
    if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
  }
  template <class T>
  std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

inline Status run_kernel(Backend& backend, std::string_view kernel, Size3 groups, Size3 threads,
                         std::vector<Bound>& bound) {
  auto pipeline = backend.pipeline(kernel, {});
  if (!pipeline.is_ok()) return pipeline.status;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<Binding> bindings;
  for (const Bound& b : bound) {
    auto made = backend.allocate(b.bytes.size(), "binding " + std::to_string(b.index));
    if (!made.is_ok()) return made.status;
    buffers.push_back(std::move(*made));
    PAGODA_RETURN_IF_ERROR(backend.upload(*buffers.back(), 0, b.bytes.data(), b.bytes.size()));
    bindings.push_back({.index = b.index, .buffer = buffers.back().get()});
  }
  backend.launch(**pipeline, groups, threads, bindings);
  PAGODA_RETURN_IF_ERROR(backend.submit().wait());
  for (size_t i = 0; i < bound.size(); ++i)
    PAGODA_RETURN_IF_ERROR(backend.download(*buffers[i], 0, bound[i].bytes.data(), bound[i].bytes.size()));
  return ok_status();
}

}  // namespace pagoda::device::gpu::test_kernels
