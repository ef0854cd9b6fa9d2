// engine: LoRA adapters are chosen by name, loaded and unloaded while requests run, and never share prefixes.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/concat.h"
#include "engine/adapters.h"
#include "engine/engine_thread.h"
#include "engine/load/loader.h"
#include "engine/model_harness.h"
#include "io/lora/lora_config.h"
#include "io/lora/lora_file.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::Recorder;
namespace fs = std::filesystem;

std::string base() { return test::fixtures_dir() + "/model/qwen3_5"; }
std::string adapter(const char* name) { return test::fixtures_dir() + "/lora/" + name; }

EngineOptions options_with(std::vector<LoraSource> loras, int64_t lora_bytes = 0) {
  EngineOptions options;
  options.device = "cpu";
  options.max_num_seqs = 4;
  options.loras = std::move(loras);
  options.lora_bytes = lora_bytes;
  return options;
}

Request request_of(const std::string& lora) {
  Request request;
  for (int32_t i = 0; i < 64; ++i) request.prompt_ids.push_back(i % 100);
  request.sampling.max_tokens = 8;
  request.sampling.temperature = 0;
  request.sampling.ignore_eos = true;
  request.lora = lora;
  return request;
}

// The tokens of an answer, and how many of its prompt were cached.
std::pair<std::vector<int32_t>, int32_t> answer(test::ModelHarness& harness, const std::string& lora) {
  static uint64_t id = 0;
  Recorder recorder;
  CHECK(harness.add(request_of(lora), ++id, recorder));
  while (harness.core->has_work()) harness.core->step();
  CHECK_OK(recorder.status);
  return {recorder.tokens, recorder.usage.cached_tokens};
}

struct PairShape {
  std::string module;
  std::pair<int, int> a, b;
};
using Pairs = std::vector<PairShape>;

struct TensorShape {
  std::string name;
  std::vector<int> shape;
};

void write_zeros(const std::string& path, const std::vector<TensorShape>& tensors) {
  std::string header;
  int num_bytes = 0;
  for (const TensorShape& tensor : tensors) {
    std::string shape;
    int count = 1;
    for (const int size : tensor.shape) {
      shape += concat(shape.empty() ? "" : ",", size);
      count *= size;
    }
    const int begin = std::exchange(num_bytes, num_bytes + 4 * count);
    header += concat(header.empty() ? "{" : ",", '"', tensor.name, R"(":{"dtype":"F32","shape":[)", shape,
                     R"(],"data_offsets":[)", begin, ",", num_bytes, "]}");
  }
  header += "}";
  std::ofstream file(path, std::ios::binary);
  const uint64_t size = header.size();
  file.write(reinterpret_cast<const char*>(&size), 8);
  file << header << std::string(static_cast<size_t>(num_bytes), '\0');
}

// An adapter of zeros as peft writes it.
void write_adapter(const std::string& folder, const char* config, const Pairs& pairs) {
  fs::create_directories(folder);
  std::ofstream(folder + "/adapter_config.json") << config;
  std::vector<TensorShape> tensors;
  for (const PairShape& pair : pairs) {
    tensors.push_back({pair.module + ".lora_A.weight", {pair.a.first, pair.a.second}});
    tensors.push_back({pair.module + ".lora_B.weight", {pair.b.first, pair.b.second}});
  }
  write_zeros(folder + "/adapter_model.safetensors", tensors);
}

}  // namespace

PAGODA_TEST(lora_prefixes_are_shared_only_within_an_adapter) {
  auto harness = test::ModelHarness::open(base(), options_with({{"a", adapter("qwen3_5_all")},
                                                                {"b", adapter("qwen3_5_rslora")},
                                                                {"again", adapter("qwen3_5_all")}}));
  REQUIRE(harness != nullptr);
  const auto plain = answer(*harness, ""), a = answer(*harness, "a"), b = answer(*harness, "b");
  CHECK_EQ(plain.second + a.second + b.second, 0);
  CHECK(plain.first != a.first && a.first != b.first && plain.first != b.first);
  for (const auto& [name, first] : {std::pair("", plain), std::pair("a", a), std::pair("b", b)}) {
    const auto second = answer(*harness, name);
    CHECK(second.second >= 48);
    CHECK(second.first == first.first);
  }
  const auto again = answer(*harness, "again");  // the same numbers under another name
  CHECK(again.second >= 48);
  CHECK(again.first == a.first);
  harness->check_all_free();
}

