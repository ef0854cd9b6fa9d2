// MetalSteps over a fake of Metal: the order of what a GPU is told, what is encoded ahead, and what failures leave
// behind. Tools/checks/metal_types.sh runs it, also with planted faults. Ends with "N passed, N failed".
#include <chrono>
#include <cstdio>
#include <thread>

#include "device/gpu/metal/metal_buffer.h"
#include "device/gpu/metal/metal_steps.h"
#include "device/gpu/metal/pipeline_cache.h"
#include "runtime.h"

using namespace pagoda;
using namespace pagoda::device;
using namespace pagoda::device::gpu;
using namespace pagoda::device::gpu::metal;

namespace {

int num_passed = 0, num_failed = 0;

void check(bool holds, const char* what, int line) {
  ++(holds ? num_passed : num_failed);
  if (!holds) std::printf("FAIL line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

using Log = std::vector<std::string>;

bool same(const Log& found, const Log& wanted) {
  if (found == wanted) return true;
  for (const std::string& line : found) std::printf("  %s\n", line.c_str());
  return false;
}

constexpr BindingInfo kBindings[] = {{"values", 0, BindingKind::values, 4, false},
                                     {"from", 1, BindingKind::buffer, 4, false},
                                     {"to", 2, BindingKind::buffer, 4, true}};
constexpr KernelInfo kKernel("copy", "copy", kBindings, {}, 256);

template <class T>
T* object(const char* type) {
  return reinterpret_cast<T*>(fake::world().make(type));
}

// A device with two buffers, a kernel that reads the first binding and writes the second, and its steps.
struct Rig {
  Rig() {
    pipeline.kernel = &kKernel;
    for (const char* name : {"a", "b"})
      buffers.push_back(std::make_unique<MetalBuffer>(std::make_unique<Pages>(64),
                                                      NS::TransferPtr(object<MTL::Buffer>(name)), 64, residency));
    fake::world().take_log();
  }
  void launch(const char (&values)[5], int from, int to, uint32_t groups = 1) {
    char copy[4];
    std::copy_n(values, 4, copy);
    const Binding bindings[] = {{.index = 0, .values = copy, .size_bytes = 4},
                                {.index = 1, .buffer = buffers[from].get(), .offset_bytes = 4 * (from + 1)},
                                {.index = 2, .buffer = buffers[to].get()}};
    steps->launch(pipeline, {groups}, {256}, bindings);
  }
  // A step of one launch, submitted and waited for.
  Status step(const char (&values)[5]) {
    launch(values, 0, 1);
    steps->submit();
    return steps->wait();
  }

  MTL::Device* device = object<MTL::Device>("device");
  MTL::CommandQueue* queue = object<MTL::CommandQueue>("queue");
  std::shared_ptr<Residency> residency = std::make_shared<Residency>(device, queue);
  std::unique_ptr<MetalSteps> steps = std::make_unique<MetalSteps>(device, queue, *residency);
  std::vector<std::unique_ptr<MetalBuffer>> buffers;
  MetalPipeline pipeline;
};

Log log() {
  Log all = fake::world().take_log(), kept;
  for (std::string& line : all)
    if (!line.ends_with("Residency") && !line.ends_with("Allocation:")) kept.push_back(std::move(line));
  return kept;
}

int first_number() { return fake::world().num_commands + 1; }

std::string with(const char* what, int number) { return std::string(what) + " " + std::to_string(number); }

// The whole encoding of a step of `launch one_1 a b; launch two_2 b a` into commands `n`.
Log two_launches(int n) {
  return {with("encode", n), with("wait", n), "values one1", "buffer a+4", "buffer b+0",      "launch",      "barrier",
          "values two2",     "buffer b+8",    "buffer a+0",  "launch",     with("update", n), with("end", n)};
}

Log operator+(Log a, const Log& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void test_a_step_and_its_repetitions() {
  Rig rig;
  int n = first_number();
  rig.launch("one1", 0, 1);
  rig.launch("two2", 1, 0);
  CHECK(log().empty());  // nothing is encoded before it is known that all launches are valid
  rig.steps->submit();
  CHECK(same(log(), two_launches(n) + Log{with("signal", n), with("commit", n)}));
  CHECK(rig.steps->wait().is_ok());
  CHECK(same(log(), two_launches(n + 1) + Log{"event 1"}));  // encoded while the GPU runs
  const uint64_t repeatable = rig.steps->repeatable();
  CHECK(repeatable != 0);
  for (int i = 1; i <= 3; ++i) {
    rig.steps->repeat();
    CHECK(same(log(), {with("signal", n + i), with("commit", n + i)}));
    CHECK(rig.steps->wait().is_ok());
    CHECK(same(log(),
               Log{with("complete", n + i - 1)} + two_launches(n + i + 1) + Log{"event " + std::to_string(i + 1)}));
    CHECK(rig.steps->repeatable() == repeatable);
  }
  rig.launch("thr3", 0, 1);  // another step: the one encoded ahead is dropped
  CHECK(rig.steps->repeatable() == 0);
  rig.steps->submit();
  CHECK(rig.steps->repeatable() > repeatable);
  CHECK(rig.steps->wait().is_ok());
  int num_encoded = 0;
  for (const std::string& line : log()) {
    CHECK(line != with("commit", n + 4));
    num_encoded += line == "values thr3";
  }
  CHECK(num_encoded == 2);  // and ahead
}

void test_long_steps_have_parts() {
  Rig rig;
  const int n = first_number();
  rig.launch("one1", 0, 1, 2000);  // 30 ms by the first guess, and so each of the others
  rig.launch("two2", 0, 1, 2000);
  rig.launch("thr3", 0, 1, 2000);
  rig.steps->submit();
  const auto part = [](int number, const char* values) {
    return Log{with("encode", number), with("wait", number), values, "buffer a+4", "buffer b+0", "launch",
               with("update", number), with("end", number)};
  };
  CHECK(same(log(), part(n, "values one1") + Log{with("commit", n)} + part(n + 1, "values two2") +
                        Log{with("commit", n + 1)} + part(n + 2, "values thr3") +
                        Log{with("signal", n + 2), with("commit", n + 2)}));
  CHECK(rig.steps->wait().is_ok());
  CHECK(rig.steps->repeatable() != 0);
  log();
  rig.steps->repeat();
  CHECK(same(log(), {with("signal", n + 5), with("commit", n + 3), with("commit", n + 4), with("commit", n + 5)}));
  CHECK(rig.steps->wait().is_ok());
  CHECK(rig.steps->take_times().steps == 2);
  for (int i = 0; i < 30; ++i) rig.launch("many", 0, 1, 60000);
  rig.steps->submit();
  CHECK(rig.steps->repeatable() == 0);  // a prompt
  log();
  CHECK(rig.steps->wait().is_ok());
  for (const std::string& line : log()) CHECK(!line.starts_with("encode"));
}

void test_invalid_launches_stop_the_step() {
  Rig rig;
  CHECK(rig.step("one1").is_ok());
  log();
  rig.launch("two2", 0, 1);
  const Binding none[] = {{.index = 0}};
  rig.steps->launch(rig.pipeline, {1}, {256}, none);
  rig.launch("thr3", 0, 1);
  rig.steps->submit();
  CHECK(rig.steps->repeatable() == 0);
  CHECK(rig.steps->wait().code == StatusCode::invalid_argument);
  for (const std::string& line : log()) CHECK(!line.starts_with("encode"));
  rig.steps->submit();  // of nothing
  CHECK(rig.steps->repeatable() == 0);
  CHECK(rig.steps->wait().is_ok());
  CHECK(rig.step("fou4").is_ok());
}

void test_failures_of_the_gpu() {
  Rig rig;
  fake::World& world = fake::world();
  CHECK(rig.step("one1").is_ok());
  world.fails = true;
  rig.steps->repeat();
  CHECK(rig.steps->wait().code == StatusCode::device_error);  // although the event is never signalled
  CHECK(rig.steps->repeatable() == 0);
  world.fails = false;
  CHECK(!rig.step("two2").is_ok() || rig.step("thr3").is_ok());  // at most the error of the failed step once more
  CHECK(rig.step("fou4").is_ok());
  world.fails = world.signals_failures = true;  // the host sees that it failed only after its event
  CHECK(rig.step("fiv5").is_ok());
  world.fails = world.signals_failures = false;
  rig.steps->repeat();
  CHECK(rig.steps->wait().code == StatusCode::device_error);
  CHECK(rig.step("six6").is_ok());
  world.gives_no_commands = true;
  CHECK(!rig.step("sev7").is_ok());
  CHECK(rig.steps->repeatable() == 0);
  world.gives_no_commands = false;
  CHECK(rig.step("eig8").is_ok());
}

void test_encoding_ahead_may_fail() {
  Rig rig;
  fake::World& world = fake::world();
  rig.launch("one1", 0, 1);
  rig.steps->submit();
  world.gives_no_commands = true;
  CHECK(rig.steps->wait().is_ok());
  CHECK(rig.steps->repeatable() != 0);
  rig.steps->repeat();
  CHECK(!rig.steps->wait().is_ok());
  CHECK(rig.steps->repeatable() == 0);
  world.gives_no_commands = false;
  CHECK(rig.step("two2").is_ok());
}

void test_steps_that_nobody_waits_for() {
  Rig rig;
  rig.launch("one1", 0, 1);
  rig.steps->submit();
  rig.launch("two2", 0, 1);
  rig.steps->submit();
  CHECK(rig.steps->wait().is_ok());
  for (const std::string& line : log()) CHECK(line != "committed twice");
}

void test_memory_outlives_the_commands() {
  Rig rig;
  CHECK(rig.step("one1").is_ok());
  fake::world().take_log();
  const int committed = fake::world().num_commands - 1;  // the last one is encoded ahead
  rig.buffers.clear();
  CHECK(same(fake::world().take_log(),
             {with("complete", committed), "removeAllocation:", with("complete", committed), "removeAllocation:"}));
}

void test_nothing_is_left_behind() {
  fake::World& world = fake::world();
  const int commands = world.alive("commands"), encoders = world.alive("encoder");
  {
    Rig rig;
    for (int i = 0; i < 3; ++i) CHECK(rig.step("one1").is_ok());
    rig.steps->repeat();
    CHECK(rig.steps->wait().is_ok());
  }
  CHECK(world.alive("commands") == commands);
  CHECK(world.alive("encoder") == encoders);
}

void test_the_end_waits_for_the_last_step() {
  {
    Rig rig;
    rig.launch("one1", 0, 1);
    rig.steps->submit();
    log();
  }
  bool is_waited_for = false;
  for (const std::string& line : log()) is_waited_for |= line == "event 1";
  CHECK(is_waited_for);
}

// A step wakes the thread that asks for residency.
void test_residency_is_requested() {
  Rig rig;
  CHECK(rig.step("one1").is_ok());
  for (bool is_found = false; !is_found;) {
    for (const std::string& line : fake::world().take_log()) is_found |= line == "requestResidency";
    std::this_thread::yield();
  }
  ++num_passed;
}

}  // namespace

int main() {
  test_a_step_and_its_repetitions();
  test_long_steps_have_parts();
  test_invalid_launches_stop_the_step();
  test_failures_of_the_gpu();
  test_encoding_ahead_may_fail();
  test_steps_that_nobody_waits_for();
  test_memory_outlives_the_commands();
  test_nothing_is_left_behind();
  test_the_end_waits_for_the_last_step();
  test_residency_is_requested();
  for (const std::string& line : fake::world().take_log()) CHECK(!line.starts_with("unknown"));
  std::printf("%d passed, %d failed\n", num_passed, num_failed);
  return num_failed != 0;
}
