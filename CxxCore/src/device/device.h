// Device: owns weights and caches and runs ops. Models see only this interface and cannot tell devices apart.
// Thread rule: one thread (the engine's) drives a device, including allocation and upload.
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
#include "pagoda/expert_stats.h"
#include "pagoda/profile.h"

namespace pagoda::device {

using pagoda::OpLimit;
using pagoda::OpTime;

class OpRef;  // the arguments of any op, see device/op_list.h

// A weight matrix on a device, possibly repacked. [rows, cols] = [N, K].
class Weight {
 public:
  virtual ~Weight() = default;
  virtual int64_t rows() const noexcept = 0;
  virtual int64_t cols() const noexcept = 0;
  virtual WeightFormat format() const noexcept = 0;
  virtual size_t size_bytes() const noexcept = 0;  // on the device, after repacking
  // The device's own representation, to be saved in a file for adopt_weight(); empty if the host cannot see it, see
  // Device::read_weight().
  virtual std::span<const std::byte> bytes() const noexcept = 0;
  // The weights that this one was joined from, in the order of their rows; empty: it is one.
  virtual std::span<const std::unique_ptr<Weight>> pieces() const noexcept { return {}; }
  // Whether its experts are in files, so that only expert_matmul can use it; see Device::stream_experts().
  virtual bool is_streamed() const noexcept { return false; }
};

constexpr int64_t kPieceRows = 16;

// How a device reads a weight's elements while converting them to its own format.
struct WeightSource {
  std::string name;
  DType dtype = DType::f32;  // of the elements read: f32, f16 or bf16
  int64_t rows = 0, cols = 0;
  // May be called from several threads, as may read_stored.
  std::function<Status(int64_t row_begin, int64_t row_count, std::byte* into)> read_rows;
  // For a stored format: rows as base/quant/stored_row.h describes them.
  std::function<Status(int64_t row_begin, int64_t row_count, std::span<std::byte> into)> read_stored{};
  // After some rows, on the thread that makes the weight; an error ends the load.
  std::function<Status(int64_t num_rows)> rows_done{};
};

// Rows of a weight that have one format, and the source of these rows alone.
struct WeightPart {
  WeightSource source;
  WeightFormat format;
};

struct StepLimits {
  int64_t tokens = 0;                // most rows of any matmul
  int64_t cols = 0;                  // most columns of any weight
  int64_t sequences = 0;             // most sequences per step
  int64_t context = 0;               // most tokens per sequence
  int64_t heads = 0, head_dim = 0;   // of attention
  int64_t rows_by_head = 0;          // most rows of a product by head (MLA: expert_matmul), with at most
  int64_t head_cols = 0;             // this many columns, included in `cols`; 0: none
  int64_t k_heads = 0, v_heads = 0;  // of Gated DeltaNet
  int64_t k_dim = 0;                 // key dim of Gated DeltaNet
  int64_t logits_rows = 0, vocab = 0;
  int64_t experts = 0;  // of a mixture; 0: none
};

struct DeviceInfo {
  std::string name;         // cpu, reference
  std::string description;  // includes the instruction set and the number of threads
  int64_t memory_limit_bytes = 0;
  // Upper bound for the duration of a step, for devices that also drive the display: longer steps freeze the screen.
  // 0: no bound.
  double max_step_seconds = 0;
  // Most tokens of a step by default. A CPU keeps 256 in its caches; a GPU needs many to be busy, and one that also
  // drives the display must not be blocked for long.
  int32_t step_tokens = 256;
  bool has_own_memory = false;    // separate from host memory
  bool runs_beside_host = false;  // submit() returns before the step is done
};

// Submitted work; wait() blocks until it is done and returns its status.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual Status wait() noexcept = 0;
};

// Records the ops of one step in order. Shapes are already checked when a call arrives here (by ops/), as is can().
class Encoder {
 public:
  virtual ~Encoder() = default;
  // Whether the device has an op, whatever its arguments.
  virtual bool can(OpRef op) const noexcept = 0;
  virtual void encode(OpRef op) noexcept = 0;

  // Submits the step. Afterwards the encoder is empty and ready for the next one.
  virtual Pending& submit() noexcept = 0;

