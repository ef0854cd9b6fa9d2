// The parts shared by all ops of the GPU encoder: checks, launches, and the end of a step.
#include "device/gpu/gpu_encoder.h"

#include <array>
#include <utility>

#include "base/concat.h"

namespace pagoda::device::gpu {

Status check_cache_type(DType dtype) noexcept {
  if (has_kernels(dtype)) return ok_status();
  return make_error(StatusCode::unsupported, "GPU kernels have KV caches of float32, float16 and bfloat16, not " +
                                                 std::string(dtype_name(dtype)));
}

bool GpuEncoder::check(Status status) noexcept {
  if (status.is_ok()) return true;
  if (fault_.is_ok()) fault_ = std::move(status);
  return false;
}

bool GpuEncoder::check_scratch(const ScratchSizes& needed, const char* op) noexcept {
  if (needed.fits(scratch_.sizes)) return true;
  return check(make_error(StatusCode::internal,
                          concat(op, " needs ", needed.total(), " bytes of scratch, more than was reserved")));
}

const Pipeline* GpuEncoder::pipeline(const KernelId& kernel, std::initializer_list<Constant> constants) noexcept {
  size_t at = static_cast<size_t>(kernel.number) << kMaxConstants;
  if (constants.size() > kMaxConstants) {
    check(make_error(StatusCode::internal, std::string(kernel.name) + " has more function constants than expected"));
    return nullptr;
  }
  size_t bit = 0;
  for (const Constant& constant : constants) at |= static_cast<size_t>(constant.bits != 0) << bit++;
  if (pipelines_[at] == nullptr) {
    const auto made = backend_.pipeline(kernel.name, {constants.begin(), constants.size()});
    if (check(made.status)) pipelines_[at] = *made;
  }
  return pipelines_[at];
}

void GpuEncoder::launch(const KernelId& kernel, const Grid& grid, std::initializer_list<Slot> slots, const void* args,
                        size_t args_bytes, std::initializer_list<Constant> constants) noexcept {
  if (is_waiting()) launch_waiting();
  if (grid.groups.x == 0 || grid.groups.y == 0 || grid.groups.z == 0) return;  // no rows, nothing to do
  const Pipeline* found = pipeline(kernel, constants);
  if (found == nullptr) return;
  std::array<Binding, 31> bindings;
  int count = 0;
  for (const Slot& slot : slots) {
    bindings[count] = {.index = count, .buffer = slot.buffer, .offset_bytes = slot.offset_bytes};
    ++count;
  }
  bindings[count] = {.index = count, .values = args, .size_bytes = args_bytes};
  backend_.launch(*found, grid.groups, {grid.threads, 1, 1}, {bindings.data(), static_cast<size_t>(count) + 1});
}

Pending& GpuEncoder::submit() noexcept {
  if (is_waiting()) launch_waiting();
  submitted_ = &backend_.submit();
  verdict_ = std::exchange(fault_, Status{});
  return *this;
}

Pending& GpuEncoder::repeat() noexcept {
  submitted_ = &backend_.repeat();
  return *this;
}

Status GpuEncoder::wait() noexcept {
  Status ran = submitted_ != nullptr ? std::exchange(submitted_, nullptr)->wait() : Status{};
  return verdict_.is_ok() ? ran : verdict_;
}

}  // namespace pagoda::device::gpu
