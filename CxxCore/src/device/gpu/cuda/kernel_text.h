// KernelText: what the CUDA backend knows of a kernel: its generated text, its parameters in order, its constants.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace pagoda::device::gpu::cuda {

struct KernelParameter {
  int index = 0;           // of its [[buffer]]
  size_t value_bytes = 0;  // passed by value; 0: the address of a buffer
  bool is_written = false;
};

struct KernelText {
  std::string_view name, source;
  std::span<const KernelParameter> parameters;
  std::span<const std::string_view> constants;
};

using KernelFinder = const KernelText* (*)(std::string_view name);  // null: there is none

}  // namespace pagoda::device::gpu::cuda
