// Slots of the expert store, the choice of whom to evict, and the threads that read.
#include "device/host/expert_store.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/host/host_memory.h"

namespace pagoda::device::host {
namespace {

constexpr size_t kSlotAlignment = 64;
// Products of a matrix after which a use counts half: 0 would evict what was used longest ago, infinity what was used
// least often. Hits of a simulated router with 10 of 512 experts and memory for an eighth of them, for 0, 32 and
// infinity: 26, 36 and 39 % if some experts are more popular, 36, 42 and 29 % if topics change every hundred tokens.
constexpr double kHalfLife = 32;

size_t round_up(size_t n) noexcept { return (n + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

}  // namespace

int ExpertStore::add(ExpertMatrix matrix) {
  const size_t slot_bytes = round_up(std::max<size_t>(matrix.slot_bytes, 1));
  auto pool = std::ranges::find(pools_, slot_bytes, &Pool::slot_bytes);
  if (pool == pools_.end()) pool = pools_.insert(pool, {.slot_bytes = slot_bytes});
  pool->num_experts += matrix.num_experts;
  const auto num_experts = static_cast<size_t>(matrix.num_experts);
  matrices_.push_back(
      {std::move(matrix), std::vector<Expert>(num_experts), static_cast<size_t>(pool - pools_.begin()), 0});
  return static_cast<int>(matrices_.size()) - 1;
}

int64_t ExpertStore::min_bytes() const {
  size_t least = 0;
  for (const Pool& pool : pools_) least += pool.slot_bytes;
  return static_cast<int64_t>(least);
}

// One buffer: the system's allocator could not return the memory of slots of one size to those of another.
Status ExpertStore::allocate(int64_t size_bytes) {
  const int64_t least = min_bytes();
  if (size_bytes < least)
    return make_error(StatusCode::out_of_memory,
                      concat("expert memory of ", size_bytes, " bytes is less than one expert of every size, ", least));
  double all = 0;
  size_t most = 0, used = 0;
  for (const Pool& pool : pools_) all += static_cast<double>(pool.slot_bytes) * static_cast<double>(pool.num_experts);
  for (const Matrix& matrix : matrices_) most = std::max(most, matrix.experts.size());
  const double share =
      static_cast<double>(size_bytes) >= all ? 1.0 : static_cast<double>(size_bytes - least) / std::max(all, 1.0);
  for (Pool& pool : pools_) {
    const auto count = static_cast<int64_t>(share * static_cast<double>(pool.num_experts));
    pool.slots = std::vector<Slot>(static_cast<size_t>(std::min(pool.num_experts, count + 1)));
    used += pool.slots.size() * pool.slot_bytes;
  }
  PAGODA_ASSIGN_OR_RETURN(memory_, make_buffer(used, "experts"));
  std::byte* next = memory_->host_pointer();
  for (Pool& pool : pools_)
    for (Slot& slot : pool.slots) slot.data = std::exchange(next, next + pool.slot_bytes);
  stats_.memory_bytes = static_cast<int64_t>(used);
  reads_.reserve(most);
  hints_.reserve(2 * most);
  guesses_.reserve(2 * most);
  left_.reserve(most);
  wave_.reserve(most);
  try {
    for (int i = 0; i < num_readers_; ++i) readers_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    return make_error(StatusCode::resource_exhausted, std::string("cannot start a thread: ") + error.what());
  }
  return ok_status();
}

ExpertStore::~ExpertStore() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  has_work_.notify_all();
  for (std::thread& reader : readers_) reader.join();
}

ExpertStats ExpertStore::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

// heat = log2 of the sum over all uses of 2^(product index / half-life): its order between two experts of a matrix
// changes only with a use. It survives eviction.
void ExpertStore::touch(Matrix& matrix, int32_t expert) noexcept {
  Expert& e = matrix.experts[expert];
  const double now = static_cast<double>(matrix.num_products) / kHalfLife;
  e.heat = e.heat == kNever ? now : now + std::log2(1.0 + std::exp2(e.heat - now));
  if (e.slot >= 0) pools_[matrix.pool].slots[e.slot].heat = e.heat;
}

// Heat as of today, by the matrix's own count of products. Of equals, as after prompts that used all experts, the first
// slot is evicted, again and again, so that the others keep what they have until it is used once more.
double ExpertStore::rank(const Slot& slot) const noexcept {
  return slot.heat - static_cast<double>(matrices_[slot.matrix].num_products) / kHalfLife;
}

ExpertStore::Slot* ExpertStore::find_slot(const Read& read, Reason reason) noexcept {
  constexpr double kHinted = 1e6, kGuessed = 1e5;  // hinted experts go last, after guessed ones
  Slot* best = nullptr;
  double lowest = std::numeric_limits<double>::infinity();
  for (Slot& slot : pools_[matrices_[read.matrix].pool].slots) {
    if (slot.expert < 0) return &slot;
    double rank_here = rank(slot);
    if (rank_here >= lowest) continue;
    const Expert& expert = at(slot);
    if (expert.place == Place::reading || expert.is_needed) continue;
    if (expert.is_hinted && reason != Reason::product) continue;
    if (expert.is_guessed && reason == Reason::guess) continue;
    rank_here += expert.is_hinted ? kHinted : expert.is_guessed ? kGuessed : 0;
    if (rank_here < lowest) best = &slot, lowest = rank_here;
  }
  return best;
}

// The next read, and its slot: what the product lacks, then hints, then guesses. A hint that finds no slot is dropped;
// a read waits for one.
bool ExpertStore::choose(Read& read, Slot*& slot, Reason& reason) noexcept {
  reason = Reason::product;
  while (next_read_ < reads_.size()) {
    read = reads_[next_read_];
    if (matrices_[read.matrix].experts[read.expert].place != Place::file) {
      ++next_read_;
      continue;
    }
    slot = find_slot(read, reason);
    if (slot == nullptr) return false;
    ++next_read_;
    return true;
  }
  reason = Reason::hint;
  while (next_hint_ < hints_.size()) {
    read = hints_[next_hint_++];
    Expert& expert = matrices_[read.matrix].experts[read.expert];
    if (expert.place != Place::file || !expert.is_hinted) continue;
    slot = find_slot(read, reason);
    if (slot != nullptr) return true;
    expert.is_hinted = false;
  }
  reason = Reason::guess;
  return choose_guess(read, slot);
}

// One that finds no slot is dropped. Half of the threads are left for a product, whose reads would wait for guesses.
bool ExpertStore::choose_guess(Read& read, Slot*& slot) noexcept {
  while (next_guess_ < guesses_.size() && 2 * num_guessing_ < num_readers_) {
    read = guesses_[next_guess_++];
    const Expert& expert = matrices_[read.matrix].experts[read.expert];
    if (expert.place != Place::file || !expert.is_guessed) continue;
    slot = find_slot(read, Reason::guess);
    if (slot != nullptr) return true;
  }
  return false;
}

void ExpertStore::work() {
  std::unique_lock lock(mutex_);
  Read read{};
  Slot* slot = nullptr;
  Reason reason{};
  while (true) {
    has_work_.wait(lock, [&] { return is_closing_ || choose(read, slot, reason); });
    if (is_closing_) return;
    const int num_guessing = reason == Reason::guess ? 1 : 0;
    num_guessing_ += num_guessing;
    read_into(lock, read, *slot);
    num_guessing_ -= num_guessing;
  }
}

void ExpertStore::read_into(std::unique_lock<std::mutex>& lock, const Read& read, Slot& slot) noexcept {
  Matrix& matrix = matrices_[read.matrix];
  Expert& expert = matrix.experts[read.expert];
  Pool& pool = pools_[matrix.pool];
  if (slot.expert >= 0) {
    Expert& evicted = at(slot);
    evicted.slot = -1;
    evicted.place = Place::file;
    evicted.is_hinted = evicted.is_guessed = false;
  }
  slot.matrix = read.matrix;
  slot.expert = read.expert;
  slot.heat = expert.heat;
  expert.slot = static_cast<int32_t>(&slot - pool.slots.data());
  expert.place = Place::reading;
  ++num_reading_;
  lock.unlock();
  Result<std::unique_ptr<Weight>> weight = [&]() -> Result<std::unique_ptr<Weight>> {
    try {
      slot.weight.reset();
      return matrix.source.read(read.expert, {slot.data, matrix.source.slot_bytes});
    } catch (const std::bad_alloc&) {
      return Status{StatusCode::out_of_memory, "out of memory"};
    }
  }();
  lock.lock();
  --num_reading_;
  stats_.num_reads += 1;
  if (weight.is_ok()) {
    stats_.read_bytes += static_cast<int64_t>(matrix.source.slot_bytes);
    slot.weight = std::move(*weight);
    expert.place = Place::memory;
  } else {  // the next product that needs it tries again
    if (expert.is_needed && failed_.is_ok()) failed_ = std::move(weight.status);
    slot.matrix = slot.expert = -1;
    slot.heat = kNever;
    expert.slot = -1;
    expert.place = Place::file;
    expert.is_hinted = expert.is_guessed = false;
  }
  has_read_.notify_one();
}

void ExpertStore::prefetch(int matrix, std::span<const int32_t> experts) noexcept {
  const std::lock_guard lock(mutex_);
  if (next_hint_ == hints_.size()) hints_.clear(), next_hint_ = 0;
  Matrix& m = matrices_[matrix];
  for (const int32_t expert : experts) {
    Expert& e = m.experts[expert];
    if (e.is_hinted || hints_.size() == hints_.capacity()) continue;
    e.is_hinted = true;
    if (e.place == Place::file) hints_.push_back({matrix, expert});
  }
  if (next_hint_ < hints_.size()) has_work_.notify_all();
}

void ExpertStore::guess(int matrix, std::span<const int32_t> experts) noexcept {
  const std::lock_guard lock(mutex_);
  if (next_guess_ == guesses_.size()) guesses_.clear(), next_guess_ = 0;
  Matrix& m = matrices_[matrix];
  for (const int32_t expert : experts) {
    Expert& e = m.experts[expert];
    if (e.is_guessed || guesses_.size() == guesses_.capacity()) continue;
    e.is_guessed = true;
    ++stats_.num_guesses;
    if (e.place == Place::file) guesses_.push_back({matrix, expert});
  }
  if (next_guess_ < guesses_.size()) has_work_.notify_all();
}

void ExpertStore::start(int matrix, std::span<const int32_t> experts) noexcept {
  const std::lock_guard lock(mutex_);
  end_product();
  Matrix& m = matrices_[matrix];
  ++m.num_products;
  matrix_ = matrix;
  left_.assign(experts.begin(), experts.end());
  for (const int32_t expert : experts) {
    Expert& e = m.experts[expert];
    touch(m, expert);
    e.is_needed = true;
    e.is_hinted = false;
    if (e.is_guessed) ++stats_.num_right_guesses;
    ++(e.place == Place::memory ? stats_.num_hits : e.place == Place::reading ? stats_.num_late : stats_.num_misses);
    if (e.place == Place::file) reads_.push_back({matrix, expert});
  }
  forget_guesses(m);
  if (!reads_.empty()) has_work_.notify_all();
}

Result<std::span<const ExpertStore::Resident>> ExpertStore::next() noexcept {
  std::unique_lock lock(mutex_);
  release_wave();
  if (left_.empty()) return std::span<const Resident>();
  Matrix& matrix = matrices_[matrix_];
  const auto is_here = [&](int32_t expert) { return matrix.experts[expert].place == Place::memory; };
  const auto begin = std::chrono::steady_clock::now();
  has_read_.wait(lock, [&] { return !failed_.is_ok() || std::ranges::any_of(left_, is_here); });
  stats_.wait_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!failed_.is_ok()) {
    Status status = std::move(failed_);
    end_product();
    forget_hints();
    // Otherwise the failure of a read that this product began would be that of the next one.
    has_read_.wait(lock, [&] { return num_reading_ == 0; });
    return status;
  }
  for (const int32_t expert : left_)
    if (is_here(expert)) wave_.push_back({expert, pools_[matrix.pool].slots[matrix.experts[expert].slot].weight.get()});
  std::erase_if(left_, is_here);
  return std::span<const Resident>(wave_);
}

// After a failed step the products that the hints were for do not follow.
void ExpertStore::forget_hints() noexcept {
  for (Matrix& matrix : matrices_) {
    for (Expert& expert : matrix.experts) expert.is_hinted = false;
    forget_guesses(matrix);
  }
  hints_.clear();
  guesses_.clear();
  next_hint_ = next_guess_ = 0;
}

void ExpertStore::forget_guesses(Matrix& matrix) noexcept {
  for (Expert& expert : matrix.experts) expert.is_guessed = false;
}

// The experts of a wave stay needed until it is over, so that they keep their slots.
void ExpertStore::release_wave() noexcept {
  if (wave_.empty()) return;
  for (const Resident& resident : wave_) matrices_[matrix_].experts[resident.expert].is_needed = false;
  wave_.clear();
  if (next_read_ < reads_.size() || next_hint_ < hints_.size() || next_guess_ < guesses_.size()) has_work_.notify_all();
}

void ExpertStore::end_product() noexcept {
  release_wave();
  for (const int32_t expert : left_) matrices_[matrix_].experts[expert].is_needed = false;
  left_.clear();
  reads_.clear();
  next_read_ = 0;
  failed_ = {};
}

}  // namespace pagoda::device::host
