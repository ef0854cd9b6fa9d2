// Planted defects of Tests/Kernels/defects.metal: the software device notices each, with its name where it can.
#include <cmath>
#include <cstring>

#include "device/gpu/kernel_rig.h"
#include "device/gpu/software/software_backend.h"
#include "support/test.h"

namespace pagoda::device::gpu::test_kernels {
namespace {

using software::Options;
using software::Order;

// How a defect is reported in builds with instrumented kernels, and in all others (null: not detected there; kCrash: it
// would end the process, on a guard page or under a sanitizer).
struct Defect {
  const char* kernel;
  const char* checked;
  const char* plain;
};
constexpr const char* kCrash = "crash";
constexpr const char* kOrder = "results depend on the order of threads";
constexpr const char* kNan = "NaN";
const Defect kDefects[] = {
    {"good", nullptr, nullptr},
    {"oob_read", "out of bounds", kCrash},
    {"oob_write", "out of bounds", kCrash},
    {"oob_far", "out of bounds", kCrash},
    {"oob_threadgroup", "out of bounds", kCrash},
    {"race_no_barrier", "race", kOrder},
    {"race_in_simdgroup", "race", kOrder},
    {"race_reuse", "race", kOrder},
    {"race_wrong_flags", "race", nullptr},
    {"race_groups", "race", kOrder},
    {"uninit_threadgroup", "uninitialised", kNan},
    {"uninit_local", kNan, nullptr},
    {"divergent_barrier", "divergence", "divergence"},
    {"early_return", "divergence", "divergence"},
    {"divergent_simd", "divergence", "divergence"},
    {"two_sites", "divergence", "divergence"},
    {"matrix_pointer", "operands differ", "operands differ"},
    {"misaligned", "misaligned", kCrash},
    {"threadgroup_too_large", "over 30720 bytes", "over 30720 bytes"},
    {"endless", "endless loop", "endless loop"},
};

struct Seen {
  std::string error;
  std::vector<float> out;
};

Seen run(const char* name, Options options) {
  options.num_threads = 1;
  options.check_uniform = true;
  options.max_rounds = 1u << 20;
  auto backend = software::SoftwareBackend::create(options, generated::test_files());
  if (!backend.is_ok()) return {backend.status.message, {}};
  std::vector<float> in(128);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  std::vector<Bound> bound = {Bound::of(0, in), Bound::of(1, std::vector<float>(128))};
  if (std::strcmp(name, "race_wrong_flags") == 0) bound.push_back(Bound::of(2, std::vector<float>(128)));
  const uint32_t groups = std::strcmp(name, "race_groups") == 0 ? 2 : 1;
  const Status status = run_kernel(**backend, std::string("defect_") + name, {groups, 1, 1}, {128, 1, 1}, bound);
  return {status.message, bound[1].as<float>()};
}

// The device's reports or wrong results, in eight schedules; "" without any.
std::string notice(const char* name) {
  const Seen first = run(name, {});
  if (!first.error.empty()) return first.error;
  for (const Order order : {Order::reverse, Order::shuffled, Order::random})
    for (uint64_t seed = 1; seed <= (order == Order::reverse ? 1 : 3); ++seed) {
      const Seen other = run(name, {.order = order, .seed = seed});
      if (!other.error.empty()) return other.error;
      if (std::memcmp(other.out.data(), first.out.data(), 128 * sizeof(float)) != 0) return kOrder;
    }
  for (float f : first.out)
    if (std::isnan(f)) return kNan;
  return "";
}

PAGODA_TEST(gpu_defects_are_noticed) {
  const bool checked = software::installed_checker() != nullptr;
  int num_noticed = 0, num_crashes = 0;
  for (const Defect& defect : kDefects) {
    const char* want = checked ? defect.checked : defect.plain;
    if (want == kCrash) {
      ++num_crashes;
      continue;
    }
    if (!want && defect.checked) continue;  // the result in such a build is down to chance
    const std::string got = notice(defect.kernel);
    test::note(std::string(defect.kernel) + ": " + got);
    if (want ? got.find(want) == std::string::npos : !got.empty())
      test::fail(__FILE__, __LINE__, std::string(defect.kernel) + ": '" + got + "', not '" + (want ? want : "") + "'");
    num_noticed += !got.empty();
  }
  test::note(std::to_string(num_noticed) + " noticed; " + std::to_string(num_crashes) +
             " only where kernels are instrumented");
  CHECK_EQ(num_noticed, checked ? 19 : 12);
}

// The second launch reads what the first wrote, so the first runs when the second is encoded, before the step ends.
Status run_before_another(const char* name) {
  auto backend = software::SoftwareBackend::create({.num_threads = 1, .check_uniform = true, .max_rounds = 1u << 20},
                                                   generated::test_files());
  if (!backend.is_ok()) return backend.status;
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int i = 0; i < 3; ++i) {
    auto made = (*backend)->allocate(128 * sizeof(float), "numbers");
    if (!made.is_ok()) return made.status;
    buffers.push_back(std::move(*made));
  }
  std::vector<float> in(128);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  PAGODA_RETURN_IF_ERROR((*backend)->upload(*buffers[0], 0, in.data(), in.size() * sizeof(float)));
  const std::string kernels[] = {std::string("defect_") + name, "defect_good"};
  for (size_t i = 0; i < 2; ++i) {
    auto pipeline = (*backend)->pipeline(kernels[i], {});
    if (!pipeline.is_ok()) return pipeline.status;
    const Binding bindings[] = {{.index = 0, .buffer = buffers[i].get()}, {.index = 1, .buffer = buffers[i + 1].get()}};
    (*backend)->launch(**pipeline, {1, 1, 1}, {128, 1, 1}, bindings);
  }
  return (*backend)->submit().wait();
}

PAGODA_TEST(gpu_defects_are_reported_when_another_launch_follows) {
  const bool checked = software::installed_checker() != nullptr;
  CHECK_OK(run_before_another("good"));
  int num_reported = 0;
  for (const Defect& defect : kDefects) {
    const char* want = checked ? defect.checked : defect.plain;
    if (!want || want == kCrash || want == kOrder || want == kNan) continue;  // no error in a single run
    if (std::strcmp(defect.kernel, "race_wrong_flags") == 0 || std::strcmp(defect.kernel, "race_groups") == 0)
      continue;  // other bindings, another grid
    const std::string got = run_before_another(defect.kernel).message;
    if (got.find(want) == std::string::npos)
      test::fail(__FILE__, __LINE__, std::string(defect.kernel) + ": '" + got + "', not '" + want + "'");
    ++num_reported;
  }
  CHECK_EQ(num_reported, checked ? 16 : 7);
}

}  // namespace
}  // namespace pagoda::device::gpu::test_kernels
