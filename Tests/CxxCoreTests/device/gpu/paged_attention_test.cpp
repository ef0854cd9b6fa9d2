// paged_attention on GPUs: launches depend on the longest sequence of the step, but the bits do not.
#include "device/gpu/far_backend.h"
#include "device/gpu/gpu_device.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using device::Tensor;
using device::gpu::FarBackend;

constexpr int64_t kBlocks = 96, kBlockSize = 16, kHeads = 4, kDim = 16;  // 1536 positions: 6 partitions

// Rows of two sequences with `cached` tokens before them; the host knows the longest context, or nothing.
struct Seen {
  std::vector<std::byte> out;
  int64_t threadgroups = 0;
};
Seen attend(const Batch& batch, bool knows_longest) {
  FarBackend::Counts counts;
  auto software = device::gpu::software::SoftwareBackend::create({.num_threads = 2});
  CHECK_OK(software);
  Rig rig(device::gpu::make_gpu_device(std::make_unique<FarBackend>(std::move(*software), counts)));
  Random random(7);
  const auto cache = [&] {
    const int64_t blocks = kBlocks * batch.num_sequences();
    return rig.floats(random.normal(blocks * kBlockSize * 2 * kDim), {blocks, kBlockSize, 2, kDim});
  };
  const Tensor k = cache(), v = cache();
  const int64_t rows = batch.num_rows();
  const Tensor q = rig.floats(random.normal(rows * kHeads * kDim), {rows, kHeads, kDim});
  const Tensor out = rig.zeros(DType::f32, {rows, kHeads, kDim});
  device::SequenceArgs sequences = make_sequences(rig, batch, kBlockSize, kBlocks);
  if (!knows_longest) sequences.max_context = 0;
  counts = {};
  CHECK_OK(ops::paged_attention(rig.encoder(), {q, k, v, sequences, 0.3f, 0, out}));
  CHECK_OK(rig.finish());
  return {rig.bytes(out), counts.threadgroups};
}

}  // namespace

PAGODA_TEST(gpu_paged_attention_launches_what_the_longest_sequence_takes) {
  const struct {
    Batch batch;
    int64_t parts;  // launched, of 6
  } cases[] = {{{{0, 3}, {1, 1}}, 1},      {{{255, 3}, {1, 1}}, 1},   {{{256, 3}, {1, 1}}, 2},
               {{{3, 511}, {1, 1}}, 2},    {{{512, 700}, {1, 1}}, 4}, {{{1023, 0}, {1, 1}}, 4},
               {{{1024, 0}, {1, 1}}, 6},   {{{1535, 9}, {1, 1}}, 6},  {{{300, 600}, {5, 1}}, 4},
               {{{0, 1500}, {20, 30}}, 6}, {{{1500}, {30}}, 1}};
  for (const auto& c : cases) {
    const Seen tight = attend(c.batch, true), full = attend(c.batch, false);
    CHECK(tight.out == full.out);
    const int64_t sequences = c.batch.num_sequences(), group = kHeads / 2;
    const int64_t tiles = c.batch.num_rows() * group / 8 + sequences;
    const bool walks_only = c.parts == 1;  // nothing to merge
    CHECK_EQ(tight.threadgroups, tiles * 2 * c.parts + (walks_only ? 0 : kHeads * sequences));
    CHECK(full.threadgroups >= tight.threadgroups);
  }
}

PAGODA_TEST(gpu_paged_attention_refuses_a_longest_that_is_too_short) {
  Rig rig("software");
  const Tensor q = rig.zeros(DType::f32, {1, 1, 8}), cache = rig.kv_cache(DType::f32, 4, 8, 1, 8);
  device::SequenceArgs sequences = make_sequences(rig, {{20}, {1}}, 8, 4);
  sequences.max_context = 20;
  CHECK_OK(ops::paged_attention(rig.encoder(), {q, cache, cache, sequences, 1.0f, 0, q}));
  const Status status = rig.finish();
  CHECK(status.code == StatusCode::device_error && status.message.find("21") != std::string::npos);
}

}  // namespace pagoda::test
