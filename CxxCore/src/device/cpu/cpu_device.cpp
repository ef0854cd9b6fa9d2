// The CPU device: host memory, a thread pool, and the encoder that runs ops on it.
#include "device/cpu/cpu_device.h"

#include <algorithm>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/threads/usable_cores.h"
#include "device/cpu/cpu_encoder.h"
#include "device/cpu/dispatch.h"
#include "device/cpu/matmul_plan.h"
#include "device/cpu/matmul_tile.h"
#include "device/cpu/packed_weight.h"
#include "device/cpu/stored/joined_weight.h"
#include "device/cpu/stored/stored_weight.h"
#include "device/cpu/stored/streamed_experts.h"
#include "device/host/host_memory.h"
#include "device/host/host_weight.h"

namespace pagoda::device::cpu {
namespace {

// Threads that read experts: enough to keep a disk busy, which one read at a time does not.
constexpr int kFewestReaders = 4, kMostReaders = 16;

class CpuDevice final : public Device {
 public:
  CpuDevice(const Kernels& kernels, std::unique_ptr<ThreadPool> pool, std::unique_ptr<Buffer> scratch,
            const std::string& note)
      : info_{"cpu",
              concat("CPU, ", kernels.name, ", ", pool->num_threads(),
                     pool->num_threads() == 1 ? " thread" : " threads", note.empty() ? "" : "; not on a GPU: " + note),
              host::memory_limit_bytes()},
        kernels_(kernels),
        pool_(std::move(pool)),
        scratch_(std::move(scratch)),
        experts_(std::clamp(pool_->num_threads(), kFewestReaders, kMostReaders)),
        encoder_({&kernels, pool_.get(), reinterpret_cast<float*>(scratch_->host_pointer()), {}}) {}
  const DeviceInfo& info() const noexcept override { return info_; }
  Encoder& encoder() noexcept override { return encoder_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    return host::make_buffer(size_bytes, label);
  }
  Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format) override {
    if (is_stored(format)) return make_stored_weight(source, format, *pool_);
    return is_packed(format) ? make_packed_weight(source, format, kernels_, *pool_)
                             : host::make_weight(source, format, pool_.get());
  }
  size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept override {
    if (is_stored(format)) return static_cast<size_t>(stored_layout(format, rows, cols).size_bytes);
    return is_packed(format) ? static_cast<size_t>(packed_layout(format, rows, cols, kernels_.packed.run).size_bytes)
                             : host::weight_bytes(rows, cols, format);
  }
  bool keeps_format(WeightFormat) const noexcept override { return true; }
  bool joins_weights(bool) const noexcept override { return true; }
  Result<std::unique_ptr<Weight>> join_weights(std::vector<std::unique_ptr<Weight>> pieces) override {
    return std::unique_ptr<Weight>(new JoinedWeight(std::move(pieces)));
  }
  // Includes the kernels' name: nothing guarantees that two instruction sets rotate a row to the same bits.
  std::string weight_layout(WeightFormat format) const override {
    const std::string name(weight_format_name(format));
    if (!has_blocks(format)) return "rows " + name;
    return concat(is_packed(format) ? "" : concat("stored ", kStoredVersion, ", "), "packed ", kPackedVersion, " ",
                  kernels_.name, " run ", kernels_.packed.run, " ", name);
  }
  bool repacks(WeightFormat format) const noexcept override { return has_blocks(format); }
  Result<std::unique_ptr<Weight>> adopt_weight(WeightFormat format, int64_t rows, int64_t cols,
                                               std::unique_ptr<Buffer> bytes) override {
    const size_t expected = weight_bytes(rows, cols, format);
    if (bytes->size_bytes() != expected || reinterpret_cast<uintptr_t>(bytes->host_pointer()) % host::kAlignment != 0)
      return make_error(
          StatusCode::invalid_argument,
          concat("a weight of ", bytes->size_bytes(), " bytes cannot be adopted, expected ", expected, ", aligned"));
    if (is_stored(format))
      return std::unique_ptr<Weight>(new StoredWeight(format, stored_layout(format, rows, cols), std::move(bytes)));
    if (is_packed(format))
      return std::unique_ptr<Weight>(
          new PackedWeight(packed_layout(format, rows, cols, kernels_.packed.run), format, std::move(bytes)));
    const DType dtype = format == WeightFormat::f16 ? DType::f16 : DType::f32;
    return std::unique_ptr<Weight>(new host::HostWeight(std::move(bytes), rows, cols, dtype));
  }
  bool streams_experts() const noexcept override { return true; }
  Result<std::unique_ptr<Weight>> stream_experts(std::vector<WeightPart> parts, int64_t num_experts) override {
    return make_streamed_experts(std::move(parts), num_experts, kernels_, experts_);
  }
  Status allocate_experts(int64_t size_bytes) override { return experts_.allocate(size_bytes); }
  ExpertStats expert_stats() const override { return experts_.stats(); }
  Status reserve(const StepLimits& limits) override {
    const MatmulPlan plan = plan_matmul(limits, pool_->num_threads());
    PAGODA_ASSIGN_OR_RETURN(matmul_buffer_, host::make_buffer(plan.size_bytes, "scratch of matmuls"));
    encoder_.set_matmul_memory(plan.place(matmul_buffer_->host_pointer()));
    return ok_status();
  }
  // The other ops' per-thread scratch is allocated with the device, independent of the step size.
  size_t reserve_bytes(const StepLimits& limits) const noexcept override {
    return scratch_->size_bytes() + plan_matmul(limits, pool_->num_threads()).size_bytes;
  }
  Status upload(const Tensor& to, const void* from, size_t size_bytes) noexcept override {
    return host::upload(to, from, size_bytes);
  }
  Status download(const Tensor& from, void* to, size_t size_bytes) noexcept override {
    return host::download(from, to, size_bytes);
  }
  void set_profiling(bool enabled) override { encoder_.profile().enable(enabled); }
  std::vector<OpTime> take_profile() override { return encoder_.profile().take(); }

 private:
  DeviceInfo info_;
  const Kernels& kernels_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Buffer> scratch_, matmul_buffer_;
  host::ExpertStore experts_;
  CpuEncoder encoder_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_cpu_device(const std::string& isa, int num_threads, const std::string& note) {
  const Kernels* kernels = find_kernels(isa);
  if (kernels == nullptr)
    return make_error(StatusCode::unsupported, "this machine cannot run the CPU kernels '" + isa + "'");
  if (num_threads == 0) num_threads = usable_cores();
  PAGODA_ASSIGN_OR_RETURN(auto pool, ThreadPool::create(num_threads));
  PAGODA_ASSIGN_OR_RETURN(auto scratch,
                          host::make_buffer(static_cast<size_t>(num_threads * kThreadScratch) * sizeof(float),
                                            "scratch of the CPU device"));
  return std::unique_ptr<Device>(new CpuDevice(*kernels, std::move(pool), std::move(scratch), note));
}

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const Kernels* kernels : supported_kernels()) names.emplace_back(kernels->name);
  return names;
}

}  // namespace pagoda::device::cpu
