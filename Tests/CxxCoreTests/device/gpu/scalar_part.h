// ScalarPart: the software backend playing a GPU of which it is not known how its matrix units add; its clock counts
// launches of products.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "args/matmul.h"
#include "device/gpu/software/software_backend.h"

namespace pagoda::device::gpu {

class ScalarPart final : public Backend {
 public:
  enum class Plays {
    well,            // matrix units add in order; products without them take half the time
    slowly,          // the same in twice the time
    in_other_order,  // matrix units add other columns first
    otherwise_tiny,  // matrix units differ only in sums below the smallest normal number
    not_at_all,      // the kernels without matrix units do not compile
    without_memory,
  };
  ScalarPart(std::unique_ptr<software::SoftwareBackend> inner, Plays plays, double& seconds)
      : inner_(std::move(inner)), plays_(plays), seconds_(seconds) {}

  const DeviceInfo& info() const noexcept override { return inner_->info(); }
  LaneSums lane_sums() const noexcept override { return LaneSums::untried; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    if (plays_ == Plays::without_memory) return make_error(StatusCode::out_of_memory, label + ": no memory");
    return inner_->allocate(size_bytes, label);
  }
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override {
    return inner_->upload(to, offset_bytes, from, size_bytes);
  }
  // What a unit that flushes them would have written.
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override {
    PAGODA_RETURN_IF_ERROR(inner_->download(from, offset_bytes, to, size_bytes));
    if (plays_ != Plays::otherwise_tiny || !is_last_usual_) return ok_status();
    for (float& sum : std::span(static_cast<float*>(to), size_bytes / sizeof(float)))
      if (sum > -kSmallest && sum < kSmallest) sum = 0.0f;
    return ok_status();
  }
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override {
    const bool is_scalar = kernel.starts_with("matmul_scalar");
    if (is_scalar && plays_ == Plays::not_at_all)
      return make_error(StatusCode::internal, "does not compile:\n  1 | static_assert failed");
    auto made = inner_->pipeline(kernel, constants);
    if (made.is_ok() && is_scalar) scalars_.push_back(*made);
    if (made.is_ok() && kernel.starts_with("matmul_few")) usual_.push_back(*made);
    return made;
  }
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override {
    const bool is_scalar = std::ranges::count(scalars_, &pipeline) > 0;
    is_last_usual_ = std::ranges::count(usual_, &pipeline) > 0;
    seconds_ += is_last_usual_ ? 1.0 : !is_scalar ? 0.0 : plays_ == Plays::slowly ? 2.0 : 0.5;
    if (!is_last_usual_ || plays_ != Plays::in_other_order) return inner_->launch(pipeline, groups, threads, bindings);
    // Other columns are summed together.
    std::vector<Binding> others(bindings.begin(), bindings.end());
    pagoda_args::Matmul args = *static_cast<const pagoda_args::Matmul*>(others.back().values);
    args.run *= 2;
    others.back().values = &args;
    inner_->launch(pipeline, groups, threads, others);
  }
  Pending& submit() noexcept override { return inner_->submit(); }

 private:
  static constexpr float kSmallest = 0x1p-126f;
  std::unique_ptr<software::SoftwareBackend> inner_;
  Plays plays_;
  double& seconds_;
  std::vector<const Pipeline*> scalars_, usual_;
  bool is_last_usual_ = false;
};

}  // namespace pagoda::device::gpu
