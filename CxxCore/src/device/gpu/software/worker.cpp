// Worker: stacks, the order in which fibers run, and the switch from one to the next.
#include "device/gpu/software/worker.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/concat.h"
#include "device/gpu/software/sanitizer.h"

namespace pagoda::device::gpu::software {

thread_local Worker* current_worker = nullptr;
thread_local uint32_t rounds_left = 0;

namespace {
constexpr size_t kStackBytes = 64 * 1024, kGuardBytes = 16 * 1024;  // a guard is at least one page on any system
constexpr size_t kArenaBytes = kThreadgroupMemoryBytes + kMaxThreadgroupVariables * 128 + 64;
constexpr size_t kSlotBytes = kStackBytes + kGuardBytes;
}  // namespace

Worker::~Worker() {
  for (auto [at, size] : stacks_) munmap(at, size);
}

Status Worker::reserve(uint32_t num_threads) {
  if (arena_.empty()) {
    fibers_.reserve(kMaxThreads);  // never reallocates: fibers point into it
    simdgroups_.reserve(kMaxSimdgroups);
    arena_.resize(kArenaBytes);
    arena_touched_ = kArenaBytes;
  }
  while (fibers_.size() < num_threads) {
    const size_t size = kSimdWidth * kSlotBytes;
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return make_error(StatusCode::out_of_memory, "software device: no memory for stacks");
    stacks_.emplace_back(static_cast<char*>(mapped), size);
    simdgroups_.emplace_back();
    for (uint32_t lane = 0; lane < kSimdWidth; ++lane) {
      char* base = static_cast<char*>(mapped) + lane * kSlotBytes;
      if (mprotect(base, kGuardBytes, PROT_NONE) != 0)
        return make_error(StatusCode::out_of_memory, "software device: no memory for guard pages");
      Fiber& fiber = fibers_.emplace_back();
      fiber.stack_low = base + kGuardBytes;
      // Stacks start at staggered addresses: at equal page offsets they would all compete for the same cache sets.
      fiber.stack_high = fiber.stack_low + kStackBytes - (fibers_.size() - 1) % 61 * 576;
    }
  }
  return ok_status();
}

bool Worker::owns(const void* p) const noexcept {
  const char* at = static_cast<const char*>(p);
  const auto within = [at](const auto& v) {
    return at >= reinterpret_cast<const char*>(v.data()) && at < reinterpret_cast<const char*>(v.data() + v.size());
  };
  const auto inside = [at](const void* low, size_t size) {
    return at >= static_cast<const char*>(low) && at < static_cast<const char*>(low) + size;
  };
  return within(fibers_) || within(simdgroups_) || inside(this, sizeof *this) || inside(inputs_, sizeof *inputs_);
}

uint64_t Worker::next_random() noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  return random_ ^= random_ << 17;
}

void Worker::shuffle(uint8_t* order, uint32_t count) noexcept {
  const bool reverse = options_->order == Order::reverse;
  for (uint32_t i = 0; i < count; ++i) order[i] = static_cast<uint8_t>(reverse ? count - 1 - i : i);
  if (options_->order == Order::shuffled || options_->order == Order::random)
    for (uint32_t i = count - 1; i > 0; --i) std::swap(order[i], order[next_random() % (i + 1)]);
}

void Worker::choose_order() noexcept {
  shuffle(simdgroup_order_, num_simdgroups_);
  for (uint32_t i = 0; i < num_simdgroups_; ++i) simdgroup_order_index_[simdgroup_order_[i]] = static_cast<uint8_t>(i);
  for (uint32_t g = 0; g < num_simdgroups_; ++g) {
    Simdgroup& group = simdgroups_[g];
    shuffle(group.order, kSimdWidth);
    for (uint32_t i = 0; i < kSimdWidth; ++i)
      fibers_[g * kSimdWidth + group.order[i]].order_index = static_cast<uint8_t>(i);
    group.num_arrived = 0;
    group.ready = ~0u;
    group.order_bit = 1u << simdgroup_order_index_[g];
    group.fibers = &fibers_[g * kSimdWidth];
  }
  ready_simdgroups_ = num_simdgroups_ == 32 ? ~0u : (1u << num_simdgroups_) - 1u;
}

// The fiber to run next, searched from the given position on; null if all are waiting.
Fiber* Worker::first_ready(uint32_t from_simdgroup, uint32_t from_lane) noexcept {
  if (!ready_simdgroups_) return nullptr;
  const auto choose = [this](uint32_t ready, uint32_t from) {
    if (options_->order == Order::random) {
      for (uint32_t skip = static_cast<uint32_t>(next_random() % static_cast<uint32_t>(__builtin_popcount(ready)));
           skip; --skip)
        ready &= ready - 1;
    } else if (const uint32_t high = from < 32 ? ready & ~((1u << from) - 1u) : 0) {
      ready = high;
    }
    return static_cast<uint32_t>(__builtin_ctz(ready));
  };
  const uint32_t index = choose(ready_simdgroups_, from_simdgroup);
  Simdgroup& group = simdgroups_[simdgroup_order_[index]];
  return &group.fibers[group.order[choose(group.ready, index == from_simdgroup ? from_lane : 0)]];
}