PAGODA_TEST(lora_unknown_names_are_refused) {
  auto harness = test::ModelHarness::open(base(), options_with({{"a", adapter("qwen3_5_all")}}));
  auto plain = test::ModelHarness::open(base(), options_with({}));
  REQUIRE(harness != nullptr && plain != nullptr);
  CHECK_EQ(plain->loaded.info.plan.adapter_bytes, 0);
  CHECK(harness->loaded.info.plan.adapter_bytes > 0);
  for (auto* each : {&harness, &plain}) {
    Recorder recorder;
    const auto refused = (*each)->core->prepare(request_of("x"), 1, &Recorder::on_event, &recorder);
    CHECK(refused.status.code == StatusCode::not_found);
    CHECK(refused.status.message.find("x") != std::string::npos);
  }
}

PAGODA_TEST(lora_loads_and_unloads_while_the_engine_runs) {
  const int64_t one = [] {
    const auto info = inspect(ModelSource{base(), {}}, options_with({{"a", adapter("qwen3_5_all")}}));
    CHECK_OK(info);
    return info.is_ok() ? info->plan.limits.adapter_bytes : 0;
  }();
  auto loaded = load(ModelSource{base(), {}}, options_with({}, one + 100), nullptr);
  REQUIRE_OK(loaded);
  auto engine = EngineThread::start(std::move(*loaded));
  REQUIRE_OK(engine);
  CHECK((*engine)->loras().empty());
  CHECK_OK((*engine)->load_lora({"a", adapter("qwen3_5_all")}));
  CHECK_EQ((*engine)->loras().size(), 1u);
  CHECK((*engine)->load_lora({"a", adapter("qwen3_5_all")}).code == StatusCode::invalid_argument);
  const Status full = (*engine)->load_lora({"b", adapter("qwen3_5_mlx")});
  CHECK(full.code == StatusCode::out_of_memory);
  CHECK(full.message.find(std::to_string(one)) != std::string::npos);
  CHECK((*engine)->load_lora({"a b", adapter("qwen3_5_all")}).code == StatusCode::invalid_argument);
  // A running request keeps its adapter after the name is gone.
  test::HeldRecorder held;
  CHECK_OK((*engine)->submit(request_of("a"), &test::HeldRecorder::on_event, &held).status);
  held.wait_until_held();
  CHECK_OK((*engine)->unload_lora("a"));
  CHECK((*engine)->unload_lora("a").code == StatusCode::not_found);
  Recorder other;
  CHECK((*engine)->submit(request_of("a"), &Recorder::on_event, &other).status.code == StatusCode::not_found);
  held.may_go = true;
  held.wait();
  CHECK_OK(held.status);
  CHECK_EQ(held.tokens.size(), 8u);
  CHECK_OK((*engine)->load_lora({"b", adapter("qwen3_5_mlx")}));  // its memory is free again
  Recorder mlx;
  CHECK_OK((*engine)->submit(request_of("b"), &Recorder::on_event, &mlx).status);
  mlx.wait();
  CHECK(mlx.tokens == held.tokens);
  (*engine)->shut_down();
}

PAGODA_TEST(lora_memory_is_given_back_in_any_order) {
  Adapters adapters(100 * sizeof(float));
  auto a = adapters.reserve("a", "", 40), b = adapters.reserve("b", "", 40);
  REQUIRE_OK(a);
  REQUIRE_OK(b);
  CHECK(adapters.reserve("c", "", 30).status.code == StatusCode::out_of_memory);
  (*a).reset();
  auto c = adapters.reserve("c", "", 30), d = adapters.reserve("d", "", 20), e = adapters.reserve("e", "", 10);
  REQUIRE_OK(c);
  REQUIRE_OK(d);
  REQUIRE_OK(e);
  CHECK_EQ((*c)->begin, 0);
  CHECK_EQ((*d)->begin, 80);
  CHECK_EQ((*e)->begin, 30);
  CHECK((*c)->slot != (*d)->slot && (*d)->slot != (*b)->slot && (*e)->slot != (*c)->slot);
}

