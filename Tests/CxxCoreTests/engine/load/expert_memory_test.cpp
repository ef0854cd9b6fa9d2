// expert memory: what is planned with it, without it and without enough of it, who may not have it, and a file that
// cannot be read while the engine answers.
#include <filesystem>

#include "engine/load/expert_plan.h"
#include "engine/load/load_options.h"
#include "engine/load/memory_plan.h"
#include "engine/model_harness.h"
#include "engine/recorder.h"
#include "model/model_runner.h"

namespace pagoda::engine {
namespace {

namespace fs = std::filesystem;
using test::cpu_options;
using test::Recorder;

ModelSource fixture(const std::string& name) { return {test::fixtures_dir() + "/model/" + name, {}}; }

EngineOptions with_experts(int64_t bytes) {
  EngineOptions options = cpu_options();
  options.expert_memory_bytes = bytes;
  return options;
}

Request request() {
  Request made;
  for (int32_t i = 0; i < 20; ++i) made.prompt_ids.push_back(i * 7 % 48);
  made.sampling.max_tokens = 12;
  made.sampling.temperature = 0;
  made.sampling.ignore_eos = true;
  return made;
}

void answer(test::ModelHarness& harness, uint64_t id, Recorder& recorder) {
  CHECK(harness.add(request(), id, recorder));
  while (harness.core->has_work()) harness.core->step();
}

}  // namespace

PAGODA_TEST(engine_expert_memory_is_planned) {
  const auto whole = inspect(fixture("qwen3_5_moe"), cpu_options());
  REQUIRE_OK(whole);
  CHECK_EQ(whole->plan.expert_memory_bytes, 0);
  const int64_t all = whole->plan.expert_bytes;
  CHECK_EQ(whole->plan.expert_token_bytes * 8, all * 3);  // 3 of 8 experts
  const auto half = inspect(fixture("qwen3_5_moe"), with_experts(all / 2));
  REQUIRE_OK(half);
  CHECK_EQ(half->plan.expert_memory_bytes, all / 2);
  CHECK_EQ(half->plan.expert_bytes, all);
  CHECK_EQ(half->plan.weights_bytes, whole->plan.weights_bytes - all + all / 2);
  const auto more = inspect(fixture("qwen3_5_moe"), with_experts(100 * all));
  REQUIRE_OK(more);
  CHECK_EQ(more->plan.weights_bytes, whole->plan.weights_bytes);
}

PAGODA_TEST(engine_expert_memory_is_refused_where_it_cannot_be) {
  const auto refusal = [](const std::string& name, const EngineOptions& options) {
    return inspect(fixture(name), options).status;
  };
  const Status dense = refusal("qwen3_5", with_experts(1 << 20));
  CHECK(dense.code == StatusCode::unsupported && dense.message.find("mixture of experts") != dense.message.npos);
  const Status little = refusal("qwen3_5_moe", with_experts(10));
  CHECK(little.code == StatusCode::out_of_memory && little.message.starts_with("expert_memory_bytes of 10 bytes"));
  EngineOptions on_reference = with_experts(1 << 20);
  on_reference.device = "reference";
  const Status reference = refusal("qwen3_5_moe", on_reference);
  CHECK(reference.code == StatusCode::unsupported);
  CHECK(reference.message.find("the device reference keeps all experts") != reference.message.npos);
  EngineOptions pipeline = with_experts(1 << 20);
  pipeline.pipeline = "localhost:1";
  CHECK(refusal("qwen3_5_moe", pipeline).code == StatusCode::unsupported);
  CHECK(refusal("qwen3_5_moe", with_experts(-1)).code == StatusCode::invalid_argument);
}

// Within a limit that the model exceeds, the experts get what the rest leaves; a model that fits keeps them in memory.
PAGODA_TEST(engine_expert_memory_is_chosen_if_the_model_does_not_fit) {
  auto opened = test::open_model(fixture("qwen3_5_moe"));
  REQUIRE_OK(opened);
  auto device = device::make_device("cpu", 1);
  REQUIRE_OK(device);
  auto weights = model::check_weights(opened->config, *opened->checkpoint, **device, WeightFormat::f32);
  REQUIRE_OK(weights);
  constexpr int64_t kRest = int64_t{8} << 20;  // everything else fits into that
  weights->expert_bytes += int64_t{64} << 20;  // as if there were larger experts
  weights->size_bytes += int64_t{64} << 20;
  EngineOptions options = cpu_options();
  options.max_num_seqs = 2;
  options.max_num_batched_tokens = 8;
  options.max_model_len = 64;
  const cache::CacheLayout layout = model::cache_layout(opened->config, DType::f32, options.block_size);
  const auto plan_within = [&](int64_t limit) {
    const auto plan = [&](int64_t weights_bytes) {
      return plan_memory(options, opened->config, layout, **device, weights_bytes, limit);
    };
    return plan_experts(options, *weights, **device, plan, limit);
  };
  const auto fits = plan_within(int64_t{1} << 30);
  REQUIRE_OK(fits);
  CHECK_EQ(fits->expert_memory_bytes, 0);
  const int64_t limit = kRest + (int64_t{40} << 20);
  const auto streams = plan_within(limit);
  REQUIRE_OK(streams);
  test::note(std::to_string(streams->expert_memory_bytes));
  CHECK(streams->expert_memory_bytes >= int64_t{16} << 20 && streams->expert_memory_bytes < weights->expert_bytes);
  CHECK_EQ(streams->total_bytes(), limit);
  const auto none = plan_within(int64_t{1} << 10);
  CHECK(none.status.code == StatusCode::out_of_memory);
}

PAGODA_TEST(engine_a_file_of_experts_that_ends_fails_its_requests_only) {
  const std::string copy = test::temporary_dir(), original = test::fixtures_dir() + "/model/qwen3_5_moe";
  for (const char* name : {"config.json", "model.safetensors"}) fs::copy(original + "/" + name, copy + "/" + name);
  const auto info = inspect({copy, {}}, cpu_options());
  REQUIRE_OK(info);
  auto harness = test::ModelHarness::open(copy, with_experts(info->plan.expert_bytes / 4));
  auto whole = test::ModelHarness::open(original, cpu_options());
  REQUIRE(harness && whole);
  Recorder wanted, before, during, after;
  answer(*whole, 1, wanted);
  answer(*harness, 1, before);
  CHECK(before.tokens == wanted.tokens);
  fs::resize_file(copy + "/model.safetensors", 4096);
  answer(*harness, 2, during);
  CHECK(during.reason == FinishReason::error);
  CHECK(during.status.code == StatusCode::io_error);
  CHECK(during.status.message.find("model.safetensors") != std::string::npos);
  fs::copy_file(original + "/model.safetensors", copy + "/model.safetensors", fs::copy_options::overwrite_existing);
  answer(*harness, 3, after);
  CHECK_OK(after.status);
  CHECK(after.tokens == wanted.tokens);
  harness->check_all_free();
}

}  // namespace pagoda::engine
