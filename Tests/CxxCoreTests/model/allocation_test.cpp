// A decode step does not allocate on the heap: model and device reuse everything of the previous step.
#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/cuda/fake_cuda.h"
#include "device/gpu/gpu_device.h"
#include "model/model_runner.h"
#include "support/allocations.h"

namespace pagoda::test {
namespace {

// One sequence, one token at `position`.
model::ForwardBatch decode_batch(int32_t position, int32_t max_blocks) {
  model::ForwardBatch batch;
  batch.token_ids = {static_cast<int32_t>(7 + position)};
  batch.positions = {position};
  batch.slot_mapping = {position};
  batch.cu_seqlens = {0, 1};
  batch.context_lens = {position + 1};
  for (int32_t i = 0; i < max_blocks; ++i) batch.block_tables.push_back(i);
  batch.state_slots = {0};
  if (position == 0) batch.fresh_slots = {0};
  batch.logits_rows = {0};
  batch.draws = {Draw{.top_k = 1}};
  return batch;
}

// Counts the steps after the third: the first starts the sequence, the next ones allocate what later ones reuse.
void count_allocations(device::Device& device, int64_t& count) {
  auto opened = open_model(folder(fixtures_dir() + "/model/qwen3_5"));
  REQUIRE(opened.is_ok());
  auto model =
      model::load_model(opened->config, *opened->checkpoint, device, WeightFormat::bf16, DType::bf16, 16, nullptr);
  REQUIRE(model.is_ok());
  constexpr int32_t kMaxBlocks = 4, kWarmUps = 3, kSteps = 4;
  CHECK_OK((*model)->allocate({.num_kv_blocks = kMaxBlocks,
                               .num_state_slots = 1,
                               .max_num_tokens = 16,
                               .max_num_seqs = 1,
                               .max_logits_rows = 1,
                               .max_blocks_per_seq = kMaxBlocks,
                               .block_size = 16}));
  count = 0;
  for (int32_t position = 0; position < kWarmUps + kSteps; ++position) {
    const model::ForwardBatch batch = decode_batch(position, kMaxBlocks);
    begin_counting();
    const Status status = (*model)->forward(batch);
    const int64_t num_allocations = end_counting();
    CHECK_OK(status);
    if (position >= kWarmUps) count += num_allocations;
  }
}

int64_t allocations_of_decode(device::Device& device) {
  int64_t count = -1;  // if the model does not even load
  count_allocations(device, count);
  return count;
}

}  // namespace

PAGODA_TEST(model_decode_allocates_nothing_on_the_cpu) {
  auto device = device::make_device("cpu", 2);
  REQUIRE(device.is_ok());
  CHECK_EQ(allocations_of_decode(**device), 0);
}

PAGODA_TEST(model_decode_allocates_nothing_on_the_software_device) {
  auto device = device::make_device("software", 2);
  REQUIRE(device.is_ok());
  CHECK_EQ(allocations_of_decode(**device), 0);
}

PAGODA_TEST(model_decode_allocates_nothing_on_a_cuda_stub) {
  fake_cuda() = {};
  fake_cuda().keeps_diary = false;
  auto backend = device::gpu::cuda::CudaBackend::make(fake_driver(), fake_nvrtc());
  REQUIRE(backend.is_ok());
  {
    const auto device = device::gpu::make_gpu_device(std::move(*backend));
    CHECK_EQ(allocations_of_decode(*device), 0);
  }
  fake_cuda() = {};
}

}  // namespace pagoda::test
