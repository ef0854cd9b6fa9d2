// GpuEncoder: turns ops into launches of the kernels of Shaders/, the same for every backend. One file per op.
// State: the first fault of the step being encoded; the launches themselves are the backend's.
#pragma once

#include <initializer_list>
#include <string_view>

#include "device/device.h"
#include "device/expert_ops.h"
#include "device/gpu/backend.h"
#include "device/gpu/gpu_weight.h"
#include "device/gpu/scratch.h"
#include "device/host/index_checks.h"
#include "device/pick_ops.h"

namespace pagoda::device::gpu {

// What one [[buffer(n)]] of a kernel gets. Kernels are launched with theirs in the order of n, the arguments last.
struct Slot {
  Buffer* buffer = nullptr;
  int64_t offset_bytes = 0;
  Slot(const Tensor& t) noexcept : buffer(t.buffer), offset_bytes(t.offset_bytes) {}  // NOLINT
  Slot(const std::unique_ptr<Buffer>& b, int64_t offset = 0) noexcept
      : buffer(b.get()), offset_bytes(offset) {}  // NOLINT
  Slot(Buffer* b, int64_t offset) noexcept : buffer(b), offset_bytes(offset) {}
};

class GpuEncoder final : public Encoder, public PickOps, public ExpertOps, private Pending {
 public:
  explicit GpuEncoder(Backend& backend) noexcept : backend_(backend) {}
  void set_scratch(Scratch scratch) noexcept { scratch_ = std::move(scratch); }

  void embedding(const EmbeddingArgs&) noexcept override;
  void rms_norm(const RmsNormArgs&) noexcept override;
  void matmul(const MatmulArgs&) noexcept override;
  void qk_norm_rope(const QkNormRopeArgs&) noexcept override;
  void reshape_and_cache(const ReshapeAndCacheArgs&) noexcept override;
  void paged_attention(const PagedAttentionArgs&) noexcept override;
  void sigmoid_gate(const SigmoidGateArgs&) noexcept override;
  void causal_conv1d(const CausalConv1dArgs&) noexcept override;
  void gdn(const GdnArgs&) noexcept override;
  void gated_rms_norm(const GatedRmsNormArgs&) noexcept override;
  void gather_rows(const GatherRowsArgs&) noexcept override;
  void zero_slots(const ZeroSlotsArgs&) noexcept override;
  void copy_slot(const CopySlotArgs&) noexcept override;
  void argmax(const ArgmaxArgs&) noexcept override;
  void sample(const SampleArgs&) noexcept override;
  void route_experts(const RouteExpertsArgs&) noexcept override;
  void expert_matmul(const ExpertMatmulArgs&) noexcept override;
  void combine_experts(const CombineExpertsArgs&) noexcept override;

  Pending& submit() noexcept override;

 private:
  struct Grid {
    Size3 groups;
    uint32_t threads = 128;  // of a threadgroup
  };

  // Whether `status` is good; if not, the step fails.
  bool check(Status status) noexcept;
  // Whether `needed` is what reserve() was told, or less.
  bool check_room(const ScratchSizes& needed, const char* op) noexcept;
  // Whether the indices in `args` are good, where the host can see them (`indices` is one of them).
  template <class Args>
  bool accept(const Args& args, const Tensor& indices) noexcept {
    return indices.buffer->host_pointer() == nullptr || check(host::check_indices(args));
  }

  template <class Args>
  void launch(std::string_view kernel, const Grid& grid, std::initializer_list<Slot> slots, const Args& args,
              std::initializer_list<Constant> constants = {}) noexcept {
    launch(kernel, grid, slots, &args, sizeof args, constants);
  }
  void launch(std::string_view kernel, const Grid& grid, std::initializer_list<Slot> slots, const void* args,
              size_t args_bytes, std::initializer_list<Constant> constants) noexcept;

  void matmul_float(const MatmulArgs&, const GpuWeight&) noexcept;
  void matmul_packed(const MatmulArgs&, const GpuWeight&) noexcept;
  bool prepare_rows(const MatmulArgs&, const GpuWeight&) noexcept;

  Status wait() noexcept override;

  Backend& backend_;
  Scratch scratch_;
  Status fault_, verdict_;
  Pending* submitted_ = nullptr;
};

constexpr int64_t ceil_divide(int64_t n, int64_t by) noexcept { return (n + by - 1) / by; }
constexpr uint32_t as_uint(int64_t n) noexcept { return static_cast<uint32_t>(n); }

// `t`, or where it is absent some tensor that is there: a kernel gets something in every place.
inline Slot or_else(const Tensor& t, const Tensor& other) noexcept { return t.is_present() ? Slot(t) : Slot(other); }

// The word for an element type in kernel names; empty where no kernel has it.
constexpr std::string_view kernel_type(DType dtype) noexcept {
  return dtype == DType::f32 ? "f32" : dtype == DType::f16 ? "f16" : dtype == DType::bf16 ? "bf16" : "";
}
// Whether there are kernels for a KV cache of that type.
Status check_cache_type(DType dtype) noexcept;

constexpr std::string_view kernel_type(WeightFormat format) noexcept {
  constexpr std::string_view kNames[] = {"f32", "f16", "bf16", "q8", "q4"};
  return kNames[static_cast<size_t>(format)];
}

}  // namespace pagoda::device::gpu
