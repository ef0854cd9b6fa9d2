// R1: a sequence's tokens and log probabilities have the same bits whether it runs alone, batched, chunked, preempted
// or resumed from the prefix cache, with any number of threads and any block size. Runs random schedules of real models
// on the CPU device.
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/registry.h"
#include "device/rig.h"
#include "engine/schedules.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

std::string fixture(const char* name) { return test::fixtures_dir() + "/model/" + name; }

}  // namespace

PAGODA_TEST(engine_same_bits_in_200_random_schedules_of_the_hybrid) {
  check_schedules(fixture("qwen3_5"), 200, 140, 1);
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_real_head_sizes) {
  check_schedules(fixture("qwen3_5_real_heads"), 30, 140, 2);
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_int8_kv) {
  check_schedules(fixture("qwen3_5"), 40, 140, 9, {.kv_dtype = "int8"});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_bf16_states) {
  check_schedules(fixture("qwen3_5"), 30, 140, 91, {.state_dtype = "bfloat16"});
  check_schedules(fixture("qwen3_5_real_heads"), 10, 140, 92, {.state_dtype = "bfloat16", .drafts = true});
  check_schedules(fixture("kimi_linear_real_heads"), 4, 140, 93, {.state_dtype = "bfloat16", .drafts = true});
  check_schedules(fixture("qwen4_exp"), 4, 140, 94, {.kv_dtype = "int8", .state_dtype = "bfloat16"});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_of_qwen3) { check_schedules(fixture("qwen3"), 40, 140, 3); }
PAGODA_TEST(engine_same_bits_in_random_schedules_with_sliding_windows) {
  check_schedules(fixture("qwen2"), 40, 140, 4);
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_scaled_rope) { check_schedules(fixture("llama3"), 40, 140, 5); }
PAGODA_TEST(engine_same_bits_in_random_schedules_with_latents) {
  check_schedules(fixture("deepseek_v2"), 30, 140, 51);
  check_schedules(fixture("glm4_moe_lite"), 15, 140, 52, {.kv_dtype = "int8", .drafts = true});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_decays_by_channel) {
  check_schedules(fixture("kimi_linear"), 8, 140, 58);
  check_schedules(fixture("kimi_linear_real_heads"), 6, 140, 58, {.kv_dtype = "int8", .drafts = true});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_negative_eigenvalues) {
  check_schedules(fixture("olmo_hybrid"), 20, 140, 61);
  check_schedules(fixture("olmo_hybrid_options"), 10, 140, 61, {.kv_dtype = "int8", .drafts = true});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_sparse_attention) {
  check_schedules(fixture("qwen4_exp"), 10, 140, 66);
  check_schedules(fixture("qwen4_exp_vision"), 8, 140, 67, {.kv_dtype = "int8", .drafts = true});
  check_schedules(fixture("qwen4_exp"), 6, 140, 68, {.quantize = "8bit", .drafts = true, .streams_experts = true});
}
// Families and options without a separate test above, rotating through the weight and cache formats.
PAGODA_TEST(engine_same_bits_in_random_schedules_of_every_other_family) {
  const Form forms[] = {{}, {.quantize = "8bit", .kv_dtype = "int8"}, {.quantize = "4bit"}, {.quantize = "bf16"}};
  size_t count = 0;
  for (const char* name : {"mistral", "phi3", "phi3_long", "gemma3", "minicpm3", "minicpm3_long", "deepseek_v3",
                           "deepseek_v2_groups", "qwen2_dynamic", "qwen2_yarn", "qwen3_5_yarn", "llama_yarn",
                           "qwen3_moe_dense_layers", "qwen3_5_moe_odd", "qwen3_next_dense_layer"}) {
    test::note(name);
    check_schedules(fixture(name), 3, 140, 60, forms[count++ % std::size(forms)]);
  }
}
PAGODA_TEST(engine_same_bits_in_random_schedules_of_the_embedded_model) {
  check_schedules(test::mini_model_dir(), 10, 140, 8);
}

