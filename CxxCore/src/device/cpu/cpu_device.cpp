// The CPU device: host memory, a pool of threads, ops run as they are encoded.
#include "device/cpu/cpu_device.h"

#include <thread>

#include "device/cpu/cpu_ops.h"
#include "device/cpu/dispatch.h"
#include "device/host/eager_encoder.h"
#include "device/host/host_memory.h"
#include "device/host/host_weight.h"

namespace pagoda::device::cpu {
namespace {

class CpuEncoder final : public host::EagerEncoder {
 public:
  explicit CpuEncoder(const Context& context) noexcept : context_(context) {}
  void embedding(const EmbeddingArgs& a) noexcept override {
    if (accept(a)) cpu::embedding(context_, a);
  }
  void rms_norm(const RmsNormArgs& a) noexcept override { cpu::rms_norm(context_, a); }
  void matmul(const MatmulArgs& a) noexcept override { cpu::matmul(context_, a); }
  void qk_norm_rope(const QkNormRopeArgs& a) noexcept override { cpu::qk_norm_rope(context_, a); }
  void reshape_and_cache(const ReshapeAndCacheArgs& a) noexcept override {
    if (accept(a)) cpu::reshape_and_cache(context_, a);
  }
  void paged_attention(const PagedAttentionArgs& a) noexcept override {
    if (accept(a)) cpu::paged_attention(context_, a);
  }
  void sigmoid_gate(const SigmoidGateArgs& a) noexcept override { cpu::sigmoid_gate(context_, a); }
  void silu_mul(const SiluMulArgs& a) noexcept override { cpu::silu_mul(context_, a); }
  void causal_conv1d(const CausalConv1dArgs& a) noexcept override {
    if (accept(a)) cpu::causal_conv1d(context_, a);
  }
  void gdn(const GdnArgs& a) noexcept override {
    if (accept(a)) cpu::gdn(context_, a);
  }
  void gated_rms_norm(const GatedRmsNormArgs& a) noexcept override { cpu::gated_rms_norm(context_, a); }
  void gather_rows(const GatherRowsArgs& a) noexcept override {
    if (accept(a)) cpu::gather_rows(context_, a);
  }
  void zero_slots(const ZeroSlotsArgs& a) noexcept override {
    if (accept(a)) cpu::zero_slots(context_, a);
  }

 private:
  Context context_;
};

class CpuDevice final : public Device {
 public:
  CpuDevice(const Kernels& kernels, std::unique_ptr<ThreadPool> pool, std::unique_ptr<Buffer> scratch)
      : info_{"cpu",
              std::string("CPU, ") + kernels.name + ", " + std::to_string(pool->num_threads()) +
                  (pool->num_threads() == 1 ? " thread" : " threads"),
              host::memory_limit_bytes()},
        pool_(std::move(pool)),
        scratch_(std::move(scratch)),
        encoder_({&kernels, pool_.get(), reinterpret_cast<float*>(scratch_->host_pointer())}) {}
  const DeviceInfo& info() const noexcept override { return info_; }
  Encoder& encoder() noexcept override { return encoder_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    return host::make_buffer(size_bytes, label);
  }
  Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, DType stored) override {
    return host::make_weight(source, stored);
  }
  size_t weight_bytes(int64_t rows, int64_t cols, DType stored) const noexcept override {
    return host::weight_bytes(rows, cols, stored);
  }
  // Scratch belongs to threads, whatever the step's size, and exists since the device was made.
  Status reserve(int64_t) override { return ok_status(); }
  size_t reserve_bytes(int64_t) const noexcept override { return scratch_->size_bytes(); }
  Status upload(const Tensor& to, const void* from, size_t size_bytes) noexcept override {
    return host::upload(to, from, size_bytes);
  }
  Status download(const Tensor& from, void* to, size_t size_bytes) noexcept override {
    return host::download(from, to, size_bytes);
  }

 private:
  DeviceInfo info_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Buffer> scratch_;
  CpuEncoder encoder_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_cpu_device(const std::string& isa, int num_threads) {
  const Kernels* kernels = find_kernels(isa);
  if (kernels == nullptr)
    return make_error(StatusCode::unsupported, "this machine cannot run the CPU kernels '" + isa + "'");
  if (num_threads == 0) num_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  auto pool = ThreadPool::create(num_threads);
  if (!pool.is_ok()) return pool.status;
  auto scratch =
      host::make_buffer(static_cast<size_t>(num_threads * kThreadScratch) * sizeof(float), "scratch of the CPU device");
  if (!scratch.is_ok()) return scratch.status;
  return std::unique_ptr<Device>(new CpuDevice(*kernels, std::move(*pool), std::move(*scratch)));
}

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const Kernels* kernels : supported_kernels()) names.emplace_back(kernels->name);
  return names;
}

}  // namespace pagoda::device::cpu
