// Decode steps that repeat the previous one are run again without encoding; all others are encoded.
#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/cuda/fake_cuda.h"
#include "device/gpu/gpu_device.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

constexpr int32_t kMaxBlocks = 32, kBlockSize = 16;

// A token of each of `num_seqs` sequences, at `position`.
model::ForwardBatch decode_batch(int32_t num_seqs, int32_t position) {
  model::ForwardBatch batch;
  batch.cu_seqlens = {0};
  for (int32_t b = 0; b < num_seqs; ++b) {
    batch.token_ids.push_back((7 + position + b) % 100);
    batch.positions.push_back(position);
    batch.slot_mapping.push_back((int64_t{b} * kMaxBlocks) * kBlockSize + position);
    batch.cu_seqlens.push_back(b + 1);
    batch.context_lens.push_back(position + 1);
    for (int32_t i = 0; i < kMaxBlocks; ++i) batch.block_tables.push_back(b * kMaxBlocks + i);
    batch.state_slots.push_back(b);
    batch.logits_rows.push_back(b);
    batch.draws.push_back(Draw{.top_k = 1});
  }
  return batch;
}

}  // namespace

PAGODA_TEST(model_repeats_only_decode_steps_of_the_same_shape) {
  fake_cuda() = {};
  fake_cuda().keeps_diary = false;
  auto backend = device::gpu::cuda::CudaBackend::make(fake_driver(), fake_nvrtc());
  REQUIRE(backend.is_ok());
  const device::gpu::cuda::CudaBackend& cuda = **backend;
  const auto device = device::gpu::make_gpu_device(std::move(*backend));
  auto opened = open_model(folder(fixtures_dir() + "/model/qwen3_5"));
  REQUIRE(opened.is_ok());
  auto model =
      model::load_model(opened->config, *opened->checkpoint, *device, WeightFormat::bf16, DType::bf16, 16, nullptr);
  REQUIRE(model.is_ok());
  REQUIRE((*model)
              ->allocate({.num_kv_blocks = 2 * kMaxBlocks,
                          .num_state_slots = 3,
                          .max_num_tokens = 16,
                          .max_num_seqs = 2,
                          .max_logits_rows = 2,
                          .max_blocks_per_seq = kMaxBlocks,
                          .block_size = kBlockSize})
              .is_ok());
  int64_t repeated = 0;
  const auto is_repeated = [&](const model::ForwardBatch& batch) {
    CHECK_OK((*model)->forward(batch));
    return std::exchange(repeated, cuda.counts().repeated) != cuda.counts().repeated;
  };
  CHECK(!is_repeated(decode_batch(1, 20)));
  CHECK(is_repeated(decode_batch(1, 21)));
  CHECK(!is_repeated(decode_batch(2, 22)));  // another sequence
  CHECK(is_repeated(decode_batch(2, 23)));
  CHECK(!is_repeated(decode_batch(2, 256)));  // attention of two partitions
  CHECK(is_repeated(decode_batch(2, 257)));
  model::ForwardBatch batch = decode_batch(2, 258);
  batch.fresh_slots = {1};
  CHECK(!is_repeated(batch));
  CHECK(!is_repeated(batch));  // slots are zeroed by separate launches
  batch = decode_batch(2, 259);
  batch.slot_copies = {{0, 2}};
  CHECK(!is_repeated(batch));
  CHECK(!is_repeated(batch));
  batch = decode_batch(2, 260);
  batch.draws.clear();  // logits instead of tokens
  CHECK(!is_repeated(batch));
  CHECK(is_repeated(batch));
  CHECK(!is_repeated(decode_batch(2, 261)));
  device->set_profiling(true);
  CHECK(!is_repeated(decode_batch(2, 262)));  // launches are counted
  device->set_profiling(false);
  CHECK(!is_repeated(decode_batch(2, 263)));
  CHECK(is_repeated(decode_batch(2, 264)));
  fake_cuda() = {};
}

}  // namespace pagoda::test
