// The conformance table: every op, type and kind of shape, on every device of this machine, against the reference.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "device/conformance.h"
#include "device/registry.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

PAGODA_TEST(conformance_runs_on_every_path_of_this_machine) {
  const char* only = std::getenv("PAGODA_TEST_DEVICE");
  if (only && std::string_view(only) != "cpu" && std::string_view(only) != "simd")
    return note("one device was asked for");
  std::string ran;
  bool software_ran = false;
  const std::vector<std::string> names = tested_devices();
  for (const std::string& name : names) {
    Rig rig(name);
    REQUIRE(rig.is_ok());
    const std::string& description = rig.device().info().description;
    ran += name + " (" + description + ") ";
    if (runs_kernels(name)) software_ran = software_ran || name == "software";
    else
      CHECK(description.find(name.substr(name.find(':') + 1) + ",") !=
            std::string::npos);  // the requested code path is in use
  }
  note("devices: " + ran);
  CHECK(software_ran || only);
  const char* expected = nullptr;
  [[maybe_unused]] const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
#if defined(__x86_64__)
  __builtin_cpu_init();
  expected = __builtin_cpu_supports("avx512vl") ? "avx512" : (__builtin_cpu_supports("avx2") ? "avx2" : "portable");
  if (__builtin_cpu_supports("avx512vnni")) expected = "avx512vnni";
  if (has("cpu:amx")) expected = "amx";  // the OS kernel may refuse it
#elif defined(__aarch64__)
  expected = "neon";
#if defined(__linux__)
  const bool has_dotprod = getauxval(AT_HWCAP) >> 20 & 1, has_i8mm = (getauxval(AT_HWCAP2) >> 13 & 3) == 3;  // and bf16
#else
  const bool has_dotprod = has("cpu:neon-dotprod"), has_i8mm = has("cpu:neon-i8mm");
#endif
  if (has_dotprod) expected = "neon-dotprod";
  if (has_i8mm) expected = "neon-i8mm";
#endif
  Rig best("cpu");
  CHECK(expected && best.device().info().description.find(expected) != std::string::npos);
  CHECK_EQ(names.front(), std::string("cpu:") + expected);  // so every test of it also tests "cpu"
}

PAGODA_TEST(conformance_embedding) {
  for (WeightFormat type : kFormats)
    for (int64_t width : {1, 24, 130})
      compare("embedding " + text(type) + text({width}), kExact, [&](Rig& rig, Random& random) -> Outputs {
        device::Weight* table = rig.weight(random.normal(7 * width), 7, width, type);
        const Tensor out = rig.zeros(DType::f32, {4, width});
        CHECK_OK(ops::embedding(rig.encoder(), {rig.ints({6, 0, 3, 3}), table, out}));
        CHECK_OK(rig.finish());
        return {rig.read(out)};
      });
}

PAGODA_TEST(conformance_rms_norm) {
  for (int64_t width : {1, 8, 16, 100, 1024})
    for (bool has_residual : {false, true})
      compare("rms_norm" + text({width, has_residual}), kNorm, [&](Rig& rig, Random& random) -> Outputs {
        const Tensor x = rig.floats(random.normal(3 * width), {3, width}), out = rig.zeros(DType::f32, {3, width});
        const Tensor residual = has_residual ? rig.floats(random.normal(3 * width), {3, width}) : Tensor{};
        const Tensor weight = rig.floats(random.normal(width), {width});
        CHECK_OK(ops::rms_norm(rig.encoder(), {x, residual, weight, 1e-6f, has_residual ? 1.0f : 0.0f, out}));
        CHECK_OK(rig.finish());
        return {rig.read(out), rig.read(x)};
      });
}

PAGODA_TEST(conformance_gates) {
  for (int64_t dim : {3, 16, 100})
    compare("sigmoid_gate" + text({dim}), kElementwise, [&](Rig& rig, Random& random) -> Outputs {
      // Includes large arguments: exp overflows and underflows inside.
      const Tensor x = rig.floats(random.normal(3 * 2 * dim), {3, 2, dim}),
                   both = rig.floats(random.normal(3 * 2 * 2 * dim, 60.0f), {3, 2, 2 * dim});
      const Tensor gated = rig.zeros(DType::f32, {3, 2, dim});
      CHECK_OK(ops::sigmoid_gate(rig.encoder(), {x, device::slice(both, 2, dim, dim), gated}));
      CHECK_OK(rig.finish());
      return {rig.read(gated)};
    });
}