PAGODA_TEST(engine_same_bits_in_random_schedules_with_experts_in_files) {
  check_schedules(fixture("qwen3_5_moe"), 30, 140, 81, {.streams_experts = true});
  check_schedules(fixture("qwen3_next"), 10, 140, 82, {.quantize = "8bit", .drafts = true, .streams_experts = true});
  check_schedules(fixture("deepseek_v3"), 10, 140, 83, {.quantize = "bf16", .streams_experts = true});
}

// Requests with two adapters and without one share prompts, but no prefixes.
PAGODA_TEST(engine_same_bits_in_random_schedules_with_adapters) {
  const std::string loras = test::fixtures_dir() + "/lora/";
  const std::vector<LoraSource> both = {{"all", loras + "qwen3_5_all"}, {"rslora", loras + "qwen3_5_rslora"}};
  check_schedules(fixture("qwen3_5"), 60, 140, 71, {.loras = both});
  check_schedules(fixture("qwen3_5"), 20, 140, 72, {.quantize = "8bit", .loras = both});
  check_schedules(fixture("qwen3_5"), 30, 140, 73, {.drafts = true, .loras = both});
}

// Off is run_solo(); on are drafts that are accepted, rejected, cross block boundaries, and vary in number.
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_of_the_hybrid) {
  check_schedules(fixture("qwen3_5"), 120, 140, 31, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_real_head_sizes) {
  check_schedules(fixture("qwen3_5_real_heads"), 20, 140, 32, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_int8_kv) {
  check_schedules(fixture("qwen3_5"), 40, 140, 33, {.kv_dtype = "int8", .drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_without_a_state) {
  check_schedules(fixture("qwen3"), 40, 140, 34, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_sliding_windows) {
  check_schedules(fixture("qwen2"), 30, 140, 35, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_experts) {
  check_schedules(fixture("qwen3_5_moe"), 20, 140, 36, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_of_the_embedded_model) {
  check_schedules(test::mini_model_dir(), 10, 140, 37, {.drafts = true});
}
PAGODA_TEST(speculation_by_the_mtp_head_gives_the_same_bits_in_random_schedules) {
  check_schedules(fixture("qwen3_5_vision"), 60, 140, 40, {.own_drafts = true});
}
PAGODA_TEST(speculation_by_the_mtp_head_gives_the_same_bits_in_random_schedules_of_the_embedded_model) {
  check_schedules(test::mini_model_dir(), 8, 140, 41, {.own_drafts = true});
}
PAGODA_TEST(speculation_by_an_mtp_head_that_reads_all_streams_gives_the_same_bits_in_random_schedules) {
  const std::string file = test::fixtures_dir() + "/gguf/qwen4exp.gguf";
  check_schedules(file, 10, 140, 43, {.own_drafts = true});
  check_schedules(file, 6, 140, 44, {.quantize = "8bit", .kv_dtype = "int8", .own_drafts = true});
  check_schedules(file, 4, 140, 45, {.quantize = "8bit", .own_drafts = true, .streams_experts = true});
}
PAGODA_TEST(speculation_by_the_mtp_head_gives_the_same_bits_in_random_schedules_of_the_kernels) {
  for (const std::string& name : device::device_names())
    if (test::runs_kernels(name))
      check_schedules(fixture("qwen3_5_vision"), 6, 60, 42, {.device = name, .quantize = "bf16", .own_drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_of_the_kernels) {
  for (const std::string& name : device::device_names())
    if (test::runs_kernels(name))
      check_schedules(fixture("qwen3_5"), 12, 60, 38, {.device = name, .quantize = "bf16", .drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_in_8_and_4_bit) {
  for (const char* quantize : {"8bit", "4bit"})
    check_schedules(fixture("qwen3_5"), 20, 140, 39, {.quantize = quantize, .drafts = true});
}

namespace {

void check_every_path(const std::string& quantize, uint64_t fallback_seed) {
  std::string ran;
  for (const std::string& name : device::device_names()) {
    if (!name.starts_with("cpu:")) continue;
    check_schedules(fixture("qwen3_5"), 12, 140, fallback_seed, {.device = name, .quantize = quantize});
    ran += name + " ";
  }
  test::note(ran);
  CHECK(!ran.empty());
}

}  // namespace

PAGODA_TEST(kernels_give_the_same_bits_in_any_schedule) {
  std::string ran;
  for (const std::string& name : device::device_names()) {
    if (!test::runs_kernels(name)) continue;
    const int schedules = name == "software" ? 4 : 100;
    check_schedules(fixture("qwen3_5"), schedules, 60, 24, {.device = name, .quantize = "bf16"});
    check_schedules(fixture("qwen3_5"), schedules / 2, 60, 25,
                    {.device = name, .quantize = "bf16", .kv_dtype = "int8", .state_dtype = "bfloat16"});
    ran += name + " ";
  }
  test::note(ran);
  CHECK(!ran.empty());
}
PAGODA_TEST(paths_give_the_same_bits_in_any_schedule_in_bf16) { check_every_path("bf16", 20); }
PAGODA_TEST(paths_give_the_same_bits_in_any_schedule_in_8_bit) { check_every_path("8bit", 21); }
PAGODA_TEST(paths_give_the_same_bits_in_any_schedule_in_4_bit) { check_every_path("4bit", 22); }

// Stronger than R1: instruction sets with fused multiply-add give the same answer, so a machine may be replaced. Not
// with a bf16 cache, where AMX tiles add in a different order.
PAGODA_TEST(paths_with_fused_products_give_the_same_answer) {
  for (const auto& [quantize, kv_dtype] : {std::pair{"bf16", "float16"},
                                           {"8bit", "float16"},
                                           {"4bit", "float16"},
                                           {"bf16", "bfloat16"},
                                           {"8bit", "bfloat16"},
                                           {"4bit", "bfloat16"}}) {
    std::vector<std::unique_ptr<Expected>> first;
    for (const std::string& name : device::device_names()) {
      if (!name.starts_with("cpu:") || name == "cpu:portable") continue;
      if (name == "cpu:amx" && std::string(kv_dtype) == "bfloat16") continue;
      if (test::has_own_bf16_order(name) && std::string(quantize) == "bf16") continue;
      std::mt19937_64 rng(test::seed(23));
      auto all = run_solo(test::mini_model_dir(), 3, {20, 60, 10, 20}, rng,
                          {.device = name, .quantize = quantize, .kv_dtype = kv_dtype});
      REQUIRE(all.size() == 3);
      for (size_t i = 0; i < first.size(); ++i) compare(*first[i], all[i]->solo, false);
      if (test::failed()) test::note(name + " " + quantize);
      if (first.empty()) first = std::move(all);
    }
  }
}

PAGODA_TEST(engine_four_requests_in_a_tiny_pool_finish_as_alone) {
  std::mt19937_64 rng(test::seed(7));
  const auto all = run_solo(test::mini_model_dir(), 4, {20, 28, 40, 48}, rng);
  REQUIRE(all.size() == 4);
  EngineOptions options = options_for(2);
  options.num_kv_blocks = 7;  // 112 tokens: three or four prompts fit, two answers do not
  auto harness = Harness::open(test::mini_model_dir(), options);
  REQUIRE(harness != nullptr);
  Recorder recorders[4];
  for (size_t i = 0; i < 4; ++i) CHECK(harness->add(all[i]->request, i + 1, recorders[i]));
  while (harness->core->has_work()) harness->core->step();
  for (size_t i = 0; i < 4; ++i) compare(*all[i], recorders[i], false);
  CHECK(harness->core->stats().num_preemptions > 0);
  harness->check_all_free();
}

}  // namespace pagoda::engine
