// CompileBudget: the work that compiling one constraint may cost, counted over all stages: patterns, GBNF, merging of
// schemas, building. Schemas come from clients, and a short text can ask for unlimited work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace pagoda::grammar {

class CompileBudget {
 public:
  static constexpr size_t kMaxSteps = 60'000'000;  // about 0.3 s: reached first on a fast machine
  static constexpr int64_t kMaxMilliseconds = 500;
  static constexpr size_t kMaxMergedNodes = 400'000;  // JSON values of merged schemas: about 40 MB

  CompileBudget() noexcept;

  // Spends work of about 5 ns per step. False once the budget is exhausted: loops must end then.
  bool spend(size_t num_steps = 1) noexcept {
    num_steps_ += num_steps;
    return num_steps_ < next_check_ || check();
  }
  bool add_merged_nodes(size_t count) noexcept {
    num_merged_nodes_ += count;
    return num_merged_nodes_ <= kMaxMergedNodes && spend(8 * count);
  }
  bool is_ok() const noexcept { return num_steps_ <= kMaxSteps && num_merged_nodes_ <= kMaxMergedNodes; }
  Status status() const;
  size_t num_steps() const noexcept { return num_steps_; }
  size_t num_merged_nodes() const noexcept { return num_merged_nodes_; }

 private:
  static constexpr size_t kStepsPerCheck = 16'384;  // of the clock
  bool check() noexcept;

  size_t num_steps_ = 0, next_check_ = kStepsPerCheck, num_merged_nodes_ = 0;
  int64_t begin_us_;
};

}  // namespace pagoda::grammar
