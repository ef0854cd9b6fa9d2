// The parts shared by all ops of the GPU encoder: checks, launches, and the end of a step.
#include "device/gpu/gpu_encoder.h"

#include <array>
#include <utility>

#include "base/concat.h"
#include "base/kv_row.h"

namespace pagoda::device::gpu {

// Kernels read 16 codes of an int8 row at once.
Status check_rows(const Tensor& cache) noexcept {
  int64_t places = cache.offset_bytes;
  for (int i = 0; i + 1 < cache.rank; ++i) places |= cache.strides[i];
  if (cache.dtype != DType::i8 || places % kKvInt8Align == 0) return ok_status();
  return make_error(StatusCode::unsupported,
                    concat("GPU kernels have int8 caches whose rows begin at multiples of ", kKvInt8Align, " bytes"));
}

bool GpuEncoder::can(OpRef op) const noexcept {
  return op.visit([]<class Args>(const Args&) { return requires(GpuEncoder& gpu, const Args& a) { gpu.record(a); }; });
}

void GpuEncoder::encode(OpRef op) noexcept {
  op.visit([this](const auto& a) {
    if constexpr (requires { this->record(a); }) record(a);
  });
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