  // The step submitted last, if the device can run its launches again unchanged: a unique number.
  // 0: it cannot.
  virtual uint64_t repeatable_step() const noexcept { return 0; }
  // Submits that step again: the same ops on the same tensors, of which only the contents may differ. Nothing is
  // recorded.
  virtual Pending& repeat() noexcept { return submit(); }
  // Equal for contexts with the same launches, all else being equal.
  virtual int64_t context_class(int64_t max_context) const noexcept { return max_context; }
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const noexcept = 0;
  virtual Encoder& encoder() noexcept = 0;

  // Zero-filled, 64-byte aligned. `label` names it in the error.
  virtual Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) = 0;

  // The same for small results that the host reads after every step: if possible, in memory visible to the host,
  // so that reading them needs no copy.
  virtual Result<std::unique_ptr<Buffer>> allocate_readback(size_t size_bytes, const std::string& label) {
    return allocate(size_bytes, label);
  }

  // Elements are converted, quantised and repacked while loading, never per step.
  virtual Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format) = 0;
  virtual size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept = 0;  // exact

  // Whether make_weight() takes a stored format.
  virtual bool keeps_format(WeightFormat) const noexcept { return false; }
  // Whether join_weights() joins stored formats with each other and with f32 and f16, for matrices that are only
  // multiplied, without silu_mul (is_plain), or for all.
  virtual bool joins_weights([[maybe_unused]] bool is_plain) const noexcept { return false; }
  // Stacks weights of as many columns by rows; every one but the last has a multiple of kPieceRows rows.
  virtual Result<std::unique_ptr<Weight>> join_weights(std::vector<std::unique_ptr<Weight>>) {
    return make_error(StatusCode::unsupported, info().name + " joins no weights");
  }

  // Identifies the meaning of Weight::bytes() for a format: equal text means equal layout, on any machine and in any
  // version. Empty if weights cannot be adopted.
  virtual std::string weight_layout(WeightFormat) const { return {}; }
  // Whether make_weight() arranges or quantises the rows of a format, instead of copying or widening them.
  virtual bool repacks(WeightFormat) const noexcept { return false; }
  // Copies from byte `offset` of a weight's own representation, if Weight::bytes() is empty.
  virtual Status read_weight(const Weight&, [[maybe_unused]] size_t offset, std::span<std::byte>) {
    return make_error(StatusCode::unsupported, info().name + " reads no weights");
  }
  // Wraps or copies bytes that make_weight() produced under the same layout. `bytes` is only read.
  virtual Result<std::unique_ptr<Weight>> adopt_weight(WeightFormat, [[maybe_unused]] int64_t rows,
                                                       [[maybe_unused]] int64_t cols, std::unique_ptr<Buffer>) {
    return make_error(StatusCode::unsupported, info().name + " adopts no weights");
  }

  // Whether experts may stay in their files.
  virtual bool streams_experts() const noexcept { return false; }
  // A matrix of experts with as many rows each, of which nothing is read now: expert_matmul reads the experts that it
  // needs. What the sources refer to outlives the device.
  virtual Result<std::unique_ptr<Weight>> stream_experts(std::vector<WeightPart>,
                                                         [[maybe_unused]] int64_t num_experts) {
    return make_error(StatusCode::unsupported, info().name + " keeps all experts in memory");
  }
  // Allocates memory for the experts of all those matrices, after the last of them.
  virtual Status allocate_experts([[maybe_unused]] int64_t size_bytes) { return ok_status(); }
  virtual ExpertStats expert_stats() const { return {}; }

  // Allocates the device's own scratch memory for steps within `limits`.
  virtual Status reserve(const StepLimits& limits) = 0;
  virtual size_t reserve_bytes(const StepLimits& limits) const noexcept = 0;

  virtual Status upload(const Tensor& to, const void* from, size_t size_bytes) noexcept = 0;
  virtual Status download(const Tensor& from, void* to, size_t size_bytes) noexcept = 0;

  // Switches op timing on or off, and returns the measurements since the last call, by op. No-op on devices without
  // profiling.
  virtual void set_profiling(bool) {}
  virtual std::vector<OpTime> take_profile() { return {}; }
};

}  // namespace pagoda::device
