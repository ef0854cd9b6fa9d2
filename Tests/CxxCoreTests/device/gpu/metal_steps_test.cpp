// The parts of the Metal backend that need no Metal: which launches a step is made of, where it is cut, and how long
// its memory is kept.
#include <algorithm>
#include <cstring>
#include <random>

#include "device/gpu/metal/keep_alive.h"
#include "device/gpu/metal/launch_record.h"
#include "device/gpu/metal/step_parts.h"
#include "support/test.h"

namespace pagoda::device::gpu::metal {
namespace {

struct FakeBuffer final : Buffer {
  size_t size_bytes() const noexcept override { return 1000; }
  std::byte* host_pointer() noexcept override { return nullptr; }
};
struct FakePipeline final : Pipeline {};

// What a launch was made of, with its values.
struct Made {
  const Pipeline* pipeline = nullptr;
  uint32_t groups = 0;
  bool begins_part = false, needs_barrier = false;
  std::vector<Buffer*> buffers;
  std::vector<int64_t> offsets;
  std::vector<std::vector<std::byte>> values;
  bool operator==(const Made&) const = default;
};

Made made_of(const LaunchRecord::Launch& launch) {
  Made made{launch.pipeline, launch.groups.x, launch.begins_part, launch.needs_barrier, {}, {}, {}};
  for (const Binding& binding : launch.bindings) {
    made.buffers.push_back(binding.buffer);
    made.offsets.push_back(binding.offset_bytes);
    const auto* from = static_cast<const std::byte*>(binding.values);
    made.values.emplace_back(from, binding.buffer == nullptr ? from + binding.size_bytes : from);
  }
  return made;
}

constexpr double kPart = 0.05;

// The parts of a step of equal launches: launches in each.
std::vector<int> cut(StepParts& parts, int num_launches, uint64_t num_threads) {
  std::vector<int> counts;
  parts.begin_step();
  for (int i = 0; i < num_launches; ++i) {
    if (parts.begins_part(num_threads)) counts.push_back(0);
    if (!counts.empty()) ++counts.back();
  }
  return counts;
}

}  // namespace

PAGODA_TEST(metal_launch_record_keeps_random_steps) {
  std::mt19937_64 random(test::seed(58));
  FakeBuffer buffers[3];
  FakePipeline pipelines[3];
  LaunchRecord record;
  for (int round = 0; round < 50; ++round) {
    record.clear();
    CHECK(record.is_empty());
    std::vector<Made> wanted;
    const int num_launches = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < num_launches; ++i) {
      std::vector<std::vector<std::byte>> values(random() % kMaxBindings);
      std::vector<Binding> bindings;
      for (auto& value : values) {
        Binding binding{.index = static_cast<int>(bindings.size())};
        if (random() % 2) {
          binding.buffer = &buffers[random() % 3];
          binding.offset_bytes = static_cast<int64_t>(random() % 100);
        } else {
          value.resize(1 + random() % 100);
          for (std::byte& b : value) b = static_cast<std::byte>(random());
          binding.values = value.data();
          binding.size_bytes = value.size();
        }
        bindings.push_back(binding);
      }
      const LaunchRecord::Launch launch{.pipeline = &pipelines[random() % 3],
                                        .groups = {1 + static_cast<uint32_t>(random() % 9)},
                                        .threads = {32},
                                        .begins_part = i == 0,
                                        .needs_barrier = random() % 2 == 0,
                                        .bindings = bindings};
      record.add(launch);
      wanted.push_back(made_of(launch));
      for (auto& value : values)
        std::fill(value.begin(), value.end(), std::byte{0xee});  // the caller's memory is its own
    }
    for (int repetition = 0; repetition < 2; ++repetition) {
      std::vector<Made> found;
      record.for_each([&](const LaunchRecord::Launch& launch) {
        for (const Binding& binding : launch.bindings)
          CHECK(binding.buffer != nullptr || reinterpret_cast<uintptr_t>(binding.values) % 16 == 0);
        found.push_back(made_of(launch));
      });
      CHECK(found == wanted);
    }
  }
}

PAGODA_TEST(metal_step_parts_take_their_time) {
  for (const double rate : {5e-9, 60e-9, 400e-9}) {  // seconds per thread
    StepParts parts(kPart);
    constexpr uint64_t kThreads = 50'000;
    std::vector<int> counts;
    for (int step = 0; step < 20; ++step) {
      counts = cut(parts, 400, kThreads);
      for (const int count : counts) parts.note(count * kThreads, static_cast<double>(count * kThreads) * rate);
    }
    const double longest = *std::max_element(counts.begin(), counts.end()) * static_cast<double>(kThreads) * rate;
    CHECK(longest <= kPart * 1.01);
    CHECK(longest > kPart / 2 || counts.size() == 1);
    CHECK_EQ(counts.size() > 1, 400 * static_cast<double>(kThreads) * rate > kPart);
  }
}

PAGODA_TEST(metal_step_parts_shorten_at_once) {
  StepParts parts(kPart);
  for (int step = 0; step < 20; ++step) {
    cut(parts, 1, 1'000'000);
    parts.note(1'000'000, 0.005);
  }
  CHECK_EQ(cut(parts, 4, 1'000'000).size(), 1u);
  parts.note(4'000'000, 4.0);  // prompts: 200 times slower
  CHECK_EQ(cut(parts, 4, 1'000'000).size(), 4u);
  CHECK_EQ(cut(parts, 1, 1'000'000'000).size(), 1u);  // a launch is never cut
  parts.note(1000, 1.0);                              // a few threads say nothing
  parts.note(1'000'000, 0.0);                         // a clock that stood still
  parts.note(1'000'000, -1.0);
  for (int step = 0; step < 20; ++step) parts.note(1'000'000, 0.005);
  CHECK_EQ(cut(parts, 4, 1'000'000).size(), 1u);
}

PAGODA_TEST(metal_keep_alive_ends_with_use) {
  KeepAlive keep_alive;
  CHECK(!keep_alive.next(1000));
  keep_alive.note_use(1000);
  CHECK_EQ(*keep_alive.next(1000), KeepAlive::kPeriodSeconds);
  CHECK(keep_alive.next(1000 + KeepAlive::kIdleSeconds - 1).has_value());
  CHECK(!keep_alive.next(1000 + KeepAlive::kIdleSeconds));
  keep_alive.note_use(1100);
  CHECK(keep_alive.next(1100 + KeepAlive::kIdleSeconds - 1).has_value());
}

}  // namespace pagoda::device::gpu::metal
