// SoftwareBackend: records launches, runs those between two barriers together, and runs threadgroups in parallel.
#include "device/gpu/software/software_backend.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/threads/usable_cores.h"
#include "device/gpu/launch_checks.h"
#include "device/gpu/software/guarded_buffer.h"
#include "device/host/host_memory.h"

namespace pagoda::device::gpu::software {

Result<std::unique_ptr<SoftwareBackend>> SoftwareBackend::create(const Options& options,
                                                                 std::span<const KernelFile> files) {
  std::unique_ptr<SoftwareBackend> made(new SoftwareBackend(options, files));
  // A checker's shadow memory is not shared between threads.
  const int num_threads = made->checker_ ? 1 : options.num_threads > 0 ? options.num_threads : usable_cores();
  PAGODA_ASSIGN_OR_RETURN(made->pool_, ThreadPool::create(num_threads));
  for (int i = 0; i < num_threads; ++i) made->workers_.push_back(std::make_unique<Worker>());
  made->info_.name = "software";
  made->info_.description = concat("software device: the Metal kernels on ", num_threads, " threads");
  made->info_.memory_limit_bytes = host::memory_limit_bytes();
  return made;
}

Result<std::unique_ptr<Buffer>> SoftwareBackend::allocate(size_t size_bytes, const std::string& label) {
  PAGODA_ASSIGN_OR_RETURN(auto made, GuardedBuffer::create(size_bytes, label));
  return std::unique_ptr<Buffer>(std::move(made));
}

std::unique_ptr<Buffer> SoftwareBackend::share(std::unique_ptr<Buffer>& memory) {
  const auto at = reinterpret_cast<uintptr_t>(memory->host_pointer());
  if (at % static_cast<uintptr_t>(getpagesize()) != 0) return nullptr;
  return std::make_unique<GuardedBuffer>(std::move(memory));
}

Status SoftwareBackend::upload(Buffer& to, int64_t offset, const void* from, size_t size) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(to, offset, size));
  run_waiting();
  if (size) std::memcpy(to.host_pointer() + offset, from, size);
  return ok_status();
}

Status SoftwareBackend::download(Buffer& from, int64_t offset, void* to, size_t size) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(from, offset, size));
  run_waiting();
  if (size) std::memcpy(to, from.host_pointer() + offset, size);
  return ok_status();
}

Result<const Pipeline*> SoftwareBackend::pipeline(std::string_view name, std::span<const Constant> constants) {
  auto made = std::make_unique<SoftwarePipeline>();
  PAGODA_ASSIGN_OR_RETURN(made->kernel, check_pipeline(files_, name, constants));
  made->constants = constant_bits(*made->kernel, constants);
  for (const auto& cached : pipelines_)
    if (cached->kernel == made->kernel && cached->constants == made->constants) return cached.get();
  pipelines_.push_back(std::move(made));
  return pipelines_.back().get();
}

Status SoftwareBackend::record(Launch& launch, const SoftwarePipeline& pipeline, Size3 groups, Size3 threads,
                               std::span<const Binding> bindings) const {
  launch.inputs = {};
  launch.regions.clear();
  launch.buffers.clear();
  launch.values_bytes = 0;
  launch.pipeline = &pipeline;
  launch.groups = groups;
  launch.threads = threads;
  for (const BindingInfo& info : pipeline.kernel->bindings) {
    const Binding& binding =
        *std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) { return b.index == info.index; });
    char* at = nullptr;
    size_t size = binding.size_bytes;
    if (info.kind == BindingKind::values) {
      if (!launch.values) launch.values = std::make_unique<std::array<std::byte, kMaxValuesBytes>>();
      constexpr size_t kAlignment = 16;
      const size_t begin = (launch.values_bytes + kAlignment - 1) / kAlignment * kAlignment;
      if (begin + size > kMaxValuesBytes)
        return make_error(StatusCode::invalid_argument, "software device: " + std::string(pipeline.kernel->name) +
                                                            " takes more values than a launch has room for");
      at = reinterpret_cast<char*>(launch.values->data() + begin);
      std::memcpy(at, binding.values, size);
      launch.values_bytes = begin + size;
    } else {
      at = reinterpret_cast<char*>(binding.buffer->host_pointer()) + binding.offset_bytes;
      if (size == 0) size = binding.buffer->size_bytes() - static_cast<size_t>(binding.offset_bytes);
      launch.buffers.push_back(static_cast<const GuardedBuffer*>(binding.buffer));
    }
    launch.inputs.buffers[info.index] = at;
    launch.regions.push_back({at, at + size, info.name, info.written});
  }
  return ok_status();
}

