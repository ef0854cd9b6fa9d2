// Which kernel sources use the tensor operations of Metal 4: earlier versions of Metal lack the headers, and CUDA has
// no such source.
#pragma once

#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu {

inline bool has_tensors(const KernelSource& source) noexcept {
  return source.text.find("#include <metal_tensor>") != std::string_view::npos;
}

}  // namespace pagoda::device::gpu
