// A decode step allocates nothing on the heap: neither model nor device makes anything anew that the step before had.
#include <atomic>
#include <cstdlib>
#include <new>

#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/fake_cuda.h"
#include "device/gpu/gpu_device.h"
#include "model/model_runner.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PAGODA_COUNTS_ALLOCATIONS
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef PAGODA_COUNTS_ALLOCATIONS
#endif
#endif
#endif

namespace {
std::atomic<bool> is_counting = false;
std::atomic<int64_t> num_allocations = 0;
#ifdef PAGODA_COUNTS_ALLOCATIONS
constexpr bool kCounts = true;
#else
constexpr bool kCounts = false;  // sanitizers have their own
#endif
}  // namespace

#ifdef PAGODA_COUNTS_ALLOCATIONS
// Those of the whole program, of any thread; the others of the standard library end here or in malloc.
void* operator new(size_t size) {
  if (is_counting.load(std::memory_order_relaxed)) num_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* made = std::malloc(size > 0 ? size : 1)) return made;
  throw std::bad_alloc();
}
void* operator new(size_t size, std::align_val_t alignment) {
  if (is_counting.load(std::memory_order_relaxed)) num_allocations.fetch_add(1, std::memory_order_relaxed);
  const size_t to = static_cast<size_t>(alignment);
  if (void* made = std::aligned_alloc(to, (size + to - 1) / to * to)) return made;
  throw std::bad_alloc();
}
void operator delete(void* made) noexcept { std::free(made); }
void operator delete(void* made, size_t) noexcept { std::free(made); }
void operator delete(void* made, std::align_val_t) noexcept { std::free(made); }
void operator delete(void* made, size_t, std::align_val_t) noexcept { std::free(made); }
#endif

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
  batch.draws = {device::Draw{.top_k = 1}};
  return batch;
}

// Of the steps after the third: the first begins the sequence, the next ones make what later ones find.
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
    num_allocations = 0;
    is_counting = true;
    const Status status = (*model)->forward(batch);
    is_counting = false;
    CHECK_OK(status);
    if (position >= kWarmUps) count += num_allocations;
  }
}

int64_t allocations_of_decode(device::Device& device) {
  if (!kCounts) {
    note("not run: a sanitizer allocates itself");
    return 0;
  }
  int64_t count = -1;  // where the model does not even load
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
