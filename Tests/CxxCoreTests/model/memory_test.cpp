// model: the plan equals the allocation, a refused allocation is a status, and a step allocates no memory.
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

// Forwards everything to the reference device, counts bytes, and fails on request.
class CountingDevice final : public device::Device {
 public:
  int64_t allocated_bytes = 0, weight_total_bytes = 0;
  device::StepLimits limits;              // passed to reserve()
  int num_allocations = 0, fail_at = -1;  // counts buffers, weights and reserve()
  bool uploads_fail = false;

  CountingDevice() : inner_(std::move(*device::make_device("reference", 1))) {}

  const device::DeviceInfo& info() const noexcept override { return inner_->info(); }
  device::Encoder& encoder() noexcept override { return inner_->encoder(); }
  Result<std::unique_ptr<device::Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    if (is_refused()) return make_error(StatusCode::out_of_memory, label);
    allocated_bytes += static_cast<int64_t>(size_bytes);
    return inner_->allocate(size_bytes, label);
  }
  Result<std::unique_ptr<device::Weight>> make_weight(const device::WeightSource& source,
                                                      WeightFormat format) override {
    if (is_refused()) return make_error(StatusCode::out_of_memory, source.name);
    auto weight = inner_->make_weight(source, format);
    if (weight.is_ok()) weight_total_bytes += static_cast<int64_t>((*weight)->size_bytes());
    return weight;
  }
  size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept override {
    return inner_->weight_bytes(rows, cols, format);
  }
  Status reserve(const device::StepLimits& asked) override {
    limits = asked;
    if (is_refused()) return make_error(StatusCode::out_of_memory, "reserve");
    return inner_->reserve(asked);
  }
  size_t reserve_bytes(const device::StepLimits& limits) const noexcept override {
    return inner_->reserve_bytes(limits);
  }
  Status upload(const device::Tensor& to, const void* from, size_t size_bytes) noexcept override {
    if (uploads_fail) return make_error(StatusCode::device_error, "upload refused");
    return inner_->upload(to, from, size_bytes);
  }
  Status download(const device::Tensor& from, void* to, size_t size_bytes) noexcept override {
    return inner_->download(from, to, size_bytes);
  }

 private:
  bool is_refused() noexcept { return num_allocations++ == fail_at; }
  std::unique_ptr<device::Device> inner_;
};

constexpr EngineLimits kSizes{.num_kv_blocks = 7,
                              .num_state_slots = 3,
                              .max_num_tokens = 21,
                              .max_num_seqs = 3,
                              .max_logits_rows = 5,
                              .max_blocks_per_seq = 2};

Result<std::unique_ptr<model::Model>> load_and_allocate(const OpenedModel& opened, CountingDevice& device,
                                                        DType dtype) {
  auto model = model::load_model(opened.config, *opened.checkpoint, device, weight_format(dtype), dtype, 8, nullptr);
  if (!model.is_ok()) return model.status;
  PAGODA_RETURN_IF_ERROR((*model)->allocate(kSizes));
  return model;
}

model::ForwardBatch one_token(const OpenedModel& opened) {
  model::ForwardBatch batch;
  batch.token_ids = {3};
  batch.positions = {0};
  batch.slot_mapping = {8};
  batch.cu_seqlens = {0, 1};
  batch.context_lens = {1};
  batch.block_tables = {1, -1};
  batch.logits_rows = {0};
  if (model::cache_layout(opened.config, DType::f32, 8).has_state()) batch.state_slots = batch.fresh_slots = {1};
  return batch;
}

}  // namespace