void Worker::switch_to(Fiber* from, Fiber* to) noexcept {
  if (from == to) return;
  current_ = to;
  const bool ends = from && from->wait == Wait::done;
  const bool on_host = to == nullptr;
  sanitizer_leave(ends   ? nullptr
                  : from ? &from->fake_stack
                         : &host_fake_stack_,
                  on_host ? host_stack_ : to->stack_low,
                  on_host ? host_stack_bytes_ : static_cast<size_t>(to->stack_high - to->stack_low));
  switch_context(from ? from->context : scheduler_, to ? to->context : scheduler_);
  sanitizer_arrive(from ? from->fake_stack : host_fake_stack_, host_stack_, host_stack_bytes_);
}

// The fiber cannot continue: switches to another, or to the scheduler if none can run.
void Worker::yield(Fiber* fiber) noexcept {
  Simdgroup& group = *fiber->simdgroup;
  group.ready &= ~(1u << fiber->order_index);
  if (!group.ready) ready_simdgroups_ &= ~group.order_bit;
  const uint32_t next = fiber->order_index + 1u;
  const bool neighbour = next < kSimdWidth && (group.ready >> next & 1) && options_->order != Order::random;
  switch_to(fiber, neighbour ? &group.fibers[group.order[next]]
                             : first_ready(static_cast<uint32_t>(__builtin_ctz(group.order_bit)), next));
}

void Worker::fiber_main() {
  Worker* worker = current_worker;
  sanitizer_arrive(nullptr, worker->host_stack_, worker->host_stack_bytes_);
  Fiber* fiber = worker->current_;
  worker->kernel_->entry(*worker->inputs_, fiber->builtins);
  fiber->wait = Wait::done;
  ++worker->num_done_;
  for (;;) worker->yield(fiber);  // never returns
}

void Worker::begin(const Threadgroup& group) noexcept {
  const Size3 t = group.threads, at = group.position, n = group.groups;
  num_threads_ = t.x * t.y * t.z;
  num_simdgroups_ = num_threads_ / kSimdWidth;
  num_done_ = barrier_arrived_ = 0;
  std::fill(std::begin(variables_), std::end(variables_), nullptr);
  unpoison(arena_.data(), arena_.size());
  std::memset(arena_.data(), 0xff, arena_touched_);  // NaN in every float format, -1 in integers
  poison(arena_.data(), arena_.size());
  arena_used_ = variables_bytes_ = 0;
  choose_order();
  for (uint32_t i = 0; i < num_threads_; ++i) {
    Fiber& fiber = fibers_[i];
    Builtins& b = fiber.builtins;
    const U3 position = {i % t.x, i / t.x % t.y, i / (t.x * t.y)};
    b = {.thread_position_in_grid = {at.x * t.x + position.x, at.y * t.y + position.y, at.z * t.z + position.z},
         .thread_position_in_threadgroup = position,
         .threadgroup_position_in_grid = {at.x, at.y, at.z},
         .threads_per_grid = {n.x * t.x, n.y * t.y, n.z * t.z},
         .threads_per_threadgroup = {t.x, t.y, t.z},
         .threadgroups_per_grid = {n.x, n.y, n.z},
         .thread_index_in_threadgroup = i,
         .simdgroup_index_in_threadgroup = i / kSimdWidth,
         .thread_index_in_simdgroup = i % kSimdWidth,
         .simdgroups_per_threadgroup = num_simdgroups_,
         .threads_per_simdgroup = kSimdWidth};
    fiber.epochs = {};
    fiber.phase = 0;
    fiber.wait = Wait::ready;
    fiber.lane = static_cast<uint8_t>(i % kSimdWidth);
    fiber.simdgroup = &simdgroups_[i / kSimdWidth];
    fiber.fake_stack = nullptr;
    unpoison(fiber.stack_low, static_cast<size_t>(fiber.stack_high - fiber.stack_low));
    prepare_context(fiber.context, fiber.stack_low, fiber.stack_high, &Worker::fiber_main);
  }
}

std::string Worker::run(const KernelInfo& kernel, const KernelInputs& inputs, const Threadgroup& group,
                        const Options& options, Checker* checker) noexcept {
  kernel_ = &kernel;
  inputs_ = &inputs;
  options_ = &options;
  checker_ = checker;
  group_index_ = group.index;
  random_ = options.seed * 0x9e3779b97f4a7c15u + group.index * 0xbf58476d1ce4e5b9u + 1;
  error_.clear();
  rounds_left = options.max_rounds;
  current_worker = this;
  begin(group);
  if (checker) checker->begin_threadgroup();
  switch_to(nullptr, first_ready(0, 0));
  current_ = nullptr;
  current_worker = nullptr;
  arena_touched_ = arena_used_;
  if (error_.empty() && num_done_ != num_threads_) error_ = deadlock();
  return std::move(error_);
}

std::string Worker::deadlock() const {
  std::map<std::string, std::pair<uint32_t, uint32_t>> seen;  // where -> count, first thread
  for (uint32_t i = 0; i < num_threads_; ++i) {
    const Fiber& fiber = fibers_[i];
    const std::string where =
        fiber.wait == Wait::done ? "finished" : concat("waiting in ", fiber.what, " at line ", fiber.line);
    auto& entry = seen[where];
    if (entry.first++ == 0) entry.second = i;
  }
  std::string text = std::string(kernel_->name) + ": divergence: no thread can continue;";
  for (const auto& [where, entry] : seen)
    text += concat(" ", entry.first, " ", where, " (first: thread ", entry.second, ");");
  return text;
}

}  // namespace pagoda::device::gpu::software
