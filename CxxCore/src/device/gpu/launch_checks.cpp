// Checks pipelines and launches against the kernel's source.
#include "device/gpu/launch_checks.h"

#include <string>

#include "base/concat.h"

namespace pagoda::device::gpu {

namespace {

Status refuse(std::string_view kernel, const std::string& why) {
  return make_error(StatusCode::invalid_argument, std::string(kernel) + ": " + why);
}

Status check_buffer(const KernelInfo& kernel, const BindingInfo& info, const Binding& binding) {
  if (!binding.buffer) return refuse(kernel.name, std::string(info.name) + " takes a buffer");
  const int64_t size = static_cast<int64_t>(binding.buffer->size_bytes());
  const int64_t end = binding.offset_bytes + static_cast<int64_t>(binding.size_bytes);
  if (binding.offset_bytes < 0 || end > size || binding.offset_bytes > size)
    return refuse(kernel.name, concat(info.name, " is bound to bytes ", binding.offset_bytes, " to ", end,
                                      " of a buffer of ", size));
  if (binding.offset_bytes % static_cast<int64_t>(info.element_bytes) != 0)
    return refuse(kernel.name, concat(info.name, " begins at byte ", binding.offset_bytes,
                                      ", no multiple of its element's ", info.element_bytes));
  return ok_status();
}

Status check_values(const KernelInfo& kernel, const BindingInfo& info, const Binding& binding) {
  if (!binding.values) return refuse(kernel.name, std::string(info.name) + " takes values");
  if (binding.size_bytes != info.element_bytes || binding.size_bytes > kMaxValuesBytes)
    return refuse(kernel.name, concat(info.name, " takes ", info.element_bytes, " bytes, not ", binding.size_bytes));
  return ok_status();
}

}  // namespace

Result<const KernelInfo*> check_pipeline(std::span<const KernelFile> files, std::string_view name,
                                         std::span<const Constant> constants) {
  const KernelInfo* kernel = find_kernel(files, name);
  if (!kernel) return make_error(StatusCode::not_found, "no kernel named '" + std::string(name) + "'");
  for (const Constant& given : constants) {
    int count = 0;
    for (const ConstantInfo& info : kernel->constants) count += info.name == given.name;
    if (count == 0) return refuse(name, "no function constant named '" + std::string(given.name) + "'");
  }
  for (const ConstantInfo& info : kernel->constants) {
    int count = 0;
    for (const Constant& given : constants) count += info.name == given.name;
    if (count != 1)
      return refuse(name, concat("function constant '", info.name, "' is given ", count, " times, not once"));
  }
  return kernel;
}

std::vector<uint32_t> constant_bits(const KernelInfo& kernel, std::span<const Constant> constants) {
  std::vector<uint32_t> bits;
  for (const ConstantInfo& info : kernel.constants)
    for (const Constant& given : constants)
      if (given.name == info.name) bits.push_back(given.bits);
  return bits;
}

Status check_launch(const KernelInfo& kernel, Size3 groups, Size3 threads, std::span<const Binding> bindings) {
  const uint64_t num_threads = uint64_t{threads.x} * threads.y * threads.z;
  if (num_threads == 0 || num_threads % 32 != 0 || num_threads > kernel.max_threads)
    return refuse(kernel.name, concat(num_threads, " threads a threadgroup: must be a multiple of 32, at most ",
                                      kernel.max_threads));
  const uint64_t num_groups = uint64_t{groups.x} * groups.y * groups.z;
  if (num_groups > UINT32_MAX) return refuse(kernel.name, concat(num_groups, " threadgroups are too many"));
  for (const BindingInfo& info : kernel.bindings) {
    const Binding* found = nullptr;
    for (const Binding& binding : bindings)
      if (binding.index == info.index) found = &binding;
    if (!found) return refuse(kernel.name, "nothing is bound to " + std::string(info.name));
    PAGODA_RETURN_IF_ERROR(info.kind == BindingKind::values ? check_values(kernel, info, *found)
                                                            : check_buffer(kernel, info, *found));
  }
  if (bindings.size() != kernel.bindings.size())
    return refuse(kernel.name, concat(bindings.size(), " bindings are given, the kernel has ", kernel.bindings.size()));
  return ok_status();
}

Status check_copy(const Buffer& buffer, int64_t offset, size_t size) {
  if (offset >= 0 && static_cast<size_t>(offset) <= buffer.size_bytes() &&
      size <= buffer.size_bytes() - static_cast<size_t>(offset))
    return ok_status();
  return make_error(StatusCode::invalid_argument,
                    concat("copy of ", size, " bytes at ", offset, " of a buffer of ", buffer.size_bytes()));
}

}  // namespace pagoda::device::gpu
