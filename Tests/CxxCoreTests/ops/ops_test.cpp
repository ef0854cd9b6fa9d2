// Every op rejects arguments of a wrong shape, type, stride or extent, and its message says which and why.
#include "ops/ops.h"

#include <cmath>

#include "device/rig.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

void check_refused(const Status& status, const char* op, const char* argument) {
  CHECK(status.code == StatusCode::internal);
  const std::string start = std::string(op) + ": " + argument + " ";
  if (status.message.compare(0, start.size(), start) != 0)
    fail(__FILE__, __LINE__, "wanted an error of '" + start + "', got '" + status.message + "'");
}

struct Parts {
  Rig rig{"reference"};
  Tensor f(Shape shape) { return rig.zeros(DType::f32, shape); }
  Tensor i(Shape shape) { return rig.zeros(DType::i32, shape); }
  Tensor l(Shape shape) { return rig.zeros(DType::i64, shape); }
  device::Weight* w(int64_t rows, int64_t cols) {
    return rig.weight(std::vector<float>(static_cast<size_t>(rows * cols)), rows, cols, WeightFormat::f32);
  }
  device::SequenceArgs s(int64_t n) { return {i({n + 1}), i({n}), i({n, 4}), i({n})}; }
  device::Encoder& encoder() { return rig.encoder(); }
};

}  // namespace

PAGODA_TEST(ops_errors_name_both_shapes) {
  Parts p;
  const Status status = ops::rms_norm(p.encoder(), {p.f({3, 8}), {}, p.f({9}), 1e-6f, 0, p.f({3, 8})});
  CHECK_EQ(status.message, std::string("rms_norm: weight is float32 [9], wanted float32 [8]"));
}

PAGODA_TEST(ops_refuse_wrong_row_arguments) {
  Parts p;
  check_refused(ops::embedding(p.encoder(), {p.i({3}), p.w(5, 8), p.f({2, 8})}), "embedding", "ids");
  check_refused(ops::embedding(p.encoder(), {p.i({2}), p.w(5, 7), p.f({2, 8})}), "embedding", "table");
  check_refused(ops::embedding(p.encoder(), {p.f({2}), p.w(5, 8), p.f({2, 8})}), "embedding", "ids");
  check_refused(ops::embedding(p.encoder(), {p.i({2}), nullptr, p.f({2, 8})}), "embedding", "table");
  check_refused(ops::gather_rows(p.encoder(), {p.f({4, 8}), p.i({2}), p.f({3, 8})}), "gather_rows", "out");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(5, 9), {}, p.f({2, 5})}), "matmul", "weight");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(5, 8), p.f({4}), p.f({2, 5})}), "matmul", "bias");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(5, 8), {}, p.f({3, 5})}), "matmul", "out");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(5, 8), {}, p.f({2, 2}), true}), "matmul", "weight");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(6, 8), {}, p.f({2, 6}), true}), "matmul", "out");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(6, 8), {}, p.f({2, 5})}), "matmul", "out");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(6, 8), {}, p.f({2, 7}), false, true}), "matmul", "out");
  check_refused(ops::matmul(p.encoder(), {p.f({2, 8}), p.w(6, 8), {}, p.f({2, 2}), true, true}), "matmul", "out");
  check_refused(ops::zero_slots(p.encoder(), {p.f({2, 8}), p.l({1})}), "zero_slots", "slots");
  check_refused(ops::copy_slot(p.encoder(), {p.f({2, 8}), 2, 0}), "copy_slot", "from");
  check_refused(ops::copy_slot(p.encoder(), {p.f({2, 8}), 0, -1}), "copy_slot", "to");
  check_refused(ops::copy_slot(p.encoder(), {device::slice(p.f({2, 4, 8}), 2, 0, 4), 0, 1}), "copy_slot", "pool");
  check_refused(ops::zero_slots(p.encoder(), {device::slice(p.f({2, 4, 8}), 2, 0, 4), p.i({1})}), "zero_slots", "pool");
}

