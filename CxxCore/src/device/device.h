// Device: where weights and caches live and ops run. The model sees this interface and cannot tell devices apart.
// Thread rule: one thread (the engine's) drives a device; allocation and upload happen on it too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/weight_format.h"
#include "device/op_args.h"
#include "device/tensor.h"
#include "pagoda/profile.h"

namespace pagoda::device {

using pagoda::OpLimit;
using pagoda::OpTime;

// A weight matrix on a device, possibly repacked. [rows, cols] = [N, K].
class Weight {
 public:
  virtual ~Weight() = default;
  virtual int64_t rows() const noexcept = 0;
  virtual int64_t cols() const noexcept = 0;
  virtual WeightFormat format() const noexcept = 0;
  virtual size_t size_bytes() const noexcept = 0;  // on the device, after repacking
  // What the device made of it, for a file that another run adopts; empty where the host cannot see it.
  virtual std::span<const std::byte> bytes() const noexcept = 0;
};

// How a device gets at a weight's numbers while it makes its own form of them.
struct WeightSource {
  std::string name;
  DType dtype = DType::f32;  // of the numbers read: f32, f16 or bf16
  int64_t rows = 0, cols = 0;
  std::function<Status(int64_t row_begin, int64_t row_count, std::byte* into)> read_rows;
};

struct StepLimits {
  int64_t tokens = 0;                // most rows of a matmul
  int64_t cols = 0;                  // most columns of a weight
  int64_t sequences = 0;             // most in one step
  int64_t context = 0;               // most tokens of a sequence
  int64_t heads = 0, head_dim = 0;   // of attention
  int64_t k_heads = 0, v_heads = 0;  // of Gated DeltaNet
  int64_t k_dim = 0;                 // of its keys
  int64_t logits_rows = 0, vocab = 0;
  int64_t experts = 0;  // of a mixture
};

struct DeviceInfo {
  std::string name;         // cpu, reference
  std::string description;  // with the instruction set in use and the number of threads
  int64_t memory_limit_bytes = 0;
  // A step should not take longer, or whoever shares the device with us waits: the screen, where it draws that too.
  // 0: a step may take as long as it likes.
  double max_step_seconds = 0;
};

// Work handed to the device; wait() returns once it is done, with what went wrong.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual Status wait() noexcept = 0;
};

// Takes the ops of one step in order. Shapes are right when a call arrives here (ops/ checks them).
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual void embedding(const EmbeddingArgs&) noexcept = 0;
  virtual void rms_norm(const RmsNormArgs&) noexcept = 0;
  virtual void matmul(const MatmulArgs&) noexcept = 0;
  virtual void qk_norm_rope(const QkNormRopeArgs&) noexcept = 0;
  virtual void reshape_and_cache(const ReshapeAndCacheArgs&) noexcept = 0;
  virtual void paged_attention(const PagedAttentionArgs&) noexcept = 0;
  virtual void sigmoid_gate(const SigmoidGateArgs&) noexcept = 0;
  virtual void causal_conv1d(const CausalConv1dArgs&) noexcept = 0;
  virtual void gdn(const GdnArgs&) noexcept = 0;
  virtual void gated_rms_norm(const GatedRmsNormArgs&) noexcept = 0;
  virtual void gather_rows(const GatherRowsArgs&) noexcept = 0;
  virtual void zero_slots(const ZeroSlotsArgs&) noexcept = 0;
  virtual void copy_slot(const CopySlotArgs&) noexcept = 0;

  // Hands the step over. The encoder is empty afterwards and ready for the next one.
  virtual Pending& submit() noexcept = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const noexcept = 0;
  virtual Encoder& encoder() noexcept = 0;

  // Zero-filled, 64-byte aligned. `label` names it in the error.
  virtual Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) = 0;

  // Numbers are converted, quantised and repacked while loading, never per step.
  virtual Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format) = 0;
  virtual size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept = 0;  // exact

  // What Weight::bytes() of a format mean here: equal text, equal meaning, on any machine and in any version of ours.
  // Empty where weights cannot be adopted.
  virtual std::string weight_layout(WeightFormat) const { return {}; }
  // A weight over bytes that make_weight() made under the same layout. `bytes` is only read.
  virtual Result<std::unique_ptr<Weight>> adopt_weight(WeightFormat, [[maybe_unused]] int64_t rows,
                                                       [[maybe_unused]] int64_t cols, std::unique_ptr<Buffer>) {
    return make_error(StatusCode::unsupported, info().name + " adopts no weights");
  }

  // Scratch the device needs of its own for steps within `limits` (allocated by reserve()).
  virtual Status reserve(const StepLimits& limits) = 0;
  virtual size_t reserve_bytes(const StepLimits& limits) const noexcept = 0;

  virtual Status upload(const Tensor& to, const void* from, size_t size_bytes) noexcept = 0;
  virtual Status download(const Tensor& from, void* to, size_t size_bytes) noexcept = 0;

  // Whether ops are timed from now on; and what was measured since the last call, by op. Nothing on devices that
  // cannot.
  virtual void set_profiling(bool) {}
  virtual std::vector<OpTime> take_profile() { return {}; }
};

}  // namespace pagoda::device
