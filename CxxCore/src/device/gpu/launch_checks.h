// Checks that every backend makes before it accepts a pipeline or a launch, so that all give the same
// errors.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu/backend.h"
#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu {

// The kernel of that name, if exactly its function constants are given, each once.
Result<const KernelInfo*> check_pipeline(std::span<const KernelFile> files, std::string_view kernel,
                                         std::span<const Constant> constants);

// The values of the kernel's constants, in its order, after check_pipeline().
std::vector<uint32_t> constant_bits(const KernelInfo& kernel, std::span<const Constant> constants);

// Checks that the number of threads is a multiple of 32 within the kernel's limit, and that each binding is given,
// within its buffer, aligned to its element, and has the size of its values.
Status check_launch(const KernelInfo& kernel, Size3 groups, Size3 threads, std::span<const Binding> bindings);

// Checks that a copy of `size_bytes` from or to `offset_bytes` is within the buffer.
Status check_copy(const Buffer& buffer, int64_t offset_bytes, size_t size_bytes);

}  // namespace pagoda::device::gpu
