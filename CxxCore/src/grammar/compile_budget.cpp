// The clock is the CPU time of the compiling thread: a busy machine does not make a valid schema too expensive.
#include "grammar/compile_budget.h"

#include <ctime>

#include "base/concat.h"

namespace pagoda::grammar {

static int64_t thread_time_us() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

CompileBudget::CompileBudget() noexcept : begin_us_(thread_time_us()) {}

bool CompileBudget::check() noexcept {
  next_check_ = num_steps_ + kStepsPerCheck;
  if (thread_time_us() - begin_us_ > kMaxMilliseconds * 1000) num_steps_ = kMaxSteps + 1;
  return is_ok();
}

Status CompileBudget::status() const {
  if (num_merged_nodes_ > kMaxMergedNodes)
    return make_error(StatusCode::invalid_argument, concat("the schemas that apply together are too large: more than ",
                                                           kMaxMergedNodes, " values when they are combined"));
  if (is_ok()) return ok_status();
  return make_error(StatusCode::invalid_argument,
                    concat("the grammar takes more than ", kMaxMilliseconds, " ms to compile"));
}

}  // namespace pagoda::grammar
