// Divides rows among threads, and uploads what they made.
#include "device/gpu/weights/weight_loader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/threads/usable_cores.h"
#include "device/host/host_weight.h"

namespace pagoda::device::gpu {
namespace {

constexpr int kMaxThreads = 16;

RowPlace place_in(std::byte* memory, int64_t rows, const WeightLayout& layout) noexcept {
  std::byte* steps = memory + rows * layout.row_bytes;
  return {memory, steps, steps + rows * layout.step_bytes};
}

}  // namespace

Result<std::unique_ptr<Weight>> WeightLoader::make(const WeightSource& source, WeightFormat format) {
  PAGODA_RETURN_IF_ERROR(pagoda::is_stored(format) ? host::check_stored_source(source, format)
                                                   : host::check_source(source));
  const WeightLayout layout = weight_layout(source.rows, source.cols, format);
  PAGODA_ASSIGN_OR_RETURN(auto buffer,
                          backend_.allocate(static_cast<size_t>(layout.size_bytes), "weight " + source.name));
  if (backend_.runs_launches())
    PAGODA_RETURN_IF_ERROR(fill(*buffer, RowPacker(source, format, layout), source, layout));
  return std::unique_ptr<Weight>(new GpuWeight(std::move(buffer), source.rows, source.cols, format));
}

Status WeightLoader::fill(Buffer& buffer, const RowPacker& packer, const WeightSource& source,
                          const WeightLayout& layout) {
  const int64_t all_bytes = layout.row_bytes + layout.step_bytes + layout.scale_bytes;  // of a row
  std::byte* host = buffer.host_pointer();
  const int64_t most = std::clamp<int64_t>(options_.round_bytes / all_bytes, 1, source.rows);
  for (int64_t begin = 0; begin < source.rows; begin += most) {
    const int64_t count = std::min(most, source.rows - begin);
    if (host != nullptr) {
      const RowPlace all{host, host + layout.steps_offset, host + layout.scales_offset};
      PAGODA_RETURN_IF_ERROR(pack(packer, begin, count, all.after(begin, layout), layout));
    } else {
      PAGODA_ASSIGN_OR_RETURN(Staging* const half, next_half(static_cast<size_t>(count * all_bytes)));
      const RowPlace staged = place_in(half->memory(), count, layout);
      PAGODA_RETURN_IF_ERROR(pack(packer, begin, count, staged, layout));
      const auto upload = [&](int64_t offset, const std::byte* from, int64_t bytes) {
        return bytes == 0 ? ok_status()
                          : half->upload(buffer, offset + begin * bytes, from, static_cast<size_t>(count * bytes));
      };
      PAGODA_RETURN_IF_ERROR(upload(0, staged.rows, layout.row_bytes));
      PAGODA_RETURN_IF_ERROR(upload(layout.steps_offset, staged.steps, layout.step_bytes));
      PAGODA_RETURN_IF_ERROR(upload(layout.scales_offset, staged.scales, layout.scale_bytes));
    }
    if (source.rows_done) PAGODA_RETURN_IF_ERROR(source.rows_done(count));
  }
  return ok_status();
}

Result<std::unique_ptr<Weight>> WeightLoader::adopt(WeightFormat format, int64_t rows, int64_t cols,
                                                    std::unique_ptr<Buffer> memory) {
  const WeightLayout layout = weight_layout(rows, cols, format);
  const std::span<const std::byte> bytes(memory->host_pointer(), memory->size_bytes());
  if (bytes.size() != static_cast<size_t>(layout.size_bytes))
    return make_error(StatusCode::invalid_argument,
                      concat("a weight of ", bytes.size(), " bytes cannot be adopted, expected ", layout.size_bytes));
  if (auto shared = backend_.share(memory))
    return std::unique_ptr<Weight>(new GpuWeight(std::move(shared), rows, cols, format));
  PAGODA_ASSIGN_OR_RETURN(auto buffer, backend_.allocate(bytes.size(), "a weight from the cache"));
  if (std::byte* host = buffer->host_pointer(); host != nullptr) {
    PAGODA_RETURN_IF_ERROR(copy(bytes, host));
  } else {
    for (size_t begin = 0; begin < bytes.size();) {
      const auto part = bytes.subspan(begin, std::min(bytes.size() - begin, static_cast<size_t>(options_.round_bytes)));
      PAGODA_ASSIGN_OR_RETURN(Staging* const half, next_half(part.size()));
      PAGODA_RETURN_IF_ERROR(copy(part, half->memory()));
      PAGODA_RETURN_IF_ERROR(half->upload(*buffer, static_cast<int64_t>(begin), half->memory(), part.size()));
      begin += part.size();
    }
  }
  return std::unique_ptr<Weight>(new GpuWeight(std::move(buffer), rows, cols, format));
}

Status WeightLoader::copy(std::span<const std::byte> from, std::byte* to) {
  const size_t task_bytes = static_cast<size_t>(options_.task_bytes);
  const auto num_tasks = static_cast<int64_t>((from.size() + task_bytes - 1) / task_bytes);
  auto run = [&](int64_t task, int) {
    const auto part = from.subspan(static_cast<size_t>(task) * task_bytes);
    std::memcpy(to + (from.size() - part.size()), part.data(), std::min(part.size(), task_bytes));
  };
  if (num_tasks > 1) PAGODA_RETURN_IF_ERROR(start_threads());
  if (num_tasks > 1) pool_->parallel_for(num_tasks, run);
  else
    for (int64_t task = 0; task < num_tasks; ++task) run(task, 0);
  return ok_status();
}

Status WeightLoader::start_threads() {
  if (pool_) return ok_status();
  const int num_threads = options_.num_threads > 0 ? options_.num_threads : std::min(usable_cores(), kMaxThreads);
  PAGODA_ASSIGN_OR_RETURN(pool_, ThreadPool::create(num_threads));
  scratch_.resize(static_cast<size_t>(num_threads));
  return ok_status();
}

// Packs `count` rows on all threads. The error is that of the first failing rows, whichever thread had them.
Status WeightLoader::pack(const RowPacker& packer, int64_t begin, int64_t count, const RowPlace& to,
                          const WeightLayout& layout) {
  const int64_t task_rows = std::max<int64_t>(1, options_.task_bytes / packer.source_row_bytes());
  const int64_t num_tasks = (count + task_rows - 1) / task_rows;
  if (num_tasks > 1) PAGODA_RETURN_IF_ERROR(start_threads());
  if (scratch_.empty()) scratch_.resize(1);
  std::mutex mutex;  // guards `failed`
  Status failed = ok_status();
  std::atomic<int64_t> failed_task = num_tasks;
  auto run = [&](int64_t task, int thread) {
    if (task > failed_task.load(std::memory_order_relaxed)) return;
    const int64_t first = task * task_rows;
    Status status;
    try {
      status = packer.pack(begin + first, std::min(task_rows, count - first), scratch_[static_cast<size_t>(thread)],
                           to.after(first, layout));
    } catch (const std::bad_alloc&) {
      status = make_error(StatusCode::out_of_memory, "no host memory to convert weights");
    }
    if (status.is_ok()) return;
    const std::lock_guard lock(mutex);
    if (task >= failed_task.load(std::memory_order_relaxed)) return;
    failed_task.store(task, std::memory_order_relaxed);
    failed = status;
  };
  if (num_tasks == 1) run(0, 0);
  else pool_->parallel_for(num_tasks, run);
  return failed;
}

// The half that was filled before the last one, when its copies are done.
Result<Staging*> WeightLoader::next_half(size_t size_bytes) {
  if (size_bytes > half_bytes_) {
    PAGODA_RETURN_IF_ERROR(finish());
    const size_t wanted = std::max(size_bytes, static_cast<size_t>(options_.round_bytes));
    for (auto& half : halves_) {
      PAGODA_ASSIGN_OR_RETURN(half, backend_.make_staging(wanted));
    }
    half_bytes_ = wanted;
  }
  half_ = 1 - half_;
  PAGODA_RETURN_IF_ERROR(halves_[half_]->wait());
  return halves_[half_].get();
}

Status WeightLoader::finish() noexcept {
  Status status = ok_status();
  for (auto& half : halves_) {
    const Status waited = half ? half->wait() : ok_status();
    if (status.is_ok()) status = waited;
    half.reset();
  }
  half_bytes_ = 0;
  pool_.reset();
  scratch_.clear();
  return status;
}

}  // namespace pagoda::device::gpu