PAGODA_TEST(ops_refuse_wrong_norm_and_gate_arguments) {
  Parts p;
  const Tensor heads = p.f({3, 2, 8});
  check_refused(ops::rms_norm(p.encoder(), {p.f({3, 8}), p.f({2, 8}), p.f({8}), 1e-6f, 0, p.f({3, 8})}), "rms_norm",
                "residual");
  check_refused(ops::rms_norm(p.encoder(), {{}, {}, p.f({8}), 1e-6f, 0, p.f({3, 8})}), "rms_norm", "x");
  check_refused(ops::qk_norm_rope(p.encoder(), {heads, p.f({8}), 1e-6f, 0, p.i({3}), p.f({5}), heads}), "qk_norm_rope",
                "inv_freq");
  check_refused(ops::qk_norm_rope(p.encoder(), {heads, p.f({8}), 1e-6f, 0, p.i({2}), p.f({4}), heads}), "qk_norm_rope",
                "positions");
  check_refused(ops::qk_norm_rope(p.encoder(), {p.f({1, 1, 513}), {}, 1e-6f, 0, p.i({1}), p.f({4}), p.f({1, 1, 513})}),
                "qk_norm_rope", "x");
  check_refused(ops::gated_rms_norm(p.encoder(), {heads, p.f({3, 2, 7}), p.f({8}), 1e-6f, heads}), "gated_rms_norm",
                "z");
  check_refused(ops::sigmoid_gate(p.encoder(), {heads, p.f({3, 1, 8}), heads}), "sigmoid_gate", "gate");
}

PAGODA_TEST(ops_refuse_wrong_attention_arguments) {
  Parts p;
  const Tensor kv = p.f({3, 2, 8}), cache = p.f({4, 16, 2, 8}), q = p.f({3, 4, 8});
  check_refused(ops::reshape_and_cache(p.encoder(), {kv, p.f({3, 1, 8}), p.l({3}), cache, cache}), "reshape_and_cache",
                "v");
  check_refused(ops::reshape_and_cache(p.encoder(), {kv, kv, p.i({3}), cache, cache}), "reshape_and_cache",
                "slot_mapping");
  check_refused(ops::reshape_and_cache(p.encoder(), {kv, kv, p.l({3}), cache, p.rig.zeros(DType::f16, {4, 16, 2, 8})}),
                "reshape_and_cache", "v_cache");
  const Tensor no_scales = p.rig.zeros(DType::i8, {4, 16, 2, 8});
  check_refused(ops::reshape_and_cache(p.encoder(), {kv, kv, p.l({3}), no_scales, no_scales}), "reshape_and_cache",
                "k_cache");
  check_refused(ops::reshape_and_cache(p.encoder(), {kv, kv, p.l({3}), p.i({4, 16, 2, 8}), cache}), "reshape_and_cache",
                "k_cache");
  check_refused(ops::paged_attention(p.encoder(), {p.f({3, 3, 8}), cache, cache, p.s(1), 1, 0, p.f({3, 3, 8})}),
                "paged_attention", "q");
  check_refused(ops::paged_attention(p.encoder(), {q, cache, p.f({4, 8, 2, 8}), p.s(1), 1, 0, q}), "paged_attention",
                "v_cache");
  check_refused(ops::paged_attention(p.encoder(), {q, cache, cache, p.s(1), 1, -1, q}), "paged_attention", "window");
  for (const float softcap : {-1.0f, std::nanf(""), HUGE_VALF})
    check_refused(ops::paged_attention(p.encoder(), {q, cache, cache, p.s(1), 1, 0, q, softcap}), "paged_attention",
                  "softcap");
  for (const Tensor& sinks : {p.f({q.shape[1] + 1}), p.i({q.shape[1]})})
    check_refused(ops::paged_attention(p.encoder(), {q, cache, cache, p.s(1), 1, 0, q, 0, sinks}), "paged_attention",
                  "sinks");
  device::SequenceArgs s = p.s(2);
  s.cu_seqlens = p.i({2});
  check_refused(ops::paged_attention(p.encoder(), {q, cache, cache, s, 1, 0, q}), "paged_attention", "cu_seqlens");
  s = p.s(2);
  s.block_tables = {};
  check_refused(ops::paged_attention(p.encoder(), {q, cache, cache, s, 1, 0, q}), "paged_attention", "block_tables");
}