PAGODA_TEST(lora_configurations_that_change_more_are_refused_by_name) {
  const auto refusal = [](const std::string& more) {
    const auto config = io::parse_lora_config(R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8)" + more + "}", "f");
    return config.status;
  };
  CHECK_OK(refusal(""));
  CHECK_OK(refusal(R"(, "use_dora": false, "bias": "none", "modules_to_save": null)"));
  for (const char* key : {"use_dora", "fan_in_fan_out", "lora_bias", "use_qalora"}) {
    const Status status = refusal(std::string(", \"") + key + "\": true");
    CHECK(status.code == StatusCode::unsupported && status.message.find(key) != std::string::npos);
  }
  CHECK(refusal(R"(, "bias": "all")").code == StatusCode::unsupported);
  CHECK(refusal(R"(, "modules_to_save": ["lm_head"])").code == StatusCode::unsupported);
  CHECK(refusal(R"(, "rank_pattern": {"^model.*": 3})").code == StatusCode::unsupported);
  const auto parse = [](const char* text) { return io::parse_lora_config(text, "f").status.code; };
  CHECK(parse(R"({"peft_type": "LORA", "r": 0, "lora_alpha": 8})") == StatusCode::bad_file);
  CHECK(parse(R"({"peft_type": "LORA", "r": 257, "lora_alpha": 8})") == StatusCode::bad_file);
  CHECK(parse(R"({"peft_type": "LORA", "r": 4})") == StatusCode::bad_file);
  CHECK(parse(R"({"peft_type": "IA3"})") == StatusCode::unsupported);
  CHECK(parse(R"({"fine_tune_type": "dora", "lora_parameters": {"rank": 4, "scale": 2}})") == StatusCode::unsupported);
  CHECK(parse("{}") == StatusCode::bad_file);
}

PAGODA_TEST(lora_files_that_do_not_fit_are_refused_before_memory_is_taken) {
  const std::string folder = test::temporary_dir() + "/lora";
  const auto write = [&](const char* config, const Pairs& pairs) { write_adapter(folder, config, pairs); };
  const char* config = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 8})";
  const auto inspected = [&] { return inspect(ModelSource{base(), {}}, options_with({{"x", folder}})).status; };
  const std::string q = "base_model.model.model.layers.3.self_attn.q_proj";
  write(config, {{q, {2, 48}, {128, 2}}});
  CHECK_OK(inspected());
  write(config, {{q, {2, 48}, {64, 2}}});
  CHECK(inspected().code == StatusCode::bad_file && inspected().message.find("q_proj") != std::string::npos);
  write(config, {{q, {3, 48}, {128, 3}}});  // not the rank of the configuration
  CHECK(inspected().code == StatusCode::bad_file);
  write(config, {{q, {2, 48}, {128, 3}}});  // two ranks
  CHECK(inspected().code == StatusCode::bad_file);
  for (const char* module :
       {"base_model.model.lm_head", "base_model.model.model.embed_tokens",
        "base_model.model.model.layers.9.self_attn.q_proj", "model.visual.layers.3.self_attn.q_proj",
        "base_model.model.model.layers.3.mlp.experts.0.gate_proj", "base_model.model.model.layers.3.mlp.experts"}) {
    write(config, {{module, {2, 48}, {128, 2}}});
    CHECK(inspected().code == StatusCode::unsupported && inspected().message.find(module) != std::string::npos);
  }
  write(R"({"peft_type": "LORA", "r": 2, "lora_alpha": 8, "use_dora": true})", {{q, {2, 48}, {128, 2}}});
  CHECK(inspected().message.find("DoRA") != std::string::npos);
  fs::remove(folder + "/adapter_config.json");
  CHECK(inspected().code == StatusCode::not_found);
}

