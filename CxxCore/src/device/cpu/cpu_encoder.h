// CpuEncoder: runs ops as they arrive, but defers some to fuse them with the next: consecutive row ops process each row
// in one pass, a matmul packs its rows at the end of such a pass, and a convolution runs inside the gdn that reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/cpu/cpu_ops.h"
#include "device/cpu/expert_order.h"
#include "device/cpu/profile.h"
#include "device/host/eager_encoder.h"

namespace pagoda::device::cpu {

class CpuEncoder final : public host::EagerEncoder {
 public:
  explicit CpuEncoder(const Context& context) noexcept : context_(context) {}
  void set_matmul_memory(const MatmulMemory& memory) noexcept { context_.matmul = memory; }
  Profile& profile() noexcept { return profile_; }

  bool can(OpRef op) const noexcept override;
  void encode(OpRef op) noexcept override;

 private:
  // Runs or defers an op; the device has those that this accepts. The host has the logits: no argmax, no sample.
  template <class Args>
    requires(is_row_op<Args>)
  void record(const Args& a) noexcept;
  template <class Args>
    requires(is_whole_op<Args>)
  void record(const Args& a) noexcept;
  void record(const EmbeddingArgs& a) noexcept;
  void record(const GatherRowsArgs& a) noexcept;
  void record(const MatmulArgs& a) noexcept;
  void record(const CausalConv1dArgs& a) noexcept;
  void record(const GdnArgs& a) noexcept;
  void record(const RouteExpertsArgs& a) noexcept;
  void record(const ExpertMatmulArgs& a) noexcept;

  void run_waiting() noexcept;  // runs everything deferred
  void run_conv() noexcept;
  template <class Args>
  void defer(const Args& a) noexcept;
  void run_rows() noexcept;  // runs the deferred row ops
  void finish() noexcept override { run_waiting(); }

  Context context_;
  std::vector<Ops::Value> rows_;          // keeps its capacity between steps
  int64_t num_rows_ = 0, row_cost_ = 0;   // of the deferred row ops; cost in floats
  std::optional<CausalConv1dArgs> conv_;  // deferred until the gdn that reads it
  ExpertOrder expert_order_;
  Profile profile_;
};

}  // namespace pagoda::device::cpu
