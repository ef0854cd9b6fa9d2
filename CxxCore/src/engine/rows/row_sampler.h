// RowSampler: samples the rows of a step in parallel. A row of 248,000 logits takes 0.1 to 2 ms, so that one thread
// adds more to a step of 32 rows than the model takes on a GPU. Answers do not depend on the number of threads: a row
// is sampled by one thread, from its own inputs. State: a sampler per thread, and the rows of the current step.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/threads/thread_pool.h"
#include "sampler/sampler.h"

namespace pagoda::engine {

class RowSampler {
 public:
  // Uses this thread alone if no other can be started.
  RowSampler(int32_t vocab_size, int32_t max_rows, int32_t num_threads);

  void begin() noexcept { num_rows_ = next_ = 0; }
  // Rows in ascending order; what `input` refers to must last until take().
  void add(size_t logits_row, const sampler::SampleInput& input) noexcept;
  void run() noexcept;
  // False if the row was not added. In the same order.
  bool take(size_t logits_row, Status& status, sampler::SampleOutput& output) noexcept;

 private:
  struct Row {
    size_t logits_row = 0;
    sampler::SampleInput input;
    Status status;
    sampler::SampleOutput output;
  };
  std::unique_ptr<ThreadPool> pool_;
  std::vector<sampler::Sampler> samplers_;  // one per thread
  std::vector<Row> rows_;                   // [max_rows]
  size_t num_rows_ = 0, next_ = 0;
};

}  // namespace pagoda::engine
