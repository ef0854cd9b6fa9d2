// Profile: optional per-op timing, with the memory traffic and arithmetic each op required.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/expert_ops.h"
#include "device/kda_ops.h"
#include "device/latent_ops.h"

namespace pagoda::device::cpu {

class Profile {
 public:
  // Adds its lifetime to an entry; no-op while profiling is off.
  class Timer {
   public:
    Timer() = default;
    explicit Timer(OpTime* entry) noexcept : entry_(entry), start_(std::chrono::steady_clock::now()) {}
    Timer(const Timer&) = delete;
    ~Timer() {
      if (entry_) entry_->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

   private:
    OpTime* entry_ = nullptr;
    std::chrono::steady_clock::time_point start_{};
  };

  void enable(bool enabled) noexcept { enabled_ = enabled; }
  std::vector<OpTime> take() noexcept { return std::exchange(entries_, {}); }

  Timer start(const MatmulArgs& args);
  Timer start(const PagedAttentionArgs& args);
  Timer start(const LatentAttentionArgs& args);
  Timer start(const CausalConv1dArgs& args);
  Timer start(const GdnArgs& args);
  Timer start(const KdaArgs& args);
  Timer start(const ExpertMatmulArgs& args, int64_t num_used);  // num_used: experts with rows
  Timer start_rows(int64_t num_rows, int64_t floats_per_row);

 private:
  Timer start_delta_rule(const char* name, const Tensor& q, const Tensor& v, const SequenceArgs& sequences,
                         const Tensor& state);
  OpTime* add(const std::string& name, double bytes, double operations, OpLimit kind);

  bool enabled_ = false;
  std::vector<OpTime> entries_;
};

}  // namespace pagoda::device::cpu
