// TensorPart: the software backend playing a GPU with matrix units, correct or faulty; its clock counts launches of
// products.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "args/matmul.h"
#include "device/gpu/generated/bindings.h"
#include "device/gpu/software/software_backend.h"

namespace pagoda::device::gpu {

class TensorPart final : public Backend {
 public:
  enum class Plays {
    well,            // in half the time
    slowly,          // in twice the time
    with_the_batch,  // more than 64 rows get other bits
    with_the_row,    // the rows from 64 on do, for any number of rows
    wrongly,         // all sums are twice what they should be
    roughly,         // off by one part in 500
    usual_wrongly,   // the sums of the usual kernels are wrong
    not_at_all,      // does not compile
    without_memory,
  };
  // is_wide: the kernels are matmul_wide.
  TensorPart(std::unique_ptr<software::SoftwareBackend> inner, Plays plays, double& seconds, bool is_wide = false)
      : inner_(std::move(inner)), plays_(plays), seconds_(seconds), is_wide_(is_wide) {
    const std::vector<float> scales(kMostRows, 2e-3f);
    rough_ = std::move(*inner_->allocate(scales.size() * sizeof(float), "scales"));
    (void)inner_->upload(*rough_, 0, scales.data(), scales.size() * sizeof(float));
  }

  const DeviceInfo& info() const noexcept override { return inner_->info(); }
  bool has_tensor_units() const noexcept override { return true; }
  bool has_wide_products() const noexcept override { return is_wide_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    if (plays_ == Plays::without_memory) return make_error(StatusCode::out_of_memory, label + ": no memory");
    return inner_->allocate(size_bytes, label);
  }
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override {
    return inner_->upload(to, offset_bytes, from, size_bytes);
  }
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override {
    return inner_->download(from, offset_bytes, to, size_bytes);
  }
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override {
    const bool is_tensor = kernel.starts_with(is_wide_ ? "matmul_wide" : "matmul_tensor");
    if (is_tensor && plays_ == Plays::not_at_all)
      return make_error(StatusCode::internal, "does not compile:\n  1 | static_assert failed");
    auto made = inner_->pipeline(kernel, constants);
    if (made.is_ok() && is_tensor) tensors_.push_back(*made);
    if (made.is_ok() && (kernel.starts_with("matmul_few") || kernel.starts_with("matmul_tiles")))
      usual_.push_back(*made);
    return made;
  }
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override {
    const bool is_tensor = std::ranges::count(tensors_, &pipeline) > 0;
    const bool is_usual = std::ranges::count(usual_, &pipeline) > 0;
    seconds_ += is_usual ? 1.0 : !is_tensor ? 0.0 : plays_ == Plays::slowly ? 2.0 : 0.5;
    inner_->launch(pipeline, groups, threads, bindings);
    if (is_usual && plays_ == Plays::usual_wrongly) add(bindings, groups, threads, pipeline, 0);
    if (!is_tensor) return;
    const bool is_other = plays_ == Plays::with_the_batch && groups.x > 1;
    if (is_other || plays_ == Plays::wrongly || plays_ == Plays::roughly) add(bindings, groups, threads, pipeline, 0);
    if (plays_ == Plays::with_the_row && groups.x > 1)
      add(bindings, {groups.x - 1, groups.y, 1}, threads, pipeline, 64);
  }
  Pending& submit() noexcept override { return inner_->submit(); }

 private:
  static constexpr size_t kMostRows = 512;
  // Adds the product of the rows from `first` on a second time.
  void add(std::span<const Binding> bindings, Size3 groups, Size3 threads, const Pipeline& pipeline, uint32_t first) {
    std::vector<Binding> again(bindings.begin(), bindings.end());
    pagoda_args::Matmul args = *static_cast<const pagoda_args::Matmul*>(again.back().values);
    args.adds = 1;
    args.rows -= first;
    again[0].offset_bytes += int64_t{first} * args.padded_cols * 2;
    again[1].offset_bytes += int64_t{first} * 4;
    again[again.size() - 2].offset_bytes += int64_t{first} * args.out_stride * 4;
    for (Binding& binding : again)
      if (binding.buffer != nullptr) binding.size_bytes = 0;
    again.back().values = &args;
    if (plays_ == Plays::roughly) again[1].buffer = rough_.get();
    inner_->launch(pipeline, groups, threads, again);
  }

  std::unique_ptr<software::SoftwareBackend> inner_;
  Plays plays_;
  double& seconds_;
  bool is_wide_;
  std::vector<const Pipeline*> tensors_, usual_;
  std::unique_ptr<Buffer> rough_;  // scales of rows
};

}  // namespace pagoda::device::gpu