PAGODA_TEST(model_allocates_exactly_what_was_planned) {
  for (const char* name : {"qwen3_5", "qwen3_5_real_heads", "qwen2", "smollm2", "deepseek_v2", "minicpm3",
                           "kimi_linear", "olmo_hybrid", "qwen4_exp"}) {
    for (DType dtype : {DType::f32, DType::bf16}) {
      const cache::CacheTypes types(dtype, dtype);  // of the KV cache and of recurrent states
      auto opened = open_model(folder(fixtures_dir() + "/model/" + name));
      REQUIRE_OK(opened);
      CountingDevice device;
      auto weights = model::check_weights(opened->config, *opened->checkpoint, device, weight_format(dtype));
      REQUIRE_OK(weights);
      int64_t done = 0, total = 1;
      auto model = model::load_model(opened->config, *opened->checkpoint, device, weight_format(dtype), types, 8,
                                     [&](int64_t num_bytes, int64_t total_bytes) {
                                       CHECK(num_bytes >= done && num_bytes <= total_bytes);
                                       done = num_bytes;
                                       total = total_bytes;
                                       return true;
                                     });
      REQUIRE_OK(model);
      CHECK_EQ(done, total);
      CHECK_EQ(device.allocated_bytes + device.weight_total_bytes, weights->size_bytes);

      const int64_t before = device.allocated_bytes;
      REQUIRE_OK((*model)->allocate(kSizes));
      const cache::CacheLayout layout = model::cache_layout(opened->config, types, 8);
      const int64_t pools =
          kSizes.num_kv_blocks * layout.kv_block_bytes() + kSizes.num_state_slots * layout.state_slot_bytes();
      const int64_t workspace = model::workspace_bytes(opened->config, device, kSizes);
      const int64_t reserved = static_cast<int64_t>(device.reserve_bytes(device.limits));
      CHECK_EQ(device.allocated_bytes - before + reserved, pools + workspace);

      const int num_allocations = device.num_allocations;
      CHECK_OK((*model)->forward(one_token(*opened)));
      CHECK_EQ((*model)->logits().size(), static_cast<size_t>(opened->config.vocab_size));
      CHECK_EQ(device.num_allocations, num_allocations);
    }
  }
}

PAGODA_TEST(model_survives_every_refused_allocation) {
  auto opened = open_model(folder(fixtures_dir() + "/model/qwen3_5"));
  REQUIRE_OK(opened);
  CountingDevice whole;
  REQUIRE_OK(load_and_allocate(*opened, whole, DType::f32));
  for (int i = 0; i < whole.num_allocations; ++i) {
    CountingDevice device;
    device.fail_at = i;
    const auto model = load_and_allocate(*opened, device, DType::f32);
    CHECK(model.status.code == StatusCode::out_of_memory);
    CHECK(!model.status.message.empty());
  }
}

PAGODA_TEST(model_reports_a_device_fault_and_continues) {
  auto opened = open_model(folder(fixtures_dir() + "/model/qwen3_5"));
  REQUIRE_OK(opened);
  CountingDevice device;
  auto model = load_and_allocate(*opened, device, DType::f32);
  REQUIRE_OK(model);
  device.uploads_fail = true;
  CHECK((*model)->forward(one_token(*opened)).code == StatusCode::device_error);
  CHECK((*model)->logits().empty());
  device.uploads_fail = false;
  CHECK_OK((*model)->forward(one_token(*opened)));
  CHECK(!(*model)->logits().empty());
}

PAGODA_TEST(model_plans_impossible_sizes_without_wrapping) {
  auto opened = open_model(folder(fixtures_dir() + "/model/qwen3_5"));
  REQUIRE_OK(opened);
  CountingDevice device;
  EngineLimits sizes = kSizes;
  sizes.max_num_tokens = sizes.max_num_seqs = sizes.max_logits_rows = sizes.max_blocks_per_seq = 0x7fffffff;
  io::ModelConfig config = opened->config;
  config.vocab_size = config.hidden_size = 0x7fffffff;
  CHECK(model::workspace_bytes(config, device, sizes) >= int64_t{1} << 61);
}

PAGODA_TEST(model_refuses_sizes_that_are_not_positive_and_steps_before_allocate) {
  auto opened = open_model(folder(fixtures_dir() + "/model/qwen3_5"));
  REQUIRE_OK(opened);
  CountingDevice device;
  auto model =
      model::load_model(opened->config, *opened->checkpoint, device, WeightFormat::f32, DType::f32, 8, nullptr);
  REQUIRE_OK(model);
  CHECK((*model)->forward(one_token(*opened)).code == StatusCode::internal);
  for (int field = 0; field < 6; ++field) {
    EngineLimits sizes = kSizes;
    if (field == 0) sizes.num_kv_blocks = 0;
    if (field == 1) sizes.num_state_slots = 0;
    if (field == 2) sizes.max_num_tokens = -1;
    if (field == 3) sizes.max_num_seqs = 0;
    if (field == 4) sizes.max_logits_rows = 0;
    if (field == 5) sizes.max_blocks_per_seq = 0;
    CHECK((*model)->allocate(sizes).code == StatusCode::invalid_argument);
  }
  CHECK_OK((*model)->allocate(kSizes));
  CHECK((*model)->allocate(kSizes).code == StatusCode::internal);
}

}  // namespace pagoda::test
