// Expert ops with invalid ids, shapes and weights.
#include "device/expert_mixture.h"

using namespace pagoda;
using namespace pagoda::test;

// A kernel cannot report an invalid id, but must not read outside of the weights for it.
PAGODA_TEST(gpu_expert_ids_that_do_not_exist_stay_in_bounds) {
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    Rig rig(name);
    const Mixture m = make_mixture(rig, 1, 2, WeightFormat::f32);
    const Tensor good = rig.ints({0, 11, 11, 3, 11, 11}, {2, 3}), wrong = rig.ints({0, 12, -1, 3, 1 << 30, 11}, {2, 3});
    std::vector<std::byte> seen[2];
    const std::vector<float> nothing(static_cast<size_t>(m.inner.num_elements()));
    for (const Tensor& ids : {good, wrong}) {
      CHECK_OK(rig.device().upload(m.inner, nothing.data(), nothing.size() * sizeof(float)));
      CHECK_OK(ops::expert_matmul(
          rig.encoder(),
          {.x = m.x, .weight = m.in, .num_experts = kExperts, .ids = ids, .out = m.inner, .silu_mul = true}));
      CHECK_OK(rig.finish());
      seen[ids.buffer == wrong.buffer] = rig.bytes(m.inner);
    }
    CHECK(seen[0] == seen[1]);
  }
}

PAGODA_TEST(ops_experts_refuse_what_does_not_fit) {
  Rig rig("cpu");
  REQUIRE(rig.is_ok());
  const Mixture m = make_mixture(rig, 1, 2, WeightFormat::f32);
  device::Encoder& encoder = rig.encoder();
  const auto matmul = [&](auto&& change) {
    device::ExpertMatmulArgs args{
        .x = m.x, .weight = m.in, .num_experts = kExperts, .ids = m.ids, .out = m.inner, .silu_mul = true};
    change(args);
    return ops::expert_matmul(encoder, args).code;
  };
  CHECK(matmul([](auto&) {}) == StatusCode::ok);
  CHECK(matmul([](auto& a) { a.num_experts = 7; }) == StatusCode::internal);
  CHECK(matmul([](auto& a) { a.weight = nullptr; }) == StatusCode::internal);
  CHECK(matmul([](auto& a) { a.silu_mul = false; }) == StatusCode::internal);
  CHECK(matmul([&](auto& a) { a.x = m.inner; }) == StatusCode::internal);
  CHECK(ops::route_experts(encoder, {.logits = m.logits, .ids = m.weights, .weights = m.weights}).code ==
        StatusCode::internal);
  CHECK(ops::combine_experts(encoder,
                             {.x = m.inner, .weights = m.weights, .shared = m.shared, .gate = m.shared, .out = m.out})
            .code == StatusCode::internal);
  CHECK(ops::combine_experts(
            encoder,
            {.x = m.delta, .weights = m.weights, .shared = {}, .gate = device::slice(m.logits, 1, 0, 1), .out = m.out})
            .code == StatusCode::internal);
  CHECK_OK(rig.finish());
  // An id out of range is detected when the op runs.
  const Tensor wrong = rig.ints({0, 1, 2, 3, 4, kExperts}, {2, 3});
  CHECK_OK(ops::expert_matmul(
      encoder, {.x = m.x, .weight = m.in, .num_experts = kExperts, .ids = wrong, .out = m.inner, .silu_mul = true}));
  CHECK(rig.finish().code == StatusCode::device_error);
}
