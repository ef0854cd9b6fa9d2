// GpuEncoder: turns ops into launches of the kernels of Shaders/, the same for every backend. One file per op.
// State: the pipelines found so far, the deferred ops, and the first error of the step being encoded;
// the launches belong to the backend.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "args/gdn.h"
#include "args/matmul.h"
#include "args/paged_attention.h"
#include "args/rope_and_cache.h"
#include "device/device.h"
#include "device/gpu/backend.h"
#include "device/gpu/generated/bindings.h"
#include "device/gpu/row_maker.h"
#include "device/gpu/scratch.h"
#include "device/gpu/weights/gpu_weight.h"
#include "device/host/index_checks.h"
#include "device/op_list.h"

namespace pagoda::device::gpu {

// The argument for one [[buffer(n)]] of a kernel. A launch has them in the order of n, the argument struct last.
struct Slot {
  Buffer* buffer = nullptr;
  int64_t offset_bytes = 0;
  size_t size_bytes = 0;  // as Binding's
  // Launches on other parts of its buffer need not wait. The rows of int8 caches end with scales, which are not
  // elements.
  Slot(const Tensor& t) noexcept : Slot(t, t.dtype == DType::i8 ? 0 : extent_bytes(t)) {}  // NOLINT
  Slot(const std::unique_ptr<Buffer>& b, int64_t offset = 0) noexcept
      : buffer(b.get()), offset_bytes(offset) {}  // NOLINT
  Slot(Buffer* b, int64_t offset) noexcept : buffer(b), offset_bytes(offset) {}

 private:
  Slot(const Tensor& t, int64_t size) noexcept
      : buffer(t.buffer), offset_bytes(t.offset_bytes), size_bytes(static_cast<size_t>(size)) {}
};

class GpuEncoder final : public Encoder, private Pending {
 public:
  explicit GpuEncoder(Backend& backend) noexcept : backend_(backend) {}
  void set_scratch(Scratch scratch) noexcept { scratch_ = std::move(scratch); }
  // Whether products of 16-bit and quantised weights use the kernels for matrix units: matmul_wide for many rows, or
  // matmul_tensor for any number.
  void set_tensor_products(bool enabled) noexcept { has_tensor_products_ = enabled; }
  // Whether those of up to four rows use matmul_scalar. The bits are the same, or it must not be set.
  void set_scalar_products(bool enabled) noexcept { has_scalar_products_ = enabled; }

  bool can(OpRef op) const noexcept override;
  void encode(OpRef op) noexcept override;
  Pending& submit() noexcept override;
  uint64_t repeatable_step() const noexcept override { return verdict_.is_ok() ? backend_.repeatable_step() : 0; }
  Pending& repeat() noexcept override;
  int64_t context_class(int64_t max_context) const noexcept override;

  // Ops that wait for the next one are launched together with it, or by flush().
  bool is_waiting() const noexcept { return num_waiting_ > 0 || product_ || conv_ || maker_.index() > 0; }
  void flush() noexcept { launch_waiting(); }

 private:
  // Launches an op or defers it; the device has those with a line here. Those of Qwen4-Exp run on the CPU.
  void record(const EmbeddingArgs&) noexcept;
  void record(const RmsNormArgs&) noexcept;
  void record(const MatmulArgs&) noexcept;
  void record(const QkNormRopeArgs&) noexcept;
  void record(const ReshapeAndCacheArgs&) noexcept;
  void record(const PagedAttentionArgs&) noexcept;
  void record(const SigmoidGateArgs&) noexcept;
  void record(const CausalConv1dArgs&) noexcept;
  void record(const GdnArgs&) noexcept;
  void record(const GatedRmsNormArgs&) noexcept;
  void record(const GatherRowsArgs&) noexcept;
  void record(const ZeroSlotsArgs&) noexcept;
  void record(const CopySlotArgs&) noexcept;
  void record(const ArgmaxArgs&) noexcept;
  void record(const SampleArgs&) noexcept;
  void record(const RouteExpertsArgs&) noexcept;
  void record(const ExpertMatmulArgs&) noexcept;
  void record(const CombineExpertsArgs&) noexcept;
  void record(const GeluMulArgs&) noexcept;
  void record(const ScaleRowsArgs&) noexcept;
  void record(const CacheLatentsArgs&) noexcept;
  void record(const LatentAttentionArgs&) noexcept;
  void record(const KdaArgs&) noexcept;
  void record(const LayerNormArgs&) noexcept;
  void record(const GeluArgs&) noexcept;
  void record(const AdapterArgs&) noexcept;
  void record(const SiluMulArgs&) noexcept;

  struct Grid {
    Size3 groups;
    uint32_t threads = 128;  // per threadgroup
  };

  // Whether `status` is ok; if not, the step fails.
  bool check(Status status) noexcept;
  // Whether `needed` is within the reserved size.
  bool check_scratch(const ScratchSizes& needed, const char* op) noexcept;
  // Whether the indices in `args` are valid, if they are visible to the host (`indices` is one of them).
  template <class Args>
  bool accept(const Args& args, const Tensor& indices) noexcept {
    return indices.buffer->host_pointer() == nullptr || check(host::check_indices(args));
  }

  template <class Args>
  void launch(const KernelId& kernel, const Grid& grid, std::initializer_list<Slot> slots, const Args& args,
              std::initializer_list<Constant> constants = {}) noexcept {
    launch(kernel, grid, slots, &args, sizeof args, constants);
  }
  void launch(const KernelId& kernel, const Grid& grid, std::initializer_list<Slot> slots, const void* args,
              size_t args_bytes, std::initializer_list<Constant> constants) noexcept;
  // Asks the backend once per kernel and set of constants, all of them bools; null is an error.
  const Pipeline* pipeline(const KernelId& kernel, std::initializer_list<Constant> constants) noexcept;