void SoftwareBackend::launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                             std::span<const Binding> bindings) noexcept {
  if (!error_.is_ok()) return;
  const auto& software = static_cast<const SoftwarePipeline&>(pipeline);
  error_ = check_launch(*software.kernel, groups, threads, bindings);
  if (!error_.is_ok()) return;
  if (hazards_.needs_barrier(*software.kernel, bindings) && !options_.forget_barriers) {
    run_waiting();
    ++num_barriers_;
    if (!error_.is_ok()) return;  // the first error of the step is kept
  }
  if (num_waiting_ == launches_.size()) launches_.emplace_back();
  Launch& recorded = launches_[num_waiting_];
  error_ = record(recorded, software, groups, threads, bindings);
  if (error_.is_ok()) error_ = check_hazards(recorded);
  ++num_waiting_;
  ++num_launches_;
}

// Checks that waiting launches touch no memory that one of them writes: by address, so that a tracker that misses a
// barrier, and two buffers over the same memory, are detected. The check build verifies that a kernel stays within its
// bindings.
Status SoftwareBackend::check_hazards(const Launch& launch) const {
  for (const Launch& earlier : waiting())
    for (const Region& theirs : earlier.regions)
      for (const Region& ours : launch.regions) {
        if (!(theirs.written || ours.written) || theirs.high <= ours.low || ours.high <= theirs.low) continue;
        return make_error(StatusCode::internal,
                          "software device: hazard: " + std::string(launch.pipeline->kernel->name) +
                              (ours.written ? " writes " : " reads ") + std::string(ours.name) + ", which " +
                              std::string(earlier.pipeline->kernel->name) + (theirs.written ? " writes" : " reads") +
                              " as " + std::string(theirs.name) + ", without a barrier between them");
      }
  return ok_status();
}

// Runs the launches between two barriers: in any order, one after another.
void SoftwareBackend::run_waiting() noexcept {
  if (options_.reverse_launches) std::reverse(waiting().begin(), waiting().end());
  for (const Launch& launch : waiting())
    if (error_.is_ok()) run(launch);
  num_waiting_ = 0;
}

void SoftwareBackend::run(const Launch& launch) noexcept {
  const KernelInfo& kernel = *launch.pipeline->kernel;
  const Size3 g = launch.groups;
  const uint32_t num_groups = g.x * g.y * g.z, num_threads = launch.threads.x * launch.threads.y * launch.threads.z;
  if (num_groups == 0) return;
  if (checker_) checker_->begin_launch(launch.regions);
  for (auto& worker : workers_) {
    error_ = worker->reserve(num_threads);
    if (!error_.is_ok()) return;
  }
  std::atomic<bool> failed = false;
  std::mutex lock;
  auto work = [&](int64_t task, int thread) {
    if (failed) return;
    for (size_t i = 0; i < kernel.constants.size(); ++i) kernel.constants[i].set(launch.pipeline->constants[i]);
    const uint32_t i = static_cast<uint32_t>(task), at = options_.order == Order::reverse ? num_groups - 1 - i : i;
    const Threadgroup group{{at % g.x, at / g.x % g.y, at / (g.x * g.y)}, g, launch.threads, at, num_groups};
    std::string what = workers_[thread]->run(kernel, launch.inputs, group, options_, checker_);
    if (what.empty()) return;
    const std::lock_guard<std::mutex> hold(lock);
    if (!failed.exchange(true)) error_ = make_error(StatusCode::device_error, "software device: " + what);
  };
  pool_->parallel_for(num_groups, work);
  if (checker_ && error_.is_ok()) checker_->end_launch(kernel.name, launch.regions);
  for (const GuardedBuffer* buffer : launch.buffers)
    if (error_.is_ok() && !buffer->is_intact())
      error_ = make_error(StatusCode::device_error, "software device: " + std::string(kernel.name) +
                                                        ": out of bounds: wrote past the end of " + buffer->label());
}

Pending& SoftwareBackend::submit() noexcept {
  run_waiting();
  hazards_.clear();
  return *this;
}

Status SoftwareBackend::wait() noexcept {
  run_waiting();
  return std::exchange(error_, ok_status());
}

}  // namespace pagoda::device::gpu::software
