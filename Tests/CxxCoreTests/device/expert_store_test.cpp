// ExpertStore: never more memory than allowed, the right expert in every slot, who is evicted, errors and many threads.
#include "device/host/expert_store.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include "support/test.h"

namespace pagoda::test {
namespace {

using device::Weight;
using device::host::ExpertStore;

class SlotWeight final : public Weight {  // refers to a slot
 public:
  explicit SlotWeight(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
  int64_t rows() const noexcept override { return 1; }
  int64_t cols() const noexcept override { return static_cast<int64_t>(bytes_.size()); }
  WeightFormat format() const noexcept override { return WeightFormat::f32; }
  size_t size_bytes() const noexcept override { return bytes_.size(); }
  std::span<const std::byte> bytes() const noexcept override { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

std::byte mark(int matrix, int64_t expert) { return static_cast<std::byte>(matrix * 37 + expert + 1); }

// Matrices whose experts consist of mark() bytes, a log of what was read, and reads that fail on demand.
struct Rig {
  std::mutex mutex;  // guards the next three
  std::condition_variable has_read;
  std::vector<std::pair<int, int64_t>> reads;
  std::map<const std::byte*, size_t> slots;  // their bytes
  std::set<std::pair<int, int64_t>> broken;
  ExpertStore store;  // last: its threads use the others

  explicit Rig(int num_readers) : store(num_readers) {}

  int add(int64_t num_experts, size_t bytes) {
    const int matrix = num_matrices++;
    const int index = store.add(
        {.name = "m" + std::to_string(matrix),
         .num_experts = num_experts,
         .slot_bytes = bytes,
         .read = [this, matrix](int64_t expert, std::span<std::byte> slot) { return read(matrix, expert, slot); }});
    CHECK_EQ(index, matrix);
    return index;
  }

  Result<std::unique_ptr<Weight>> read(int matrix, int64_t expert, std::span<std::byte> slot) {
    {
      const std::lock_guard lock(mutex);
      reads.emplace_back(matrix, expert);
      has_read.notify_all();
      slots[slot.data()] = (slot.size() + 63) / 64 * 64;
      if (broken.contains({matrix, expert}))
        return make_error(StatusCode::io_error, "expert " + std::to_string(expert) + " is broken");
    }
    std::memset(slot.data(), 0, slot.size());
    std::memset(slot.data(), std::to_integer<int>(mark(matrix, expert)), slot.size());
    return std::unique_ptr<Weight>(new SlotWeight(slot));
  }

  // Runs a product; every expert arrives once, with its own bytes.
  Status use(int matrix, const std::vector<int32_t>& experts) {
    store.start(matrix, experts);
    std::vector<int32_t> seen;
    while (true) {
      const auto ready = store.next();
      if (!ready.is_ok()) return ready.status;
      if (ready->empty()) break;
      for (const auto& [expert, weight] : *ready) {
        seen.push_back(expert);
        CHECK(std::ranges::all_of(weight->bytes(), [&](std::byte b) { return b == mark(matrix, expert); }));
      }
    }
    std::vector<int32_t> wanted = experts;
    std::ranges::sort(seen);
    std::ranges::sort(wanted);
    CHECK(seen == wanted);
    return ok_status();
  }

  bool was_read(int matrix, int64_t expert) {  // since the last call of forget()
    const std::lock_guard lock(mutex);
    return std::ranges::count(reads, std::pair(matrix, expert)) > 0;
  }
  bool waits_for(int matrix, int64_t expert) {  // false: it was not read within ten seconds
    std::unique_lock lock(mutex);
    return has_read.wait_for(lock, std::chrono::seconds(10),
                             [&] { return std::ranges::count(reads, std::pair(matrix, expert)) > 0; });
  }
  void forget() {
    const std::lock_guard lock(mutex);
    reads.clear();
  }

 private:
  int num_matrices = 0;
};

std::vector<int32_t> first(int32_t count) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) ids[static_cast<size_t>(i)] = i;
  return ids;
}

}  // namespace

PAGODA_TEST(experts_stay_within_their_memory) {
  for (const int64_t memory : {int64_t{64 + 192}, int64_t{3000}, int64_t{20 * (64 + 192)}}) {
    Rig rig(3);
    for (int layer = 0; layer < 2; ++layer) rig.add(10, 150), rig.add(10, 64);
    CHECK_OK(rig.store.allocate(memory));
    CHECK(rig.store.stats().memory_bytes <= memory);
    for (int step = 0; step < 3; ++step)
      for (int matrix = 0; matrix < 4; ++matrix) CHECK_OK(rig.use(matrix, first(10)));
    size_t used = 0;
    for (const auto& [slot, bytes] : rig.slots) used += bytes;
    CHECK(rig.slots.size() >= 2);
    CHECK(used <= static_cast<size_t>(memory) && used + 2 * 192 >= static_cast<size_t>(memory));
    const auto stats = rig.store.stats();
    CHECK_EQ(stats.num_hits + stats.num_late + stats.num_misses, int64_t{120});
    if (memory >= 20 * (64 + 192)) CHECK_EQ(stats.num_reads, int64_t{40});  // each once
  }
}

PAGODA_TEST(experts_need_memory_for_one_of_each_size) {
  Rig rig(1);
  rig.add(4, 100);
  rig.add(4, 300);
  CHECK_EQ(rig.store.min_bytes(), int64_t{128 + 320});
  const Status status = rig.store.allocate(128 + 319);
  CHECK(status.code == StatusCode::out_of_memory);
  CHECK(status.message.find("448") != status.message.npos);
}

PAGODA_TEST(experts_used_often_stay) {
  Rig rig(1);
  const int matrix = rig.add(8, 64);
  CHECK_OK(rig.store.allocate(4 * 64 + 64));
  for (int step = 0; step < 6; ++step) CHECK_OK(rig.use(matrix, {0, 1}));
  for (int32_t other = 2; other < 8; ++other) CHECK_OK(rig.use(matrix, {other}));  // each once
  rig.forget();
  CHECK_OK(rig.use(matrix, {0, 1}));
  CHECK(!rig.was_read(matrix, 0) && !rig.was_read(matrix, 1));
}

// But not forever: what was used long ago makes room for what is used now.
PAGODA_TEST(experts_used_long_ago_are_evicted) {
  Rig rig(1);
  const int matrix = rig.add(3, 64);
  CHECK_OK(rig.store.allocate(3 * 64 - 1));  // two slots
  for (int step = 0; step < 40; ++step) CHECK_OK(rig.use(matrix, {0}));
  for (int step = 0; step < 60; ++step) CHECK_OK(rig.use(matrix, {1 + step % 2}));  // each less often than 0
  rig.forget();
  CHECK_OK(rig.use(matrix, {1, 2}));
  CHECK(rig.reads.empty());
}

// Steps that use all experts of all layers, as prompts do, find in memory what fits, and not nothing.
PAGODA_TEST(experts_of_steps_that_use_all_are_found_again) {
  constexpr int kLayers = 8;
  constexpr int32_t kExperts = 8;
  Rig rig(2);
  for (int layer = 0; layer < kLayers; ++layer) rig.add(kExperts, 64);
  CHECK_OK(rig.store.allocate(kLayers * kExperts * 64 / 2));
  for (int step = 0; step < 10; ++step)
    for (int layer = 0; layer < kLayers; ++layer) CHECK_OK(rig.use(layer, first(kExperts)));
  const auto stats = rig.store.stats();
  const double hits = static_cast<double>(stats.num_hits) / (10 * kLayers * kExperts);
  note("hits " + std::to_string(hits));
  CHECK(hits > 0.3);
}

PAGODA_TEST(experts_that_were_hinted_are_not_read_again) {
  Rig rig(2);
  const int in = rig.add(8, 64), out = rig.add(8, 128);
  CHECK_OK(rig.store.allocate(8 * 192));
  for (int step = 0; step < 4; ++step) {
    const std::vector<int32_t> experts = {step, step + 4};
    rig.store.prefetch(in, experts);
    rig.store.prefetch(out, experts);
    CHECK_OK(rig.use(in, experts));
    CHECK_OK(rig.use(out, experts));
  }
  CHECK_EQ(rig.store.stats().num_reads, int64_t{16});
}

// Hints for more than fits neither block a product nor evict each other for ever.
PAGODA_TEST(experts_hinted_beyond_the_memory_are_read_when_needed) {
  Rig rig(3);
  const int in = rig.add(16, 64), out = rig.add(16, 64);
  CHECK_OK(rig.store.allocate(3 * 64));
  for (int step = 0; step < 20; ++step) {
    rig.store.prefetch(in, first(16));
    rig.store.prefetch(out, first(16));
    CHECK_OK(rig.use(in, first(16)));
    CHECK_OK(rig.use(out, first(16)));
  }
}

PAGODA_TEST(experts_that_cannot_be_read_fail_the_product_and_nothing_else) {
  Rig rig(2);
  const int matrix = rig.add(8, 64), other = rig.add(8, 64);
  CHECK_OK(rig.store.allocate(4 * 64));
  rig.broken = {{matrix, 3}};
  for (int step = 0; step < 5; ++step) {
    rig.store.prefetch(matrix, first(8));  // a hint that fails is not an error
    CHECK_OK(rig.use(other, first(8)));
    const Status status = rig.use(matrix, first(8));
    CHECK(status.code == StatusCode::io_error);
    CHECK(status.message == "expert 3 is broken");
    CHECK_OK(rig.use(matrix, {0, 1, 2, 4}));
  }
  {
    const std::lock_guard lock(rig.mutex);
    rig.broken.clear();
  }
  CHECK_OK(rig.use(matrix, first(8)));
}

// A read that a failed product began may fail later: that is not the next product's error, which reads again.
PAGODA_TEST(experts_read_for_a_failed_product_fail_no_other) {
  std::mutex mutex;
  std::condition_variable has_changed;
  bool is_second_read = false, is_second_product = false;
  int num_second_reads = 0;
  ExpertStore store(2);
  const int matrix =
      store.add({.name = "m",
                 .num_experts = 2,
                 .slot_bytes = 64,
                 .read = [&](int64_t expert, std::span<std::byte> slot) -> Result<std::unique_ptr<Weight>> {
                   std::unique_lock lock(mutex);
                   if (expert == 0) {  // fails while the other is being read
                     has_changed.wait(lock, [&] { return is_second_read; });
                     return make_error(StatusCode::io_error, "broken");
                   }
                   if (num_second_reads++ > 0) return std::unique_ptr<Weight>(new SlotWeight(slot));
                   is_second_read = true;
                   has_changed.notify_all();
                   has_changed.wait_for(lock, std::chrono::milliseconds(300), [&] { return is_second_product; });
                   return make_error(StatusCode::io_error, "broken too");
                 }});
  CHECK_OK(store.allocate(2 * 64));
  store.start(matrix, std::vector<int32_t>{0, 1});
  CHECK(store.next().status.message.starts_with("broken"));
  store.start(matrix, std::vector<int32_t>{1});
  {
    const std::lock_guard lock(mutex);
    is_second_product = true;
    has_changed.notify_all();
  }
  const auto resident = store.next();
  CHECK_OK(resident.status);
  CHECK(resident.is_ok() && resident->size() == 1);
}

// The products that were hinted before an error do not follow it, and protect no slots.
PAGODA_TEST(experts_hinted_before_an_error_make_room) {
  Rig rig(1);
  const int in = rig.add(4, 64), out = rig.add(8, 128);
  CHECK_OK(rig.store.allocate(4 * 64 + 8 * 128 - 128 * 4));
  rig.broken = {{in, 0}};
  rig.store.prefetch(out, first(4));  // four slots
  CHECK(rig.waits_for(out, 3));
  CHECK(rig.use(in, {0}).code == StatusCode::io_error);
  rig.store.prefetch(out, std::vector<int32_t>{7});
  CHECK(rig.waits_for(out, 7));
}

PAGODA_TEST(experts_in_any_order_on_many_threads) {
  std::mt19937 random(static_cast<uint32_t>(seed(3)));
  for (const int64_t memory : {int64_t{320}, int64_t{2000}, int64_t{9000}}) {
    Rig rig(8);
    for (int i = 0; i < 6; ++i) rig.add(16, i % 2 == 0 ? 64 : 256);
    CHECK_OK(rig.store.allocate(memory));
    for (int step = 0; step < 300 && !failed(); ++step) {
      std::vector<int32_t> experts = first(16);
      std::ranges::shuffle(experts, random);
      experts.resize(1 + random() % 16);
      const int matrix = static_cast<int>(random() % 6);
      if (random() % 2 == 0) rig.store.prefetch(matrix, experts);
      if (random() % 4 == 0) rig.store.prefetch((matrix + 1) % 6, experts);
      {
        const std::lock_guard lock(rig.mutex);
        rig.broken.clear();
        if (random() % 8 == 0) rig.broken = {{matrix, experts.back()}};
      }
      const Status status = rig.use(matrix, experts);
      CHECK(status.is_ok() || status.code == StatusCode::io_error);
    }
  }
}

// Reads in flight end before the memory is freed.
PAGODA_TEST(experts_may_be_abandoned_while_they_are_read) {
  for (int i = 0; i < 50; ++i) {
    Rig rig(4);
    const int matrix = rig.add(32, 4096);
    CHECK_OK(rig.store.allocate(8 * 4096));
    rig.store.prefetch(matrix, first(32));
    if (i % 2 == 0) rig.store.start(matrix, first(32));
  }
}

// Guesses are read although no product needs them, and count as right or wrong when the product of their matrix begins.
PAGODA_TEST(experts_that_are_guessed_are_read_before_their_product) {
  Rig rig(2);
  const int one = rig.add(8, 64), other = rig.add(8, 64);
  REQUIRE_OK(rig.store.allocate(16 * 64));
  rig.store.guess(one, first(3));
  rig.store.guess(one, first(2));  // again: nothing new
  rig.store.guess(other, {{7}});
  for (const int32_t expert : first(3)) CHECK(rig.waits_for(one, expert));
  CHECK(rig.waits_for(other, 7));
  CHECK_OK(rig.use(one, {0, 2, 5}));
  CHECK_EQ(rig.store.stats().num_guesses, 4);
  CHECK_EQ(rig.store.stats().num_right_guesses, 2);
  CHECK_EQ(rig.store.stats().num_misses, 1);
  CHECK_OK(rig.use(one, {1}));  // its guess was for the product before
  CHECK_EQ(rig.store.stats().num_right_guesses, 2);
  CHECK_OK(rig.use(other, {7}));
  CHECK_EQ(rig.store.stats().num_right_guesses, 3);
  CHECK_EQ(rig.store.stats().num_reads, 5);
}

// Memory for two of eight experts: guesses take no slot of a hint, and a product takes those of guesses.
PAGODA_TEST(experts_that_are_guessed_displace_no_hinted_ones) {
  Rig rig(1);
  const int matrix = rig.add(8, 64);
  REQUIRE_OK(rig.store.allocate(2 * 64 + 32));
  CHECK_OK(rig.use(matrix, {3}));
  CHECK_OK(rig.use(matrix, {4}));
  rig.store.prefetch(matrix, {{3, 4}});
  rig.forget();
  rig.store.guess(matrix, {{5, 6}});
  CHECK_OK(rig.use(matrix, {3, 4}));
  CHECK(!rig.was_read(matrix, 5) && !rig.was_read(matrix, 6) && !rig.was_read(matrix, 3));
  rig.store.guess(matrix, {{5, 6}});
  CHECK(rig.waits_for(matrix, 5) && rig.waits_for(matrix, 6));
  CHECK_OK(rig.use(matrix, {0, 1, 2}));
  CHECK_OK(rig.use(matrix, {5}));
}

// Nothing has asked for the expert when its read fails; the product that needs it reads it again and fails then.
PAGODA_TEST(experts_that_are_guessed_and_broken_fail_no_other_product) {
  Rig rig(2);
  const int matrix = rig.add(8, 64);
  REQUIRE_OK(rig.store.allocate(8 * 64));
  {
    const std::lock_guard lock(rig.mutex);
    rig.broken.insert({matrix, 1});
  }
  rig.store.guess(matrix, {{1}});
  CHECK(rig.waits_for(matrix, 1));
  CHECK_OK(rig.use(matrix, {0}));
  CHECK(rig.use(matrix, {1}).message.find("is broken") != std::string::npos);
}

}  // namespace pagoda::test
