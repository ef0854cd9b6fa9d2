// Counting: the host's work for each op on a GPU: launches, bytes its kernels have to move, time to encode them; and
// how long each kernel runs.
// State: sums by op and by kernel since the last take. Thread rule: Device's.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/gpu/backend.h"
#include "device/gpu/gpu_encoder.h"
#include "device/op_cost.h"

namespace pagoda::device::gpu {

// A backend that counts launches and the time spent in them, while enabled. While it times kernels, every
// launch is a separate step, waited for before the next: none overlaps another, and the whole step takes longer.
class CountingBackend final : public Backend, private Pending {
 public:
  explicit CountingBackend(std::unique_ptr<Backend> inner) noexcept : inner_(std::move(inner)) {}
  Backend& inner() noexcept { return *inner_; }
  const DeviceInfo& info() const noexcept override { return inner_->info(); }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    return inner_->allocate(size_bytes, label);
  }
  Result<std::unique_ptr<Buffer>> allocate_readback(size_t size_bytes, const std::string& label) override {
    return inner_->allocate_readback(size_bytes, label);
  }
  std::unique_ptr<Buffer> share(std::unique_ptr<Buffer>& memory) override { return inner_->share(memory); }
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override {
    return inner_->upload(to, offset_bytes, from, size_bytes);
  }
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override {
    return inner_->download(from, offset_bytes, to, size_bytes);
  }
  Result<std::unique_ptr<Staging>> make_staging(size_t size_bytes) override { return inner_->make_staging(size_bytes); }
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override;
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override;
  Pending& submit() noexcept override;
  uint64_t repeatable_step() const noexcept override {
    return is_counting_ || times_kernels_ ? 0 : inner_->repeatable_step();
  }
  Pending& repeat() noexcept override { return inner_->repeat(); }
  bool overlaps_launches() const noexcept override { return inner_->overlaps_launches(); }
  bool has_few_registers() const noexcept override { return inner_->has_few_registers(); }
  bool has_tensor_units() const noexcept override { return inner_->has_tensor_units(); }
  LaneSums lane_sums() const noexcept override { return inner_->lane_sums(); }
  bool has_wide_products() const noexcept override { return inner_->has_wide_products(); }
  std::string kernels_version() const override { return inner_->kernels_version(); }
  bool runs_launches() const noexcept override { return inner_->runs_launches(); }
  StepTimes take_step_times() noexcept override { return inner_->take_step_times(); }
  int64_t take_barriers() noexcept override { return inner_->take_barriers(); }

  void set_counting(bool enabled) noexcept { is_counting_ = enabled; }
  int64_t num_launches() const noexcept { return num_launches_; }
  double launch_seconds() const noexcept { return launch_seconds_; }

  void set_kernel_timing(bool enabled) noexcept { times_kernels_ = enabled; }
  bool times_kernels() const noexcept { return times_kernels_; }
  // OpTime::calls are launches; seconds are the device's own if reported, otherwise those of a clock around the launch.
  std::vector<OpTime> take_kernel_times() noexcept { return std::exchange(kernels_, {}); }

 private:
  struct Named {
    const Pipeline* pipeline;
    std::string kernel;
  };
  void time_launch(const Pipeline& pipeline, Size3 groups, Size3 threads, std::span<const Binding> bindings);
  Status wait() noexcept override;

  std::unique_ptr<Backend> inner_;
  std::vector<Named> names_;
  bool is_counting_ = false, times_kernels_ = false;
  std::vector<OpTime> kernels_;
  Status error_;  // of a launch that was waited for before the step's end
  Pending* submitted_ = nullptr;
  int64_t num_launches_ = 0;
  double launch_seconds_ = 0;  // the software device runs kernels in launch(): this is not the encoder's time
};

// Forwards ops to another encoder and counts them: OpTime::calls are launches, seconds the encoder's own.
class CountingEncoder final : public Encoder {
 public:
  CountingEncoder(GpuEncoder& inner, const CountingBackend& backend) noexcept : inner_(inner), backend_(backend) {}
  std::vector<OpTime> take() noexcept { return std::exchange(entries_, {}); }

  bool can(OpRef op) const noexcept override { return inner_.can(op); }
  void encode(OpRef op) noexcept override;
  Pending& submit() noexcept override;

 private:
  // Runs `encode` and adds it to the entry `name`.
  template <class Encode>
  void count(const char* name, const OpCost& cost, Encode&& encode);

  GpuEncoder& inner_;
  const CountingBackend& backend_;
  std::vector<OpTime> entries_;
};

}  // namespace pagoda::device::gpu
