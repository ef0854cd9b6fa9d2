// RowTasks: divides the rows of a weight among threads, which read and arrange them.
#pragma once

#include <cstdint>
#include <functional>

#include "base/threads/thread_pool.h"
#include "device/device.h"

namespace pagoda::device::host {

class RowTasks {
 public:
  // Reads and arranges rows [first, first + count) of the source on thread `thread`.
  using Body = std::function<Status(int64_t first, int64_t count, int thread)>;

  // `row_bytes` of a row as it is read; every task but the last has a multiple of `multiple` rows. Without a pool the
  // caller's thread does all of them.
  RowTasks(const WeightSource& source, int64_t row_bytes, int64_t multiple, ThreadPool* pool) noexcept;

  int64_t max_rows() const noexcept { return task_rows_; }  // of a task
  int num_threads() const noexcept { return pool_ == nullptr ? 1 : pool_->num_threads(); }

  // Reports the rows of a round of tasks to the source when it is complete. The error is that of the first failing
  // rows, whichever thread had them.
  Status run(const Body& body) const;

 private:
  Status run_round(const Body& body, int64_t begin, int64_t end) const;

  const WeightSource& source_;
  ThreadPool* pool_;
  int64_t task_rows_, round_rows_;
};

}  // namespace pagoda::device::host