PAGODA_TEST(ops_refuse_wrong_recurrent_arguments) {
  Parts p;
  const Tensor x = p.f({3, 8}), out = p.f({3, 8}), weight = p.f({4, 8}), tail = p.f({2, 3, 8});
  check_refused(ops::causal_conv1d(p.encoder(), {x, weight, p.f({2, 2, 8}), p.s(1), out}), "causal_conv1d", "tail");
  check_refused(ops::causal_conv1d(p.encoder(), {x, p.f({9, 8}), p.f({2, 8, 8}), p.s(1), out}), "causal_conv1d",
                "weight");
  check_refused(ops::causal_conv1d(p.encoder(), {x, weight, tail, p.s(1), x}), "causal_conv1d", "out");
  device::SequenceArgs s = p.s(1);
  s.state_slots = {};
  check_refused(ops::causal_conv1d(p.encoder(), {x, weight, tail, s, out}), "causal_conv1d", "state_slots");
  const device::GdnArgs good{p.f({3, 2, 8}),     p.f({3, 2, 8}),  p.f({3, 4, 6}), p.f({3, 4}),       p.f({3, 4}),
                             p.f({4}),           p.f({4}),        p.s(1),         p.f({2, 4, 8, 6}), p.f({2, 2, 16, 8}),
                             p.f({2, 4, 16, 6}), p.f({2, 4, 16}), p.f({3, 4, 6})};
  const struct {
    const char* name;
    Tensor device::GdnArgs::* field;
    Tensor wrong;
  } rows[] = {{"k", &device::GdnArgs::k, p.f({3, 2, 7})},
              {"v", &device::GdnArgs::v, p.f({3, 3, 6})},
              {"a", &device::GdnArgs::a, p.f({3, 2})},
              {"b", &device::GdnArgs::b, p.f({2, 4})},
              {"a_log", &device::GdnArgs::a_log, p.f({2})},
              {"dt_bias", &device::GdnArgs::dt_bias, p.f({2})},
              {"state", &device::GdnArgs::state, p.f({2, 4, 6, 8})},
              {"state", &device::GdnArgs::state, p.rig.zeros(DType::f16, {2, 4, 8, 6})},
              {"k_rows", &device::GdnArgs::k_rows, p.f({2, 4, 16, 8})},
              {"u_rows", &device::GdnArgs::u_rows, p.f({2, 4, 8, 6})},
              {"g_rows", &device::GdnArgs::g_rows, p.f({3, 4, 16})},
              {"out", &device::GdnArgs::out, p.f({3, 4, 8})}};
  for (const auto& row : rows) {
    device::GdnArgs args = good;
    args.*row.field = row.wrong;
    check_refused(ops::gdn(p.encoder(), args), "gdn", row.name);
  }
}

PAGODA_TEST(ops_refuse_views_that_leave_their_buffer_or_are_transposed) {
  Parts p;
  const Tensor x = p.f({3, 8});
  Tensor outside = device::slice(x, 0, 1, 3), transposed = p.f({8, 8}), wrapping = x;
  std::swap(transposed.strides[0], transposed.strides[1]);
  wrapping.strides[0] = INT64_MAX / 2;
  for (const Tensor& bad : {outside, wrapping, transposed})
    check_refused(ops::gather_rows(p.encoder(), {bad, p.i({3}), p.f({3, 8})}), "gather_rows", "x");
}

// An op without rows in a step (for example, no logits requested) is not an error.
PAGODA_TEST(ops_accept_no_rows) {
  for (const std::string& name : tested_devices()) {
    Rig rig(name);
    const Tensor none = rig.zeros(DType::f32, {0, 8});
    CHECK_OK(ops::gather_rows(rig.encoder(), {rig.zeros(DType::f32, {3, 8}), rig.zeros(DType::i32, {0}), none}));
    CHECK_OK(ops::matmul(
        rig.encoder(),
        {none, rig.weight(std::vector<float>(16), 2, 8, WeightFormat::f32), {}, rig.zeros(DType::f32, {0, 2})}));
    CHECK_OK(rig.finish());
  }
}