// Writes to another tensor and to the half that it reads.
PAGODA_TEST(conformance_gelu_mul) {
  for (int64_t width : {3, 128, 300})
    for (bool is_in_place : {false, true})
      compare("gelu_mul" + text({width, is_in_place}), kElementwise, [&](Rig& rig, Random& random) -> Outputs {
        const Tensor both = rig.floats(random.normal(3 * 2 * width, 4.0f), {3, 2 * width});
        const Tensor out = is_in_place ? both : rig.zeros(DType::f32, {3, 2 * width});
        CHECK_OK(ops::gelu_mul(rig.encoder(), {.x = both, .out = device::slice(out, 1, 0, width)}));
        CHECK_OK(rig.finish());
        return {rig.read(out)};
      });
}

// exp(-x) of the first number overflows to infinity in float, and its product with 0 would be NaN.
PAGODA_TEST(conformance_gelu_mul_of_large_numbers) {
  compare("gelu_mul", kElementwise, [&](Rig& rig, Random&) -> Outputs {
    const Tensor both = rig.floats({-90, 90, -20, 20, 0, 1, 1, 1, 1, 3}, {1, 10});
    const Tensor out = rig.zeros(DType::f32, {1, 5});
    CHECK_OK(ops::gelu_mul(rig.encoder(), {.x = both, .out = out}));
    CHECK_OK(rig.finish());
    return {rig.read(out)};
  });
}

PAGODA_TEST(conformance_gelu_scale_rows_leaves_other_columns_alone) {
  for (int64_t width : {3, 128, 300})
    compare("scale_rows" + text({width}), kExact, [&](Rig& rig, Random& random) -> Outputs {
      const Tensor all = rig.floats(random.normal(3 * (width + 7)), {3, width + 7});
      CHECK_OK(ops::scale_rows(rig.encoder(), {.x = device::slice(all, 1, 4, width), .factor = 0.37f}));
      CHECK_OK(rig.finish());
      return {rig.read(all)};
    });
}

PAGODA_TEST(conformance_gated_rms_norm) {
  for (int64_t dim : {8, 24, 128})
    compare("gated_rms_norm" + text({dim}), kNorm, [&](Rig& rig, Random& random) -> Outputs {
      const Tensor x = rig.floats(random.normal(3 * 2 * dim), {3, 2, dim}),
                   both = rig.floats(random.normal(3 * 2 * 2 * dim, 3.0f), {3, 2, 2 * dim});
      const Tensor out = rig.zeros(DType::f32, {3, 2, dim});
      CHECK_OK(ops::gated_rms_norm(
          rig.encoder(), {x, device::slice(both, 2, dim, dim), rig.floats(random.normal(dim), {dim}), 1e-6f, out}));
      CHECK_OK(rig.finish());
      return {rig.read(out)};
    });
}

PAGODA_TEST(conformance_gather_rows) {
  compare("gather_rows", kExact, [&](Rig& rig, Random& random) -> Outputs {
    const Tensor x = rig.floats(random.normal(5 * 37), {5, 37}), out = rig.zeros(DType::f32, {3, 37});
    CHECK_OK(ops::gather_rows(rig.encoder(), {x, rig.ints({4, 0, 4}), out}));
    CHECK_OK(rig.finish());
    return {rig.read(out)};
  });
}

PAGODA_TEST(conformance_zero_slots_leaves_other_slots_alone) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name);
    const std::vector<float> before(5 * 2 * 3, 1.0f);
    const Tensor pool = rig.floats(before, {5, 2, 3});
    CHECK_OK(ops::zero_slots(rig.encoder(), {pool, rig.ints({4, 1})}));
    CHECK_OK(rig.finish());
    const std::vector<float> after = rig.read(pool);
    for (size_t i = 0; i < after.size(); ++i) CHECK_EQ(after[i], i / 6 == 4 || i / 6 == 1 ? 0.0f : 1.0f);
  }
}

PAGODA_TEST(conformance_copy_slot_leaves_other_slots_alone) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name);
    constexpr size_t kSlot = 3 * 20000;  // large enough for several tasks
    std::vector<float> before(5 * kSlot);
    for (size_t i = 0; i < before.size(); ++i) before[i] = static_cast<float>(i);
    const Tensor pool = rig.floats(before, {5, 3, 20000});
    CHECK_OK(ops::copy_slot(rig.encoder(), {pool, 3, 1}));
    CHECK_OK(ops::copy_slot(rig.encoder(), {pool, 4, 3}));
    CHECK_OK(ops::copy_slot(rig.encoder(), {pool, 2, 2}));
    CHECK_OK(rig.finish());
    const std::vector<float> after = rig.read(pool);
    const size_t from[] = {0, 3, 2, 4, 4};
    for (size_t i = 0; i < after.size(); ++i) REQUIRE(after[i] == before[from[i / kSlot] * kSlot + i % kSlot]);
  }
}
