// Which texts of kernels are for the tensor operations of Metal 4: Metal before it has no such headers, CUDA no text.
#pragma once

#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu {

inline bool has_tensors(const KernelSource& source) noexcept {
  return source.metal.find("#include <metal_tensor>") != std::string_view::npos;
}

}  // namespace pagoda::device::gpu