  // A matmul, with the norm or gate that computes its rows, and whether it adds to `out`.
  struct Product {
    MatmulArgs args;
    RowMaker maker;
    bool adds = false;
  };
  void launch_product(const Product&) noexcept;
  void launch_pieces(const Product&) noexcept;
  void matmul_float(const Product&, const GpuWeight&) noexcept;
  void matmul_packed(const Product&, const GpuWeight&) noexcept;
  void matmul_tensor(const Product&, const GpuWeight&) noexcept;
  bool takes_wide(const Product&, const GpuWeight&) const noexcept;
  void matmul_wide(const Product&, const GpuWeight&) noexcept;
  bool prepare_rows(const Tensor& x, const MadeRows* made, const GpuWeight&, int64_t tile_rows = 0) noexcept;
  void sort_by_expert(const ExpertMatmulArgs&, int64_t tile_rows) noexcept;
  void expert_sums(const ExpertMatmulArgs&, const GpuWeight&) noexcept;
  void expert_products(const ExpertMatmulArgs&, const GpuWeight&) noexcept;
  bool add_to(const Tensor& x, const Tensor& residual) noexcept;
  void launch_maker(const RowMaker&) noexcept;
  void launch_norm(const RmsNormArgs&) noexcept;
  void launch_gated_norm(const GatedRmsNormArgs&) noexcept;
  void launch_gate(const SigmoidGateArgs&) noexcept;
  void launch_conv(const CausalConv1dArgs&) noexcept;
  void conv_and_gdn(const CausalConv1dArgs&, const GdnArgs&, pagoda_args::Gdn) noexcept;
  void launch_rope(const QkNormRopeArgs&) noexcept;
  bool rope_and_cache(const ReshapeAndCacheArgs&) noexcept;
  void launch_rope_and_cache(const ReshapeAndCacheArgs&) noexcept;
  pagoda_args::RopeAndCache rope_args(const ReshapeAndCacheArgs&) const noexcept;
  bool rotates_and_caches_for(const PagedAttentionArgs&) const noexcept;
  bool full_attention(const PagedAttentionArgs&, const pagoda_args::PagedAttention&) noexcept;
  void token_attention(const PagedAttentionArgs&, const pagoda_args::PagedAttention&, int64_t parts,
                       std::initializer_list<Constant> constants) noexcept;
  void launch_waiting() noexcept;
  Status wait() noexcept override;

  static constexpr size_t kMaxConstants = 4;  // per kernel

  // Waiting ops, of queries and of keys: a reshape_and_cache of those keys fuses all three into one launch; any other
  // op is launched after them.
  std::array<QkNormRopeArgs, 2> waiting_;
  int num_waiting_ = 0;
  // The last op, if it was that reshape_and_cache: the paged_attention of those queries fuses all four into one launch.
  std::optional<ReshapeAndCacheArgs> caching_;
  // The last op, if it was a matmul: a norm that adds its product to x makes the matmul add it instead.
  std::optional<Product> product_;
  // The last op, if it was a convolution.
  std::optional<CausalConv1dArgs> conv_;
  // The last op, if it was a norm or a gate whose result only the next op reads.
  RowMaker maker_;

  Backend& backend_;
  std::array<const Pipeline*, static_cast<size_t>(kernels::kCount) << kMaxConstants> pipelines_{};
  Scratch scratch_;
  bool has_tensor_products_ = false, has_scalar_products_ = false;
  Status fault_, verdict_;
  Pending* submitted_ = nullptr;
};

pagoda_args::Matmul matmul_args(const MatmulArgs&, const GpuWeight&, bool adds) noexcept;
// Whether kernels can round the rows of x to bfloats as they read them: the rows have whole chunks and are aligned for
// vectors of 16 bytes.
bool reads_floats(const Tensor& x, const GpuWeight&) noexcept;
pagoda_args::CausalConv1d conv_args(const CausalConv1dArgs&) noexcept;
// Partitions of the longest sequence, rounded up to a power of two: while it grows, its grids and the
// graph of a step rarely change. At most `max_parts`.
int64_t num_parts(const SequenceArgs& s, int64_t max_parts) noexcept;

constexpr int64_t ceil_divide(int64_t n, int64_t by) noexcept { return (n + by - 1) / by; }
constexpr uint32_t as_uint(int64_t n) noexcept { return static_cast<uint32_t>(n); }

// `t`, or if it is absent any existing tensor: a kernel needs a buffer for every binding.
inline Slot or_else(const Tensor& t, const Tensor& other) noexcept { return t.is_present() ? Slot(t) : Slot(other); }

// Whether its rows begin where kernels can read them.
Status check_rows(const Tensor& cache) noexcept;

// The kernel for a KV cache of one of the types that ops accept.
inline const KernelId& of_cache(DType dtype, const KernelId& f32, const KernelId& f16, const KernelId& bf16,
                                const KernelId& i8) noexcept {
  return dtype == DType::f32 ? f32 : dtype == DType::f16 ? f16 : dtype == DType::bf16 ? bf16 : i8;
}

// The kernel for recurrent states of one of the types that ops accept, and keys of up to 128 or 256 dims.
inline const KernelId& of_state(const Tensor& state, const KernelId& f32_128, const KernelId& f32_256,
                                const KernelId& bf16_128, const KernelId& bf16_256) noexcept {
  const bool is_narrow = state.shape[2] <= 128;
  if (state.dtype == DType::bf16) return is_narrow ? bf16_128 : bf16_256;
  return is_narrow ? f32_128 : f32_256;
}

}  // namespace pagoda::device::gpu
