// Memory of devices that compute on the host: buffers, copies in and out, and the memory limit of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "device/tensor.h"

namespace pagoda::device::host {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;  // buffers of at least this size are aligned to it and use huge pages

// Zero-filled. Fails with out_of_memory, naming both sizes, if the machine has less memory or the system refuses it.
Result<std::unique_ptr<Buffer>> make_buffer(size_t size_bytes, const std::string& label);

// Checks that `t` is dense and has `size_bytes`; `what` names the copy in the error.
Status check_copy(const Tensor& t, size_t size_bytes, const char* what) noexcept;

Status upload(const Tensor& t, const void* from, size_t size_bytes) noexcept;
Status download(const Tensor& t, void* to, size_t size_bytes) noexcept;

// 90 % of physical memory, or of the process's memory limit if that is smaller: that of its cgroup or, on iOS, the
// memory that was still available when this was first called.
int64_t memory_limit_bytes() noexcept;

}  // namespace pagoda::device::host
