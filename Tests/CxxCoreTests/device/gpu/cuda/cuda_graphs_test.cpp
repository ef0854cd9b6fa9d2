// The CUDA backend's graphs without a GPU: the order of launches, replayed steps, and faults in a step.
#include <array>

#include "device/gpu/cuda/cuda_bench.h"

using namespace pagoda;
using namespace pagoda::test;
using namespace pagoda::device;
using namespace pagoda::device::gpu;
using namespace pagoda::device::gpu::cuda;

PAGODA_TEST(cuda_runs_launches_in_order_and_replays_steps) {
  CudaBench bench;
  const Pipeline &adder = bench.pipeline("adder"), &other = bench.pipeline("other");
  bench.take_diary();
  const auto step = [&](uint32_t groups, float value) {
    bench.launch(adder, groups, 1.0f);
    bench.launch(other, 4, value);
    bench.launch(adder, 0, 7.0f);  // nothing to do: no launch
    CHECK_OK(bench.finish());
    return bench.take_diary();
  };
  auto diary = step(3, 2.0f);
  REQUIRE(diary.size() == 4);
  CHECK(contains(diary[0], "grid 3 block 32 value 1.0") && !contains(diary[0], "after"));
  CHECK(contains(diary[1], "grid 4 block 32 value 2.0") && contains(diary[1], "after -1"));
  CHECK(diary[2] == "instantiate" && diary[3] == "launch");
  CHECK(diary[0].substr(4, 3) != diary[1].substr(4, 3));  // two different functions

  CHECK(step(3, 2.0f) == std::vector<std::string>{"launch"});  // the same step: a replay
  diary = step(5, 2.0f);                                       // another grid: one node changes
  REQUIRE(diary.size() == 2);
  CHECK(contains(diary[0], "set f") && contains(diary[0], "grid 5 block 32 value 1.0"));
  diary = step(5, 2.5f);
  CHECK(diary.size() == 2 && contains(diary[0], "grid 4 block 32 value 2.5"));
  CHECK(step(5, 2.5f).size() == 1);

  bench.launch(other, 4, 2.5f);  // another kind of step: another graph
  CHECK_OK(bench.finish());
  CHECK_EQ(bench.take_diary().size(), size_t{3});
  CHECK(step(5, 2.5f).size() == 1);  // and the first is still there
  CHECK_OK(bench.finish());          // nothing encoded: nothing runs
  CHECK(bench.take_diary().empty());
  CHECK_EQ(bench.backend->counts().instantiated, 2);
  CHECK_EQ(bench.backend->counts().nodes_updated, 2);
}

PAGODA_TEST(cuda_repeats_the_last_step_only) {
  CudaBench bench;
  Backend& backend = *bench.backend;
  const Pipeline& adder = bench.pipeline("adder");
  CHECK_EQ(backend.repeatable_step(), uint64_t{0});  // there was none
  bench.launch(adder, 3, 1.0f);
  CHECK_OK(bench.finish());
  const uint64_t first = backend.repeatable_step();
  CHECK(first != 0);
  bench.take_diary();
  CHECK_OK(backend.repeat().wait());
  CHECK(bench.take_diary() == std::vector<std::string>{"launch"});
  CHECK_EQ(backend.repeatable_step(), first);
  CHECK_EQ(bench.backend->counts().repeated, 1);

  bench.launch(adder, 4, 1.0f);
  CHECK_OK(bench.finish());
  CHECK(backend.repeatable_step() != 0 && backend.repeatable_step() != first);
  CHECK_OK(bench.finish());  // an empty step leaves nothing to repeat
  CHECK_EQ(backend.repeatable_step(), uint64_t{0});
  bench.launch(adder, 4, 1.0f);
  CHECK_OK(bench.finish());
  fake_cuda().fail_call = "launch";
  CHECK(backend.repeat().wait().code == StatusCode::device_error);
  CHECK_EQ(backend.repeatable_step(), uint64_t{0});
  fake_cuda().fail_call = "";
}

PAGODA_TEST(cuda_lets_launches_run_side_by_side_that_touch_other_memory) {
  CudaBench bench;
  const Pipeline& adder = bench.pipeline("adder");
  auto other = std::move(*bench.backend->allocate(64, "other"));
  bench.take_diary();
  bench.launch(adder, 1, 1.0f);                 // out = x + 1
  bench.launch(adder, 1, 2.0f, other.get());    // other = x + 2: independent of the first
  bench.launch(adder, 1, 3.0f, bench.x.get());  // x changes: waits for both
  bench.launch(adder, 1, 4.0f, other.get());    // waits for the third, and thus for all
  CHECK_OK(bench.finish());
  const auto diary = bench.take_diary();
  REQUIRE(diary.size() == 6);
  CHECK(!contains(diary[0], "after") && !contains(diary[1], "after"));
  CHECK(contains(diary[2], "after -2 after -1"));
  CHECK(contains(diary[3], "after -1") && !contains(diary[3], "after -2"));
  bench.launch(adder, 1, 1.0f);  // the first launch of a new step waits for nothing
  CHECK_OK(bench.finish());
  CHECK(!contains(bench.take_diary()[0], "after"));
}

