// Barriers between launches: where the tracker puts them, and that the software device finds a missing one.
#include "device/gpu/hazards.h"

#include <random>

#include "args/rms_norm.h"
#include "device/gpu/generated/bindings.h"
#include "device/gpu/gpu_encoder.h"
#include "device/gpu/software/software_backend.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::device::gpu {
namespace {

struct FakeBuffer final : Buffer {
  size_t size_bytes() const noexcept override { return 1000; }
  std::byte* host_pointer() noexcept override { return nullptr; }
};

PAGODA_TEST(gpu_hazards_of_each_kind_need_a_barrier) {
  FakeBuffer a, b;
  const auto after = [](Access first, Access second) {
    HazardTracker tracker;
    CHECK(!tracker.needs_barrier(std::span(&first, 1)));
    return tracker.needs_barrier(std::span(&second, 1));
  };
  CHECK(after({&a, 0, 1000, true}, {&a, 0, 1000, false}));    // read after write
  CHECK(after({&a, 0, 1000, false}, {&a, 0, 1000, true}));    // write after read
  CHECK(after({&a, 0, 1000, true}, {&a, 0, 1000, true}));     // write after write
  CHECK(!after({&a, 0, 1000, false}, {&a, 0, 1000, false}));  // reads only
  CHECK(!after({&a, 0, 1000, true}, {&b, 0, 1000, true}));    // other memory
  CHECK(!after({&a, 0, 500, true}, {&a, 500, 1000, true}));   // adjacent
  CHECK(after({&a, 0, 501, true}, {&a, 500, 1000, false}));   // one byte in common
}

PAGODA_TEST(gpu_hazards_end_at_a_barrier) {
  FakeBuffer a, b;
  HazardTracker tracker;
  const Access write_a{&a, 0, 10, true}, read_a{&a, 0, 10, false}, write_b{&b, 0, 10, true};
  CHECK(!tracker.needs_barrier(std::span(&write_a, 1)));
  CHECK(!tracker.needs_barrier(std::span(&write_b, 1)));
  CHECK(tracker.needs_barrier(std::span(&read_a, 1)));
  CHECK(!tracker.needs_barrier(std::span(&read_a, 1)));  // the write precedes that barrier
  CHECK(!tracker.needs_barrier(std::span(&write_b, 1)));
  CHECK(tracker.needs_barrier(std::span(&write_b, 1)));
  tracker.clear();
  CHECK(!tracker.needs_barrier(std::span(&write_a, 1)));
}

// In random steps, no two launches between barriers conflict, and there is no barrier unless one is needed.
PAGODA_TEST(gpu_hazards_barriers_are_needed_and_enough) {
  std::mt19937_64 random(test::seed(41));
  FakeBuffer buffers[3];
  for (int round = 0; round < 200; ++round) {
    HazardTracker tracker;
    std::vector<Access> since;
    for (int launch = 0; launch < 20; ++launch) {
      std::vector<Access> accesses(1 + random() % 4);
      bool conflicts = false;
      for (Access& access : accesses) {
        access = {&buffers[random() % 3], static_cast<int64_t>(random() % 20), 0, random() % 3 == 0};
        access.end = access.begin + 1 + static_cast<int64_t>(random() % 5);
        for (const Access& other : since)
          for (int64_t byte = access.begin; byte < access.end; ++byte)
            conflicts |= other.buffer == access.buffer && byte >= other.begin && byte < other.end &&
                         (other.written || access.written);
      }
      CHECK_EQ(tracker.needs_barrier(accesses), conflicts);
      if (conflicts) since.clear();
      since.insert(since.end(), accesses.begin(), accesses.end());
    }
  }
}

struct Chain {
  Status status;
  std::vector<float> out;
  uint64_t num_barriers = 0;
};

// Three norms in one step, each applied to the previous one's output.
Chain run_chain(const software::Options& options) {
  namespace rms = kernels::rms_norm;
  constexpr uint32_t kRows = 4, kWidth = 64;
  auto backend = software::SoftwareBackend::create(options);
  if (!backend.is_ok()) return {backend.status, {}};
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<float> numbers(kRows * kWidth);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 17) - 8.0f;
  for (int i = 0; i < 5; ++i) {
    auto made = (*backend)->allocate(numbers.size() * sizeof(float), "row " + std::to_string(i));
    if (!made.is_ok()) return {made.status, {}};
    buffers.push_back(std::move(*made));
    (void)(*backend)->upload(*buffers.back(), 0, numbers.data(), numbers.size() * sizeof(float));
  }
  const Constant constants[] = {{kernels::rms_norm_constants::has_residual, 0}};
  auto pipeline = (*backend)->pipeline(rms::kernel, constants);
  if (!pipeline.is_ok()) return {pipeline.status, {}};
  const pagoda_args::RmsNorm args = {kWidth, kWidth, kWidth, kWidth, 1e-6f, 0.0f};
  for (int i = 0; i < 3; ++i) {
    const Binding bindings[] = {{.index = rms::x, .buffer = buffers[i].get()},
                                {.index = rms::residual, .buffer = buffers[4].get()},
                                {.index = rms::weight, .buffer = buffers[4].get()},
                                {.index = rms::out, .buffer = buffers[i + 1].get()},
                                {.index = rms::args, .values = &args, .size_bytes = sizeof args}};
    (*backend)->launch(**pipeline, {kRows, 1, 1}, {256, 1, 1}, bindings);
  }
  Chain chain{(*backend)->submit().wait(), numbers, (*backend)->num_barriers()};
  (void)(*backend)->download(*buffers[3], 0, chain.out.data(), chain.out.size() * sizeof(float));
  return chain;
}

