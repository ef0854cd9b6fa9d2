// A Device on top of any Backend.
#include "device/gpu/gpu_device.h"

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/gpu/counting.h"
#include "device/gpu/gpu_encoder.h"
#include "device/gpu/kernel_sizes.h"
#include "device/gpu/weights/weight_loader.h"
#include "device/host/host_memory.h"
#include "device/joined_weight.h"
#include "device/support.h"
#include "device/uploads.h"

namespace pagoda::device::gpu {
namespace {

class GpuDevice final : public Device,
                        public KernelSupport,
                        public KernelTiming,
                        public TensorProducts,
                        public ScalarProducts,
                        public DeviceHealth,
                        public CopiesBeside {
 public:
  explicit GpuDevice(std::unique_ptr<Backend> backend)
      : backend_(std::make_unique<CountingBackend>(std::move(backend))),
        loader_(*backend_),
        encoder_(*backend_),
        counting_(encoder_, *backend_),
        info_(backend_->info()) {
    encoder_.set_scalar_products(backend_->lane_sums() == LaneSums::equal);
  }
  const DeviceInfo& info() const noexcept override { return info_; }
  Encoder& encoder() noexcept override { return is_counting_ ? static_cast<Encoder&>(counting_) : encoder_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    return backend_->allocate(size_bytes, label);
  }
  Result<std::unique_ptr<Buffer>> allocate_readback(size_t size_bytes, const std::string& label) override {
    return backend_->allocate_readback(size_bytes, label);
  }
  Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format) override {
    return loader_.make(source, format);
  }
  bool keeps_format(WeightFormat format) const noexcept override {
    return pagoda::is_stored(format) && stored_form(quant_format(format)).has_value();
  }
  bool joins_weights(bool is_plain) const noexcept override { return is_plain; }
  Result<std::unique_ptr<Weight>> join_weights(std::vector<std::unique_ptr<Weight>> pieces) override {
    return std::unique_ptr<Weight>(new JoinedWeight(std::move(pieces)));
  }
  std::string weight_layout(WeightFormat format) const override {
    return backend_->runs_launches() ? concat("gpu ", kWeightVersion, " ", weight_format_name(format)) : "";
  }
  bool repacks(WeightFormat format) const noexcept override { return is_quantised(format); }
  Status read_weight(const Weight& weight, size_t offset, std::span<std::byte> into) override {
    const auto& one = static_cast<const GpuWeight&>(weight);
    return backend_->download(*one.buffer(), static_cast<int64_t>(offset), into.data(), into.size());
  }
  Result<std::unique_ptr<Weight>> adopt_weight(WeightFormat format, int64_t rows, int64_t cols,
                                               std::unique_ptr<Buffer> bytes) override {
    return loader_.adopt(format, rows, cols, std::move(bytes));
  }
  size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept override {
    return static_cast<size_t>(gpu::weight_layout(rows, cols, format).size_bytes);
  }
  Status check_support(const KernelNeeds& needs) const override {
    if (needs.has_streams)
      return make_error(StatusCode::unsupported,
                        "hyper-connections and sparse attention (Qwen4-Exp) have no kernels for GPUs; cpu runs them");
    if (needs.latent_dim > 0)
      PAGODA_RETURN_IF_ERROR(check_latents(needs.latent_dim, needs.latent_value_dim, needs.block_size));
    if (needs.head_dim > 0) PAGODA_RETURN_IF_ERROR(check_attention(needs.head_dim, needs.block_size));
    return check_gdn(needs.k_dim);
  }
  bool has_tensor_products() const noexcept override { return backend_->has_tensor_units(); }
  std::string tensor_version() const override { return backend_->kernels_version(); }
  bool has_same_bits() const noexcept override { return backend_->has_wide_products(); }
  void use_tensor_products(bool enabled) noexcept override { encoder_.set_tensor_products(enabled); }
  void describe_products(const std::string& text) override {
    tensor_text_ = text;
    describe();
  }
  bool needs_scalar_trial() const noexcept override { return backend_->lane_sums() == LaneSums::untried; }
  std::string scalar_version() const override { return backend_->kernels_version(); }
  void use_scalar_products(bool enabled) noexcept override { encoder_.set_scalar_products(enabled); }
  void describe_scalars(const std::string& text) override {
    scalar_text_ = text;
    describe();
  }
  Status health() noexcept override {
    auto* asked = dynamic_cast<DeviceHealth*>(&backend_->inner());
    return asked ? asked->health() : ok_status();
  }
  Status reserve(const StepLimits& limits) override {  // after the weights are loaded
    PAGODA_RETURN_IF_ERROR(loader_.finish());
    PAGODA_ASSIGN_OR_RETURN(auto scratch, Scratch::allocate(*backend_, limits));
    encoder_.set_scratch(std::move(scratch));
    return ok_status();
  }
  size_t reserve_bytes(const StepLimits& limits) const noexcept override {
    return static_cast<size_t>(ScratchSizes::largest(limits).total());
  }
  Status upload(const Tensor& to, const void* from, size_t size_bytes) noexcept override {
    PAGODA_RETURN_IF_ERROR(host::check_copy(to, size_bytes, "upload"));
    return size_bytes == 0 ? ok_status() : backend_->upload(*to.buffer, to.offset_bytes, from, size_bytes);
  }
  Status download(const Tensor& from, void* to, size_t size_bytes) noexcept override {
    PAGODA_RETURN_IF_ERROR(host::check_copy(from, size_bytes, "download"));
    return size_bytes == 0 ? ok_status() : backend_->download(*from.buffer, from.offset_bytes, to, size_bytes);
  }
  Status upload_beside(std::span<const Upload> uploads) noexcept override {
    return device::upload_beside(backend_->inner(), uploads);
  }
  Status download_beside(std::span<const Download> downloads) noexcept override {
    return device::download_beside(backend_->inner(), downloads);
  }
  // Reports launches, bytes and encoding time by op and, if the backend can measure it, the kernel time of whole steps.
  // There is no kernel time by op, because launches overlap.
  void set_profiling(bool enabled) override {
    is_counting_ = enabled;
    backend_->set_counting(enabled);
    backend_->take_step_times();
    backend_->take_barriers();
  }
  void set_kernel_timing(bool enabled) override {
    backend_->set_kernel_timing(enabled);
    backend_->take_kernel_times();
  }
  std::vector<OpTime> take_profile() override {
    std::vector<OpTime> entries = counting_.take();
    if (backend_->times_kernels()) return backend_->take_kernel_times();
    const StepTimes times = backend_->take_step_times();
    if (is_counting_ && times.steps > 0) entries.push_back({"step", times.steps, times.seconds});
    const int64_t barriers = backend_->take_barriers();
    if (is_counting_ && barriers > 0) entries.push_back({"barrier", barriers});
    return entries;
  }

 private:
  void describe() { info_.description = backend_->info().description + tensor_text_ + scalar_text_; }

  std::unique_ptr<CountingBackend> backend_;
  WeightLoader loader_;
  GpuEncoder encoder_;
  CountingEncoder counting_;
  DeviceInfo info_;
  std::string tensor_text_, scalar_text_;  // choices of products, after the backend's description
  bool is_counting_ = false;
};

}  // namespace

std::unique_ptr<Device> make_gpu_device(std::unique_ptr<Backend> backend) {
  return std::make_unique<GpuDevice>(std::move(backend));
}

}  // namespace pagoda::device::gpu
