// ActivityLog: the lanes and the last steps of an engine, kept only while a watch is open.
// State: buffers that have their full size from the first watch on, so that a step allocates nothing.
// Thread rule: record and step functions belong to the engine's thread; open, close and read to any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "pagoda/activity.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

class ActivityLog {
 public:
  void open();  // another watch; throws if there is no memory
  void close() noexcept;
  Activity read() const;  // as of the last step; empty before the first watched step

  bool is_open() const noexcept { return num_watches_.load(std::memory_order_relaxed) > 0; }
  static StepRecord describe(const scheduler::StepPlan& plan) noexcept;  // before its rows are committed
  void add_step(const StepRecord& record) noexcept;                      // only if a watch was open when the step began
  void set_lanes(const scheduler::Scheduler& scheduler) noexcept;        // does nothing without a watch

 private:
  void add_lane(const request::Sequence& sequence) noexcept;

  std::atomic<int32_t> num_watches_ = 0;
  mutable std::mutex mutex_;         // guards the members below
  std::vector<Lane> lanes_;          // capacity kMaxLanes
  std::vector<StepRecord> records_;  // a ring of kMaxStepRecords once full
  size_t next_record_ = 0;
};

}  // namespace pagoda::engine