PAGODA_TEST(gpu_hazards_launches_see_what_earlier_ones_wrote) {
  const Chain chain = run_chain({.num_threads = 1}), reversed = run_chain({.num_threads = 1, .reverse_launches = true});
  CHECK_OK(chain.status);
  CHECK_EQ(chain.num_barriers, uint64_t{2});
  CHECK_OK(reversed.status);
  CHECK(chain.out == reversed.out);
}

PAGODA_TEST(gpu_hazards_a_missing_barrier_is_found) {
  const Chain chain = run_chain({.num_threads = 1, .forget_barriers = true});
  test::note(chain.status.message);
  CHECK(chain.status.message.find("rms_norm writes x, which rms_norm writes as out, without a barrier") !=
        std::string::npos);
}

// The barriers between two norms: the first reads `in` and writes `out`, the second `next` and `last`.
int64_t barriers_between(test::Rig& rig, const Tensor& in, const Tensor& out, const Tensor& next, const Tensor& last) {
  const Tensor weight = rig.zeros(DType::f32, {in.shape[1]});
  rig.device().set_profiling(true);
  CHECK_OK(ops::rms_norm(rig.encoder(), {.x = in, .residual = {}, .weight = weight, .out = out}));
  CHECK_OK(ops::rms_norm(rig.encoder(), {.x = next, .residual = {}, .weight = weight, .out = last}));
  CHECK_OK(rig.finish());
  int64_t barriers = 0;
  for (const OpTime& op : rig.device().take_profile()) barriers += op.name == "barrier" ? op.calls : 0;
  return barriers;
}

// Tensors say which part of their buffer a launch touches: others need not wait for it, unless one element is shared.
PAGODA_TEST(gpu_hazards_are_those_of_tensors_and_not_of_their_buffer) {
  constexpr int64_t kWidth = 64;
  test::Rig rig("dry");
  const Tensor arena = rig.zeros(DType::f32, {8, kWidth});
  const auto rows = [&](int64_t first) { return slice(arena, 0, first, 2); };
  const auto after = [](Tensor t, int64_t bytes) {
    t.offset_bytes += bytes;
    return t;
  };
  CHECK_EQ(barriers_between(rig, rows(0), rows(2), rows(4), rows(6)), 0);
  CHECK_EQ(barriers_between(rig, rows(0), rows(6), rows(2), rows(4)), 0);  // the second lies between
  const Tensor left = slice(arena, 1, 0, 32), right = slice(arena, 1, 32, 32);
  CHECK_EQ(
      barriers_between(rig, slice(left, 0, 0, 1), slice(left, 0, 1, 1), slice(right, 0, 0, 1), slice(right, 0, 1, 1)),
      0);
  CHECK_EQ(barriers_between(rig, rows(0), rows(2), rows(2), rows(6)), 1);            // read after write
  CHECK_EQ(barriers_between(rig, rows(0), rows(2), rows(4), rows(0)), 1);            // write after read
  CHECK_EQ(barriers_between(rig, rows(0), rows(2), rows(4), rows(2)), 1);            // write after write
  CHECK_EQ(barriers_between(rig, rows(0), rows(2), rows(4), after(rows(0), 4)), 1);  // an element in common
  CHECK_EQ(barriers_between(rig, rows(0), rows(2), after(rows(4), -4), rows(6)), 1);
  CHECK_EQ(barriers_between(rig, rows(0), after(rows(2), 4), rows(4), rows(6)), 1);
}

// Behind the elements of an int8 row are its scales, so that such a cache is touched to its buffer's end.
PAGODA_TEST(gpu_hazards_of_int8_caches_include_their_scales) {
  test::Rig rig("dry");
  const Tensor cache = rig.kv_cache(DType::i8, 1, 16, 1, 64);
  CHECK_EQ(Slot(cache).size_bytes, size_t{0});
  CHECK_EQ(Slot(rig.kv_cache(DType::bf16, 1, 16, 1, 64)).size_bytes, size_t{16 * 64 * 2});
}

}  // namespace
}  // namespace pagoda::device::gpu
