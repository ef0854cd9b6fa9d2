// The GPU encoder: shapes that it refuses, with the sizes that kernels support; the step after a refusal works.
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using device::Tensor;

// The step fails with a message that contains `part`; the next one succeeds.
void refused(Rig& rig, const std::string& part) {
  const Status status = rig.finish();
  note(status.message);
  CHECK(status.code == StatusCode::unsupported || status.code == StatusCode::internal);
  CHECK(status.message.find(part) != std::string::npos);
  CHECK_OK(rig.finish());
}

void attend(Rig& rig, int64_t dim, int64_t block_size, DType type) {
  const Tensor q = rig.zeros(DType::f32, {1, 1, dim}), cache = rig.kv_cache(type, 1, block_size, 1, dim);
  CHECK_OK(ops::paged_attention(rig.encoder(), {q, cache, cache, make_sequences(rig, {{0}, {1}}, block_size, 1), 1.0f,
                                                0, rig.zeros(DType::f32, {1, 1, dim})}));
}

}  // namespace

PAGODA_TEST(gpu_device_refuses_attention_that_no_kernel_has) {
  Rig rig("software");
  attend(rig, 264, 16, DType::f32);
  refused(rig, "up to 256 dims");
  attend(rig, 20, 16, DType::f32);
  refused(rig, "not 20");
  attend(rig, 16, 12, DType::f32);
  refused(rig, "not 12");
  for (DType type : {DType::bf16, DType::i8}) {
    attend(rig, 16, 16, type);
    CHECK_OK(rig.finish());
  }
}

// Kernels read 16 bytes of an int8 row at once.
PAGODA_TEST(gpu_device_refuses_int8_caches_with_rows_between_multiples_of_16_bytes) {
  Rig rig("software");
  const Tensor kv = rig.zeros(DType::f32, {1, 1, 8}), cache = rig.kv_cache(DType::i8, 2, 8, 2, 8);
  Tensor moved = device::slice(device::slice(cache, 0, 0, 1), 2, 0, 1), odd = moved;
  moved.offset_bytes += 4;
  odd.strides[1] += 4;
  for (const Tensor& rows : {moved, odd}) {
    CHECK_OK(ops::reshape_and_cache(rig.encoder(), {kv, kv, rig.longs({0}), rows, rows}));
    refused(rig, "multiples of 16 bytes");
  }
}

PAGODA_TEST(gpu_device_refuses_recurrent_keys_of_more_than_256_dims) {
  Rig rig("software");
  const int64_t dk = 264;
  const Tensor k = rig.zeros(DType::f32, {1, 1, dk}), v = rig.zeros(DType::f32, {1, 1, 8}),
               one = rig.zeros(DType::f32, {1, 1}), head = rig.zeros(DType::f32, {1});
  CHECK_OK(ops::gdn(rig.encoder(), {k, k, v, one, one, head, head, make_sequences(rig, {{0}, {1}}, 16, 1),
                                    rig.zeros(DType::f32, {2, 1, dk, 8}), rig.zeros(DType::f32, {2, 1, 16, dk}),
                                    rig.zeros(DType::f32, {2, 1, 16, 8}), rig.zeros(DType::f32, {2, 1, 16}),
                                    rig.zeros(DType::f32, {1, 1, 8})}));
  refused(rig, "up to 256 dims, not 264");
}

PAGODA_TEST(gpu_device_refuses_steps_larger_than_reserved) {
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64}));
  device::Weight* weight = rig.weight(std::vector<float>(8 * 64), 8, 64, WeightFormat::bf16);
  CHECK_OK(ops::matmul(rig.encoder(), {rig.zeros(DType::f32, {65, 64}), weight, {}, rig.zeros(DType::f32, {65, 8})}));
  refused(rig, "more than was reserved");
}

}  // namespace pagoda::test