// A launch that waits for one other has an edge that lets it start early; one that waits for two has plain edges.
PAGODA_TEST(cuda_lets_a_launch_begin_before_the_one_it_waits_for_has_ended) {
  CHECK(!CudaBench().backend->overlaps_launches());         // a driver without the call
  CHECK(!CudaBench(true, 8).backend->overlaps_launches());  // a GPU whose kernels cannot wait
  CudaBench bench(true);
  CHECK(bench.backend->overlaps_launches());
  const Pipeline& adder = bench.pipeline("adder");
  auto other = std::move(*bench.backend->allocate(64, "other"));
  bench.take_diary();
  bench.launch(adder, 1, 1.0f);
  bench.launch(adder, 1, 2.0f, other.get());
  bench.launch(adder, 1, 3.0f, bench.x.get());  // waits for both
  bench.launch(adder, 1, 4.0f, other.get());    // waits for the third
  CHECK_OK(bench.finish());
  const auto diary = bench.take_diary();
  REQUIRE(diary.size() == 7);
  CHECK(contains(diary[2], "after -2 after -1"));
  CHECK(!contains(diary[3], "after"));
  CHECK(contains(diary[4], "edge of 1 ports 1 0 type 1"));
  fake_cuda().fail_call = "edge";
  for (int i = 0; i < 3; ++i) bench.launch(adder, 1, 1.0f, other.get());
  CHECK(!bench.finish().is_ok());
}

PAGODA_TEST(cuda_keeps_a_bounded_number_of_graphs) {
  CudaBench bench;
  const Pipeline& adder = bench.pipeline("adder");
  for (int launches = 1; launches <= 40; ++launches) {
    for (int i = 0; i < launches; ++i) bench.launch(adder, 1, 1.0f);
    CHECK_OK(bench.finish());
  }
  CHECK_EQ(fake_cuda().live_graphs, 16);
  bench.take_diary();
  for (int i = 0; i < 40; ++i) bench.launch(adder, 1, 1.0f);
  CHECK_OK(bench.finish());
  CHECK_EQ(bench.take_diary().size(), size_t{1});  // the newest is kept
}

PAGODA_TEST(cuda_turns_faults_into_the_steps_status) {
  CudaBench bench;
  const Pipeline& adder = bench.pipeline("adder");
  for (const char* call : {"add", "instantiate", "launch", "cuStreamSynchronize"}) {
    fake_cuda().fail_call = call;
    bench.launch(adder, 1, 1.0f);
    bench.launch(adder, 1, 2.0f);
    const Status status = bench.finish();
    CHECK(status.code == StatusCode::device_error);
    CHECK(contains(status.message, "an illegal memory access was encountered (700)"));
    fake_cuda().fail_call = "";
    if (call != std::string("cuStreamSynchronize")) CHECK_EQ(fake_cuda().live_graphs, 0);
    bench.launch(adder, 1, 1.0f);
    CHECK_OK(bench.finish());
  }
  fake_cuda().fail_call = "set";
  bench.launch(adder, 9, 1.0f);
  CHECK(bench.finish().code == StatusCode::device_error);
  CHECK_EQ(fake_cuda().live_graphs, 0);  // a half changed graph never runs again
}

PAGODA_TEST(cuda_refuses_launches_that_cannot_work) {
  CudaBench bench;
  const Pipeline& adder = bench.pipeline("adder");
  bench.take_diary();
  float value = 1;
  const std::array bindings = {Binding{.index = 0, .buffer = bench.out.get()},
                               Binding{.index = 2, .values = &value, .size_bytes = 4},
                               Binding{.index = 5, .buffer = bench.x.get()}};
  bench.backend->launch(adder, {1}, {512}, bindings);
  CHECK(contains(bench.finish().message, "adder: "));
  bench.backend->launch(adder, {1}, {32}, std::span(bindings).first(2));
  bench.launch(adder, 1, 1.0f);  // not run either: its step failed
  CHECK(contains(bench.finish().message, "adder: "));
  auto narrow = bindings;
  narrow[1].size_bytes = 2;
  bench.backend->launch(adder, {1}, {32}, narrow);
  CHECK(contains(bench.finish().message, "adder: value takes 4"));
  CHECK(bench.take_diary().empty());
  CHECK_OK(bench.finish());
}

PAGODA_TEST(cuda_times_its_steps) {
  CudaBench bench;
  for (int i = 0; i < 3; ++i) {
    bench.launch(bench.pipeline("adder"), 1, 1.0f);
    CHECK_OK(bench.finish());
  }
  const StepTimes times = bench.backend->take_step_times();
  CHECK_EQ(times.steps, 3);
  CHECK_EQ(times.seconds, 0.75e-3);
  CHECK_EQ(bench.backend->take_step_times().steps, 0);
}
