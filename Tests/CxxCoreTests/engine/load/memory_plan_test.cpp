// The memory plan: it adds up, follows the options and the device, and refusals contain numbers.
#include "engine/load/memory_plan.h"

#include "device/registry.h"
#include "engine/load/load_options.h"
#include "model/model_runner.h"

namespace pagoda::engine {

using test::cpu_options;
using test::mini;

PAGODA_TEST(engine_plan_adds_up_and_follows_the_options) {
  EngineOptions options = cpu_options();
  options.num_kv_blocks = 100;
  options.max_num_seqs = 3;
  const auto info = inspect(mini(), options);
  REQUIRE_OK(info);
  const MemoryPlan& plan = info->plan;
  CHECK_EQ(plan.limits.num_kv_blocks, 100);
  CHECK_EQ(plan.limits.max_model_len, 1600);  // the capacity of the pool, not the model's context
  CHECK_EQ(plan.limits.num_running_slots(), 3);
  // k and v, two layers and the MTP head, 16 tokens, one head of 256, bf16
  CHECK_EQ(plan.kv_block_bytes, 2 * 3 * 16 * 256 * 2);
  CHECK_EQ(plan.head_kv_block_bytes, 2 * 1 * 16 * 256 * 2);
  CHECK_EQ(plan.kv_bytes, 100 * plan.kv_block_bytes);
  CHECK_EQ(plan.state_bytes, 3 * plan.state_slot_bytes);
  CHECK_EQ(plan.limits.num_checkpoints, 16 * plan.limits.max_num_seqs);
  CHECK_EQ(plan.checkpoint_bytes, plan.limits.num_checkpoints * plan.state_slot_bytes);
  CHECK_EQ(plan.total_bytes(), plan.weights_bytes + plan.kv_bytes + plan.state_bytes + plan.checkpoint_bytes +
                                   plan.workspace_bytes + plan.vision_bytes);
  options.checkpoint_bytes = 5 * plan.state_slot_bytes + 1;
  const auto few = inspect(mini(), options);
  REQUIRE_OK(few);
  CHECK_EQ(few->plan.limits.num_checkpoints, 5);
  options.prefix_cache = false;
  const auto none = inspect(mini(), options);
  REQUIRE_OK(none);
  CHECK_EQ(none->plan.limits.num_checkpoints, 0);
  CHECK_EQ(info->kv_dtype, "bfloat16");
  options.kv_dtype = "int8";
  const auto narrow = inspect(mini(), options);
  REQUIRE_OK(narrow);
  CHECK_EQ(narrow->plan.kv_block_bytes, 2 * 3 * 16 * (256 + 16));
  CHECK_EQ(narrow->kv_dtype, "int8");
  CHECK_EQ(narrow->weight_dtype, "bfloat16");
  options.kv_dtype = "auto";
  CHECK_EQ(info->state_dtype, "float32");
  options.state_dtype = "bfloat16";
  const auto short_states = inspect(mini(), options);
  REQUIRE_OK(short_states);
  CHECK_EQ(short_states->state_dtype, "bfloat16");
  const int64_t saved = plan.state_slot_bytes - short_states->plan.state_slot_bytes;
  CHECK(saved > plan.state_slot_bytes / 4 && saved < plan.state_slot_bytes / 2);  // the matrices' half
  options.state_dtype = "float32";
  options.dtype = "float32";
  const auto wide = inspect(mini(), options);
  REQUIRE_OK(wide);
  CHECK_EQ(wide->plan.kv_block_bytes, 2 * plan.kv_block_bytes);
  CHECK(wide->plan.weights_bytes > 3 * plan.weights_bytes / 2);
}

PAGODA_TEST(engine_plan_refuses_what_cannot_fit_with_numbers) {
  EngineOptions options = cpu_options();
  options.num_kv_blocks = int64_t{1} << 31;
  const auto huge = inspect(mini(), options);
  CHECK(huge.status.code == StatusCode::out_of_memory);
  CHECK(huge.status.message.find("2147483648 blocks") != std::string::npos);
  CHECK(huge.status.message.find("the device allows") != std::string::npos);
  CHECK(huge.status.message.find(" TiB (2147483648 blocks") != std::string::npos);
  options = cpu_options();
  options.kv_cache_bytes = 100;
  CHECK(inspect(mini(), options).status.message.find("less than one KV block") != std::string::npos);
  options = cpu_options();
  options.max_model_len = 1 << 20;
  CHECK(inspect(mini(), options).status.message.find("8192") != std::string::npos);
}

PAGODA_TEST(engine_steps_have_as_many_tokens_as_suit_the_device_unless_configured_otherwise) {
  EngineOptions options = cpu_options();
  const auto planned = [&] {
    const auto inspected = inspect(mini(), options);
    return inspected.is_ok() ? inspected->plan.limits.max_num_tokens : -1;
  };
  CHECK_EQ(planned(), 256);
  options.max_num_batched_tokens = 100;
  CHECK_EQ(planned(), 100);
}

PAGODA_TEST(engine_caches_are_small_by_default_where_the_gpu_draws_the_screen) {
  device::DeviceInfo mac, card;
  mac.max_step_seconds = 0.1;
  card.has_own_memory = true;
  CHECK_EQ(engine::default_cache_tokens(mac, 262144, 16, 0), int64_t{32768});
  CHECK_EQ(engine::default_cache_tokens(mac, 262144, 16, 100000), int64_t{100000});  // one context of that length
  CHECK_EQ(engine::default_cache_tokens(mac, 1024, 2, 0), int64_t{2048});
  CHECK_EQ(engine::default_cache_tokens(card, 262144, 16, 0), int64_t{16} * 262144);
  CHECK_EQ(engine::default_cache_share(mac), 0.4);
  CHECK_EQ(engine::default_cache_share(card), 0.95);
}

PAGODA_TEST(engine_runs_as_many_sequences_as_a_card_can_serve) {
  device::DeviceInfo cpu, mac, card, desktop;
  mac.max_step_seconds = 0.1;
  card.has_own_memory = desktop.has_own_memory = true;
  desktop.max_step_seconds = 0.1;  // drives a screen
  const int64_t gib = int64_t{1} << 30;
  for (const device::DeviceInfo& info : {cpu, mac, desktop})
    CHECK_EQ(engine::default_num_seqs(info, 100 * gib, 1 << 20, 1 << 10), 16);
  CHECK_EQ(engine::default_num_seqs(card, 100 * gib, 1 << 20, 1 << 10), 256);
  // A state of 196 MB and 64 KiB per token, as 27 billion parameters have them: half of the memory, 452 MiB each.
  CHECK_EQ(engine::default_num_seqs(card, 80 * gib, int64_t{196} << 20, 1 << 16), 90);
  CHECK_EQ(engine::default_num_seqs(card, gib, int64_t{196} << 20, 1 << 16), 16);
  CHECK_EQ(engine::default_num_seqs(card, -gib, 0, 0), 16);
  EngineOptions options = cpu_options();
  for (const int32_t asked : {0, 5}) {
    options.max_num_seqs = asked;
    const auto inspected = inspect(mini(), options);
    REQUIRE_OK(inspected);
    CHECK_EQ(inspected->plan.limits.max_num_seqs, asked > 0 ? asked : 16);
  }
}

PAGODA_TEST(engine_caches_leave_room_for_the_workspace) {
  const auto opened = test::open_model(mini());
  REQUIRE_OK(opened);
  const auto device = device::make_device("cpu", 1);
  REQUIRE_OK(device);
  const cache::CacheLayout layout = model::cache_layout(opened->config, DType::bf16, 16);
  const auto plan = [&](const EngineOptions& options, int64_t limit) {
    return plan_memory(options, opened->config, layout, **device, 1000, limit);
  };
  const auto full = plan(cpu_options(), int64_t{1} << 33);
  REQUIRE_OK(full);
  const int64_t limit = 1000 + full->state_bytes + full->workspace_bytes * 3 / 2;
  const auto small = plan(cpu_options(), limit);
  REQUIRE_OK(small);
  CHECK(small->total_bytes() <= limit && small->limits.num_kv_blocks > 1);
  EngineOptions fixed = cpu_options();
  fixed.num_kv_blocks = full->limits.num_kv_blocks;
  CHECK(plan(fixed, limit).status.code == StatusCode::out_of_memory);
}

PAGODA_TEST(engine_plan_counts_the_memory_of_the_vision_tower_where_it_is) {
  const auto opened = test::open_model(mini());
  REQUIRE_OK(opened);
  const auto device = device::make_device("cpu", 1);
  REQUIRE_OK(device);
  const cache::CacheLayout layout = model::cache_layout(opened->config, DType::bf16, 16);
  const auto plan = [&](const VisionBytes& vision) {
    return plan_memory(cpu_options(), opened->config, layout, **device, 1000, int64_t{1} << 33, vision);
  };
  const auto blind = plan({}), seeing = plan({.device = 3000, .host = 500});
  REQUIRE_OK(blind);
  REQUIRE_OK(seeing);
  CHECK(seeing->vision_bytes == 3500 && seeing->vision_host_bytes == 0);  // one memory
  CHECK_EQ(seeing->total_bytes(), blind->total_bytes() + 3500);
  MemoryPlan card = *seeing;
  card.has_own_memory = true;
  card.vision_host_bytes = 500;
  CHECK_EQ(card.total_bytes(), blind->total_bytes() + 3000);
}

}  // namespace pagoda::engine
