// A small mixture of experts for tests of its ops.
#pragma once

#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::test {

using device::Tensor;

constexpr int64_t kExperts = 12, kChosen = 3, kHidden = 48, kInner = 24;

struct Mixture {  // the tensors of one mixture of experts, T tokens
  Tensor x, logits, ids, weights, inner, delta, shared, out;
  device::Weight *in, *down;
};

inline Mixture make_mixture(Rig& rig, uint64_t start, int64_t tokens, WeightFormat format) {
  Random random(start);
  Mixture m;
  m.in = rig.weight(random.normal(kExperts * 2 * kInner * kHidden, 0.15f), kExperts * 2 * kInner, kHidden, format);
  m.down = rig.weight(random.normal(kExperts * kHidden * kInner, 0.2f), kExperts * kHidden, kInner, format);
  m.x = rig.floats(random.normal(tokens * kHidden), {tokens, kHidden});
  m.logits = rig.floats(random.normal(tokens * (kExperts + 1)), {tokens, kExperts + 1});
  m.shared = rig.floats(random.normal(tokens * kHidden), {tokens, kHidden});
  m.ids = rig.zeros(DType::i32, {tokens, kChosen});
  m.weights = rig.zeros(DType::f32, {tokens, kChosen});
  m.inner = rig.zeros(DType::f32, {tokens * kChosen, kInner});
  m.delta = rig.zeros(DType::f32, {tokens * kChosen, kHidden});
  m.out = rig.zeros(DType::f32, {tokens, kHidden});
  return m;
}

// Runs rows [first, first + count) of the mixture.
inline void run(Rig& rig, const Mixture& m, int64_t first, int64_t count, bool normalise, bool has_shared = true) {
  const auto rows = [&](const Tensor& t) { return device::slice(t, 0, first, count); };
  const auto slots = [&](const Tensor& t) { return device::slice(t, 0, first * kChosen, count * kChosen); };
  device::Encoder& encoder = rig.encoder();
  CHECK_OK(ops::route_experts(encoder, {.logits = device::slice(rows(m.logits), 1, 0, kExperts),
                                        .ids = rows(m.ids),
                                        .weights = rows(m.weights),
                                        .normalise = normalise}));
  CHECK_OK(ops::expert_matmul(encoder, {.x = rows(m.x),
                                        .weight = m.in,
                                        .num_experts = kExperts,
                                        .ids = rows(m.ids),
                                        .out = slots(m.inner),
                                        .silu_mul = true}));
  CHECK_OK(ops::expert_matmul(
      encoder,
      {.x = slots(m.inner), .weight = m.down, .num_experts = kExperts, .ids = rows(m.ids), .out = slots(m.delta)}));
  CHECK_OK(ops::combine_experts(encoder, {.x = slots(m.delta),
                                          .weights = rows(m.weights),
                                          .shared = has_shared ? rows(m.shared) : Tensor{},
                                          .gate = has_shared ? device::slice(rows(m.logits), 1, kExperts, 1) : Tensor{},
                                          .out = rows(m.out)}));
  CHECK_OK(rig.finish());
}

}  // namespace pagoda::test
