// Compares devices with the reference.
#include "device/conformance.h"

#include <algorithm>
#include <cmath>

#include "device/registry.h"
#include "support/test.h"

namespace pagoda::test {

Tolerance Tolerances::of(const std::string& name) const {
  const auto names = device::device_names();
  const bool has_tiles = name == "cpu:amx" || (name == "cpu" && std::ranges::count(names, "cpu:amx") > 0);
  return runs_kernels(name) ? in_kernels : has_tiles ? on_tiles : tolerance;
}

Tolerances sum_of_products(int64_t k, WeightFormat format, double factor) {
  const double rounding = is_quantised(format) ? 0.012 : format == WeightFormat::bf16 ? 2.5e-3 : 4e-7;
  const double in_kernels = format == WeightFormat::f32 ? 4e-7 : format == WeightFormat::f16 ? 4e-4 : 2.5e-3;
  const double growth = std::sqrt(static_cast<double>(k)) * 4 * factor;
  return {{rounding * growth, 1e-6}, {in_kernels * growth, 1e-6}};
}

Tolerances attention_over(DType type, int64_t dim) {
  const Tolerance in_kernels = type == DType::f32 ? kAttention : Tolerance{type == DType::f16 ? 4e-3 : 3e-2, 0};
  return {kAttention, in_kernels, type == DType::bf16 && dim % 32 == 0 ? kAttentionBf16 : kAttention};
}

// The reference's results for weights rounded as GPU kernels round them.
static Outputs rounded_in_groups(uint64_t start, const std::function<Outputs(Rig&, Random&)>& make) {
  Rig reference("reference");
  reference.round_weights_in_groups();
  Random same(start);
  return make(reference, same);
}

void compare(const std::string& what, const Tolerances& tolerances, const std::function<Outputs(Rig&, Random&)>& make,
             Devices devices) {
  uint64_t start = seed(1);
  for (char c : what) start = start * 1099511628211u + static_cast<unsigned char>(c);
  Rig reference("reference");
  REQUIRE(reference.is_ok());
  Random same(start);
  const Outputs of_cpu = make(reference, same);
  const Outputs of_kernels = reference.has_quantised_weights() ? rounded_in_groups(start, make) : of_cpu;
  for (const std::string& name : tested_devices()) {
    if (devices == Devices::without_kernels && runs_kernels(name)) continue;
    const Outputs& wanted = runs_kernels(name) ? of_kernels : of_cpu;
    const Tolerance tolerance = tolerances.of(name);
    Rig rig(name);
    Random random(start);
    REQUIRE(rig.is_ok());
    const Outputs got = make(rig, random);
    REQUIRE(got.size() == wanted.size());
    for (size_t o = 0; o < got.size(); ++o) {
      REQUIRE(got[o].size() == wanted[o].size());
      for (size_t i = 0; i < got[o].size(); ++i) {
        const double error = std::abs(static_cast<double>(got[o][i]) - wanted[o][i]);
        if (error <= tolerance.absolute + tolerance.relative * std::abs(wanted[o][i])) continue;
        fail(__FILE__, __LINE__,
             name + " " + what + ": output " + std::to_string(o) + "[" + std::to_string(i) + "] is " +
                 std::to_string(got[o][i]) + ", reference " + std::to_string(wanted[o][i]) + ", error " +
                 std::to_string(error));
        break;
      }
    }
  }
}

}  // namespace pagoda::test
