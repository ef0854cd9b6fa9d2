// Checks bounds against the launch's regions, and races with a stamp per byte.
#include "access_checker.h"

#include <cstdlib>

#include "device/gpu/software/worker.h"
#include "source_line.h"

namespace pagoda::device::gpu::software {

namespace {

std::string location(const Region& region, const char* at) {
  return std::string(region.name) + " + " + std::to_string(at - region.low) + " (of " +
         std::to_string(region.high - region.low) + " bytes)";
}

// Whether the access `past` happens before `now`.
template <class Stamp>
bool ordered(const Stamp& past, const Stamp& now, uint32_t num_threads) {
  if (past.thread == 0 || past.thread == now.thread) return true;
  if ((past.thread - 1) / num_threads != (now.thread - 1) / num_threads) return false;  // another threadgroup
  if (past.threadgroup_barriers != now.threadgroup_barriers) return true;
  return (past.thread - 1) / kSimdWidth == (now.thread - 1) / kSimdWidth &&
         past.simdgroup_barriers != now.simdgroup_barriers;
}

template <class Stamp>
std::string who(const Stamp& stamp, uint32_t num_threads) {
  return "thread " + std::to_string((stamp.thread - 1) % num_threads) + " of threadgroup " +
         std::to_string((stamp.thread - 1) / num_threads);
}

}  // namespace

// Zero pages mapped on first touch: a launch may touch little of the scratch memory bound to it.
std::shared_ptr<AccessChecker::Cell[]> AccessChecker::make_cells(size_t count) {
  return {static_cast<Cell*>(std::calloc(count, sizeof(Cell))), std::free};
}

void AccessChecker::fail_access(const Access& access, const std::string& what) {
  const std::string site = (access.is_write ? "write of " : "read of ") + std::to_string(access.size) + " bytes";
  fail_at(site.c_str(), 0, source_line(access.pc) + what);
}

void AccessChecker::begin_launch(std::span<const Region> regions) noexcept {
  memory_.clear();
  for (const Region& region : regions) {
    Tracked tracked{region, 0, nullptr};
    for (const Tracked& other : memory_)  // aliased memory shares one shadow
      if (other.region.low == region.low && other.region.high == region.high) tracked.cells = other.cells;
    bool shared = region.written;
    for (const Region& other : regions) shared |= other.written && other.low < region.high && region.low < other.high;
    if (shared && !tracked.cells) tracked.cells = make_cells(static_cast<size_t>(region.high - region.low));
    memory_.push_back(std::move(tracked));
  }
}

void AccessChecker::add_variable(char* at, size_t size, const char* name) noexcept {
  variables_.push_back({{at, at + size, name, true}, 1, make_cells(size)});
}

void AccessChecker::atomic(void* at, size_t size, bool is_write) noexcept {
  access(at, size, is_write, __builtin_return_address(0), true);
}

AccessChecker::Tracked* AccessChecker::find(const char* at) noexcept {
  Tracked* found = nullptr;
  for (auto* list : {&variables_, &memory_})
    for (Tracked& tracked : *list)  // if memory is aliased, the writable binding
      if (at >= tracked.region.low && at < tracked.region.high && (!found || tracked.region.written)) found = &tracked;
  return found;
}

// Describes the memory next to an invalid address.
std::string AccessChecker::neighbour(const char* at) const {
  std::string name = "far from every binding";
  ptrdiff_t best = 1 << 20;
  for (const auto* list : {&variables_, &memory_})
    for (const Tracked& tracked : *list) {
      const bool before = at < tracked.region.low;
      const ptrdiff_t distance = before ? tracked.region.low - at : at - tracked.region.high;
      if (distance >= best) continue;
      best = distance;
      name = std::string(tracked.region.name) + ": " + std::to_string(distance) +
             (before ? " bytes before its start" : " bytes past its end");
    }
  return name;
}

void AccessChecker::check_cell(const Tracked& tracked, Cell& cell, const Stamp& now, const char* at,
                               const Access& access) {
  const uint32_t num_threads = current_worker->num_threads();
  const auto race = [&](const Stamp& stamp, const char* did) {
    fail_access(access, "race: " + location(tracked.region, at) + did + who(stamp, num_threads));
  };
  if (!access.is_write && tracked.space == 1 && cell.write.thread == 0)
    fail_access(access, "uninitialised: " + location(tracked.region, at));
  if (!(access.is_atomic && cell.atomic_write) && !ordered(cell.write, now, num_threads))
    race(cell.write, " was written by ");
  if (access.is_write) {
    if (!access.is_atomic)
      for (const Stamp& read : cell.read)
        if (!ordered(read, now, num_threads)) race(read, " was read by ");
    cell.write = now;
    cell.atomic_write = access.is_atomic;
  } else if (!access.is_atomic) {
    if (cell.read[0].thread != now.thread) cell.read[1] = cell.read[0];
    cell.read[0] = now;
  }
}

void AccessChecker::access(void* address, size_t size, bool is_write, const void* pc, bool is_atomic) noexcept {
  Worker* worker = current_worker;
  if (!worker || !worker->current()) return;
  const Fiber& fiber = *worker->current();
  char* at = static_cast<char*>(address);
  if (at >= fiber.stack_low && at < fiber.stack_high) return;
  Tracked* tracked = find(at);
  if (tracked && at + size <= tracked->region.high && !tracked->cells && !is_write) return;  // read-only memory
  if (!tracked && (worker->owns(at) || is_program_memory(at))) return;
  const Access access{size, is_write, is_atomic, pc};
  if (!tracked) fail_access(access, "out of bounds: " + neighbour(at));
  if (at + size > tracked->region.high)
    fail_access(access, "out of bounds: runs past " + location(tracked->region, at));
  if (is_write && !tracked->region.written) fail_access(access, "write to const: " + location(tracked->region, at));
  const uint32_t thread =
      1 + worker->group_index() * worker->num_threads() + fiber.builtins.thread_index_in_threadgroup;
  const Stamp now{thread, static_cast<uint16_t>(fiber.epochs.threadgroup[tracked->space]),
                  static_cast<uint16_t>(fiber.epochs.simdgroup[tracked->space])};
  for (size_t i = 0; i < size; ++i)
    check_cell(*tracked, tracked->cells[at + i - tracked->region.low], now, at + i, access);
}

}  // namespace pagoda::device::gpu::software
