// Profile: optional per-op timing, with the memory traffic and arithmetic each op required.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "device/op_cost.h"

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

  Timer start(OpRef op);
  Timer start(const ExpertMatmulArgs& args, int64_t num_used);  // num_used: experts with rows
  Timer start_rows(int64_t num_rows, int64_t floats_per_row);   // of row ops that run together

 private:
  OpTime* add(const std::string& name, const OpCost& cost, OpLimit kind);

  bool enabled_ = false;
  std::vector<OpTime> entries_;
};

}  // namespace pagoda::device::cpu