// The model has 8 experts that map 32 numbers to 2 * 16, and 16 to 32.
PAGODA_TEST(lora_of_experts_that_do_not_fit_is_refused_by_name) {
  const std::string folder = test::temporary_dir() + "/lora_experts";
  const std::string experts = "base_model.model.model.layers.0.mlp.experts";
  const char* config = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 8})";
  const auto inspected = [&](const Pairs& pairs) {
    write_adapter(folder, config, pairs);
    return inspect(ModelSource{test::fixtures_dir() + "/model/qwen3_5_moe", {}}, options_with({{"x", folder}})).status;
  };
  const auto is_bad = [&](const Pairs& pairs, const char* what) {
    const Status status = inspected(pairs);
    if (status.message.find(what) == std::string::npos) test::note(status.message);
    return status.code == StatusCode::bad_file && status.message.find(what) != std::string::npos;
  };
  const std::string nested = experts + ".base_layer";
  CHECK_OK(inspected({{experts + ".7.gate_proj", {2, 32}, {16, 2}}}));
  CHECK_OK(inspected({{experts, {16, 16}, {32, 16}}, {nested, {16, 32}, {32, 16}}}));
  CHECK(is_bad({{experts + ".8.gate_proj", {2, 32}, {16, 2}}}, "8"));
  CHECK(is_bad({{experts + ".7.down_proj", {2, 32}, {16, 2}}}, "7.down_proj"));
  CHECK(is_bad({{experts, {14, 32}, {32, 14}}}, "7 experts"));
  CHECK(is_bad({{experts, {16, 20}, {32, 16}}}, "maps 20 numbers"));
  CHECK(is_bad({{experts, {15, 32}, {32, 15}}}, "15 rows"));
  CHECK(is_bad({{experts, {16, 32}, {32, 16}}, {nested, {16, 32}, {32, 16}}}, "layer 0 twice"));
  CHECK(is_bad({{experts, {16, 32}, {32, 16}}, {experts + ".3.up_proj", {2, 32}, {16, 2}}}, "layer 0 twice"));
  CHECK(inspected({{experts + ".0.norm", {2, 32}, {16, 2}}}).code == StatusCode::unsupported);
  config = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 8, "rank_pattern": {"experts.down_proj": 4}})";
  CHECK(inspected({{experts, {16, 16}, {32, 16}}}).message.find("rank_pattern") != std::string::npos);
  // The table of experts is planned too.
  const auto plan = inspect(ModelSource{test::fixtures_dir() + "/model/qwen3_5_moe", {}},
                            options_with({{"x", adapter("qwen3_5_moe_experts")}}));
  REQUIRE_OK(plan);
  CHECK(plan->plan.adapter_bytes >= plan->plan.limits.adapter_bytes + 2 * 32 * 8 * 3 * 24);
}

// Such stacks were once placed behind the table's row of the last expert, in that of another adapter.
PAGODA_TEST(lora_stacks_of_experts_are_not_those_of_one_expert) {
  const std::string folder = test::temporary_dir() + "/lora_stacks";
  const auto inspected = [&](const std::string& module, const std::vector<int>& a, const std::vector<int>& b) {
    fs::create_directories(folder);
    std::ofstream(folder + "/adapter_config.json") << R"({"lora_parameters": {"rank": 2, "scale": 4}})";
    const std::string name = "model.layers.0.mlp." + module;
    write_zeros(folder + "/adapters.safetensors", {{name + ".lora_a", a}, {name + ".lora_b", b}});
    return inspect(ModelSource{test::fixtures_dir() + "/model/qwen3_5_moe", {}}, options_with({{"x", folder}})).status;
  };
  CHECK_OK(inspected("switch_mlp.gate_proj", {8, 2, 32}, {8, 16, 2}));
  CHECK_OK(inspected("experts.7.gate_proj", {32, 2}, {2, 16}));
  for (const char* module : {"experts.1.gate_proj", "experts.0.gate_proj"}) {
    const Status status = inspected(module, {8, 2, 32}, {8, 16, 2});
    CHECK(status.code == StatusCode::bad_file && status.message.find("all experts") != std::string::npos);
  }
  const Status status = inspected("switch_mlp.gate_proj", {32, 2}, {2, 16});
  CHECK(status.code == StatusCode::bad_file && status.message.find("no expert") != std::string::npos);
}

PAGODA_TEST(lora_numbers_that_their_scale_makes_infinite_are_refused) {
  const std::string folder = test::temporary_dir() + "/lora_infinite";
  write_adapter(folder, R"({"peft_type": "LORA", "r": 2, "lora_alpha": 1e30})",
                {{"base_model.model.model.layers.3.self_attn.q_proj", {2, 48}, {128, 2}}});
  CHECK_OK(load(ModelSource{base(), {}}, options_with({{"x", folder}}), nullptr).status);
  const float large = 1e30f;
  std::fstream file(folder + "/adapter_model.safetensors", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-static_cast<std::streamoff>(sizeof(large)), std::ios::end);  // the last number of B
  file.write(reinterpret_cast<const char*>(&large), sizeof(large));
  file.close();
  const Status status = load(ModelSource{base(), {}}, options_with({{"x", folder}}), nullptr).status;
  CHECK(status.code == StatusCode::bad_file && status.message.find("q_proj") != std::string::npos);
}

}  // namespace pagoda::engine
