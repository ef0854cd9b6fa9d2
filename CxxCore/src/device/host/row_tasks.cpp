// Sizes tasks so that every thread has several, and reads are not small.
#include "device/host/row_tasks.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

namespace pagoda::device::host {
namespace {

constexpr int64_t kFewestBytes = int64_t{128} << 10;  // of a task: reads of a file
constexpr int64_t kMostBytes = int64_t{1} << 20;      // of a task: buffers of a thread
constexpr int64_t kRoundBytes = int64_t{64} << 20;    // between two reports of progress
constexpr int64_t kTasksPerThread = 4;

int64_t round_up(int64_t n, int64_t to) noexcept { return (n + to - 1) / to * to; }

}  // namespace

RowTasks::RowTasks(const WeightSource& source, int64_t row_bytes, int64_t multiple, ThreadPool* pool) noexcept
    : source_(source), pool_(pool) {
  const int64_t threads = num_threads();
  const int64_t share = threads == 1 ? kMostBytes : source.rows * row_bytes / (threads * kTasksPerThread);
  const int64_t task_bytes = std::clamp(share, kFewestBytes, kMostBytes);
  task_rows_ = std::min(round_up(std::max<int64_t>(1, task_bytes / row_bytes), multiple), source.rows);
  round_rows_ = round_up(std::max<int64_t>(1, kRoundBytes / row_bytes), task_rows_);
}

Status RowTasks::run(const Body& body) const {
  for (int64_t begin = 0; begin < source_.rows; begin += round_rows_) {
    const int64_t end = std::min(source_.rows, begin + round_rows_);
    PAGODA_RETURN_IF_ERROR(run_round(body, begin, end));
    if (source_.rows_done) PAGODA_RETURN_IF_ERROR(source_.rows_done(end - begin));
  }
  return ok_status();
}

Status RowTasks::run_round(const Body& body, int64_t begin, int64_t end) const {
  std::mutex mutex;  // guards `failed`
  Status failed = ok_status();
  std::atomic<int64_t> failed_row = end;
  auto run = [&](int64_t task, int thread) {
    const int64_t first = begin + task * task_rows_;
    if (first > failed_row.load(std::memory_order_relaxed)) return;
    Status status;
    try {
      status = body(first, std::min(task_rows_, end - first), thread);
    } catch (const std::bad_alloc&) {
      status = make_error(StatusCode::out_of_memory, "weight " + source_.name + ": no memory to read its rows");
    }
    if (status.is_ok()) return;
    const std::lock_guard lock(mutex);
    if (first >= failed_row.load(std::memory_order_relaxed)) return;
    failed_row.store(first, std::memory_order_relaxed);
    failed = std::move(status);
  };
  const int64_t num_tasks = (end - begin + task_rows_ - 1) / task_rows_;
  if (pool_ != nullptr) pool_->parallel_for(num_tasks, run);
  else
    for (int64_t task = 0; task < num_tasks; ++task) run(task, 0);
  return failed;
}

}  // namespace pagoda::device::host
