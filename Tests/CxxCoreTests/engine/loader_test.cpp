// loader and memory plan: the plan fits, refusals contain numbers, and text arrives complete.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "base/json.h"
#include "device/gpu/software/options.h"
#include "device/registry.h"
#include "device/support.h"
#include "engine/load/loader.h"
#include "engine/load/memory_plan.h"
#include "engine/recorder.h"
#include "model/model_runner.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::Recorder;

ModelSource mini() { return {test::mini_model_dir(), {}}; }

EngineOptions cpu_options() {
  EngineOptions options;
  options.device = "cpu";
  options.num_threads = 1;
  return options;
}

// The answer of the embedded model to ChatML text around `question`.
struct Chat {
  LoadedModel loaded;
  std::unique_ptr<EngineCore> core;

  Chat() {
    auto result = load(mini(), cpu_options(), nullptr);
    CHECK_OK(result);
    if (!result.is_ok()) return;
    loaded = std::move(*result);
    core = std::make_unique<EngineCore>(*loaded.model, loaded.core);
  }

  void ask(const std::string& question, const SamplingParams& sampling, Recorder& recorder) {
    Request request;
    request.sampling = sampling;
    const std::string prompt =
        "<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
    CHECK_OK(loaded.tokenizer->encode(prompt, /*parse_special=*/true, request.prompt_ids));
    auto prepared = core->prepare(request, 1, &Recorder::on_event, &recorder);
    CHECK_OK(prepared);
    if (prepared.is_ok()) core->add(std::move(*prepared));
    while (core->has_work()) core->step();
  }
};

}  // namespace

PAGODA_TEST(engine_the_embedded_model_answers) {
  Chat chat;
  REQUIRE(chat.core != nullptr);
  Recorder recorder;
  chat.ask("what's the capital of France?", SamplingParams{}, recorder);
  test::note(recorder.text);
  CHECK(recorder.text.find("Paris") != std::string::npos);
  CHECK(recorder.text.find("<|im_end|>") == std::string::npos);
  CHECK(recorder.reason == FinishReason::stop);
}

PAGODA_TEST(engine_a_stop_string_cuts_the_text_before_it) {
  Chat chat;
  REQUIRE(chat.core != nullptr);
  Recorder whole, cut;
  chat.ask("what's the capital of France?", SamplingParams{}, whole);
  SamplingParams sampling;
  sampling.stop = {"Par", "never"};
  chat.ask("what's the capital of France?", sampling, cut);
  CHECK_EQ(cut.text, whole.text.substr(0, whole.text.find("Par")));
  CHECK_EQ(cut.stop_string, "Par");
  CHECK(cut.reason == FinishReason::stop);
}

PAGODA_TEST(engine_files_in_memory_load_like_a_folder) {
  ModelSource source;
  std::vector<std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(test::mini_model_dir())) {
    std::ifstream file(entry.path(), std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    source.files.push_back({entry.path().filename().string(), nullptr, contents.back().size()});
  }
  for (size_t i = 0; i < contents.size(); ++i)
    source.files[i].data = reinterpret_cast<const uint8_t*>(contents[i].data());
  const auto from_memory = inspect(source, cpu_options()), from_folder = inspect(mini(), cpu_options());
  REQUIRE_OK(from_memory);
  REQUIRE_OK(from_folder);
  CHECK_EQ(from_memory->num_parameters, from_folder->num_parameters);
  CHECK_EQ(from_memory->plan.total_bytes(), from_folder->plan.total_bytes());
  CHECK(from_memory->has_tokenizer && from_memory->has_chat_template);
}

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
  options = cpu_options();
  options.kv_cache_bytes = 100;
  CHECK(inspect(mini(), options).status.message.find("less than one KV block") != std::string::npos);
  options = cpu_options();
  options.max_model_len = 1 << 20;
  CHECK(inspect(mini(), options).status.message.find("8192") != std::string::npos);
}

PAGODA_TEST(engine_steps_are_longer_on_a_gpu_unless_configured_otherwise) {
  const auto tokens_on = [](const char* name) {
    device::DeviceInfo info;
    info.name = name;
    return engine::default_step_tokens(info);
  };
  CHECK_EQ(tokens_on("cpu"), 256);
  CHECK_EQ(tokens_on("metal"), 512);
  CHECK_EQ(tokens_on("cuda"), 2048);
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

PAGODA_TEST(engine_load_ends_when_its_progress_says_so) {
  int num_calls = 0;
  const auto loaded = engine::load(mini(), cpu_options(), [&](double) { return ++num_calls < 3; });
  CHECK(loaded.status.code == StatusCode::cancelled);
  CHECK_EQ(num_calls, 3);
}

PAGODA_TEST(engine_options_out_of_range_are_named) {
  const auto message = [](auto change) {
    EngineOptions options = cpu_options();
    change(options);
    return inspect(mini(), options).status.message;
  };
  CHECK(message([](EngineOptions& o) { o.block_size = 7; }).find("block_size") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.num_threads = -1; }).find("threads") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.max_num_seqs = -1; }).find("max_num_seqs") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.max_num_batched_tokens = -1; }).find("max_num_batched_tokens") !=
        std::string::npos);
  CHECK(message([](EngineOptions& o) { o.kv_dtype = "int3"; }).find("kv_dtype \"int3\"") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.dtype = "int3"; }).find("int3") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.device = "abacus"; }).find("abacus") != std::string::npos);
}

PAGODA_TEST(engine_missing_folders_and_files_are_named) {
  const auto absent = inspect({test::temporary_dir() + "/none", {}}, cpu_options());
  CHECK(absent.status.code == StatusCode::not_found);
  CHECK(absent.status.message.find("none") != std::string::npos);
  const auto empty = inspect({test::temporary_dir(), {}}, cpu_options());
  CHECK(empty.status.message.find("config.json") != std::string::npos);
}

// A folder with only the given files.
static std::unique_ptr<io::ModelFiles> folder_with(const std::map<std::string, std::string>& contents) {
  const std::string path = test::temporary_dir();
  for (const auto& [name, text] : contents) std::ofstream(path + "/" + name) << text;
  auto files = io::open_model_files({path, {}});
  CHECK_OK(files);
  return std::move(*files);
}

static std::string rendered(const io::ModelFiles& files) {
  const auto loaded = load_template_file(files);
  if (!loaded.is_ok()) return loaded.status.message;
  if (!*loaded) return "none";
  const auto segments = (*loaded)->render(*io::parse_json("{}"));
  return segments.is_ok() && !segments->empty() ? segments->front().text : segments.status.message;
}

PAGODA_TEST(engine_finds_the_chat_template_where_model_folders_keep_it) {
  const std::string config = R"({"bos_token": {"content": "<s>"}, "chat_template": "old {{ bos_token }}"})";
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", config}})), "old <s>");
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", config}, {"chat_template.jinja", "new {{ bos_token }}"}})),
           "new <s>");
  const std::string named =
      R"({"chat_template": [{"name": "x", "template": "a"}, {"name": "default", "template": "b"}]})";
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", named}})), "b");
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", R"({"chat_template": null})"}})), "none");
  CHECK_EQ(rendered(*folder_with({})), "none");
}

// A folder with the embedded model's files, of which one has another text.
static std::string mini_with(const std::string& name, const std::string& text) {
  const std::string path = test::temporary_dir();
  for (const auto& entry : std::filesystem::directory_iterator(test::mini_model_dir()))
    std::filesystem::create_symlink(std::filesystem::absolute(entry.path()),
                                    path + "/" + entry.path().filename().string());
  std::filesystem::remove(path + "/" + name);
  std::ofstream(path + "/" + name) << text;
  return path;
}

// Masks and bans are indexed by these ids: one of 16,000,000 wrote past the end of a mask.
PAGODA_TEST(engine_refuses_end_tokens_outside_the_vocabulary) {
  const auto load_with = [](const std::string& ids) {
    return load({mini_with("generation_config.json", "{\"eos_token_id\": " + ids + "}"), {}}, cpu_options(), nullptr);
  };
  for (const char* ids : {"[4089, 4087, 16000000]", "1000000", "[-1]"}) {
    const auto refused = load_with(ids);
    CHECK(refused.status.code == StatusCode::bad_file);
    CHECK(refused.status.message.find("generation_config.json: eos_token_id") != std::string::npos);
  }
  const auto loaded = load_with("[4089, 4087]");
  REQUIRE_OK(loaded);
  CHECK(loaded->core.eos_token_ids == (std::vector<int32_t>{4089, 4087}));
}

PAGODA_TEST(engine_a_broken_chat_template_is_reported_and_does_not_stop_the_model) {
  const auto info = inspect({mini_with("chat_template.jinja", "{% nonsense %}"), {}}, cpu_options());
  REQUIRE_OK(info);
  CHECK(!info->has_chat_template);
  CHECK(info->chat_template_error.find("nonsense") != std::string::npos);
}

PAGODA_TEST(engine_a_broken_tokenizer_is_refused_before_any_weight_is_read) {
  int num_calls = 0;
  const auto count = [&](double) { return ++num_calls > 0; };
  const auto refused = load({mini_with("tokenizer.json", "{\"model\": 1}"), {}}, cpu_options(), count);
  CHECK(refused.status.message.find("tokenizer.json") != std::string::npos);
  CHECK_EQ(num_calls, 0);
}

// The files are sparse: nothing is read or allocated.
PAGODA_TEST(engine_refuses_text_files_that_are_too_large_before_reading_them) {
  namespace fs = std::filesystem;
  struct Row {
    const char* name;
    uint64_t max_bytes;
  };
  for (const Row& row : {Row{"config.json", 4 << 20}, Row{"generation_config.json", 4 << 20},
                         Row{"model.safetensors.index.json", 32 << 20}, Row{"tokenizer.json", 64 << 20},
                         Row{"tokenizer_config.json", 4 << 20}, Row{"chat_template.jinja", 1 << 20}}) {
    for (const uint64_t size : {row.max_bytes + 1, uint64_t{1} << 40}) {
      test::note(std::string(row.name) + " of " + std::to_string(size) + " bytes");
      const std::string path = test::temporary_dir(), file = path + "/" + row.name;
      for (const auto& entry : fs::directory_iterator(test::mini_model_dir()))
        fs::create_symlink(fs::absolute(entry.path()), path + "/" + entry.path().filename().string());
      fs::remove(file);
      std::ofstream(file) << "{}";
      fs::resize_file(file, size);
      const auto loaded = load({path, {}}, cpu_options(), nullptr);
      const std::string& message = loaded.is_ok() ? loaded->info.chat_template_error : loaded.status.message;
      CHECK(message.find(file + ": has " + std::to_string(size) + " bytes, more than " +
                         std::to_string(row.max_bytes)) != std::string::npos);
    }
  }
}

PAGODA_TEST(engine_options_that_a_device_cannot_do_are_refused_at_load) {
  EngineOptions options = cpu_options();
  options.kv_dtype = "int8";
  CHECK_OK(inspect(mini(), options));
  options.device = "software";
  for (const Status& status : {inspect(mini(), options).status, load(mini(), options, nullptr).status}) {
    CHECK(status.code == StatusCode::unsupported);
    CHECK(status.message.find("software") != std::string::npos && status.message.find("int8") != std::string::npos);
  }
}

PAGODA_TEST(engine_devices_say_what_sizes_they_have_kernels_for) {
  const auto cpu = device::make_device("cpu", 1), software = device::make_device("software", 1);
  REQUIRE_OK(cpu);
  REQUIRE_OK(software);
  const device::KernelNeeds good{.kv_dtype = DType::bf16, .block_size = 32, .head_dim = 256, .k_dim = 256};
  device::KernelNeeds keys = good, heads = good, odd = good, cache = good, latents = good;
  latents.latent_dim = 580;
  latents.latent_value_dim = 512;
  keys.k_dim = 257;
  heads.head_dim = 264;
  odd.head_dim = 20;
  cache.kv_dtype = DType::i8;
  CHECK_OK(device::check_support(**software, good));
  for (const device::KernelNeeds& needs : {keys, heads, odd, cache, latents}) {
    CHECK(device::check_support(**software, needs).code == StatusCode::unsupported);
    CHECK_OK(device::check_support(**cpu, needs));
  }
  latents.latent_dim = 576;
  CHECK_OK(device::check_support(**software, latents));
  cache.head_dim = 0;  // no attention, so no cache either
  CHECK_OK(device::check_support(**software, cache));
}

// On a device that claims matrix units, the first load tries them with the model's shapes; later loads and `info` reuse
// the result.
PAGODA_TEST(engine_load_tries_matrix_units_once) {
  const std::string folder = test::temporary_dir() + "/tried";
  std::filesystem::remove_all(folder);
  const char* caches = std::getenv("XDG_CACHE_HOME");
  const std::string before = caches ? caches : "";
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  device::gpu::software::installed_options().has_tensor_units = true;
  EngineOptions options = cpu_options();
  options.device = "software";
  options.dtype = "bfloat16";
  const ModelSource small{test::fixtures_dir() + "/model/qwen3_yarn", {}};
  const auto untried = inspect(small, options);
  const auto first = load(small, options, nullptr), second = load(small, options, nullptr);
  const auto tried = inspect(small, options);
  device::gpu::software::installed_options().has_tensor_units = false;
  if (caches) setenv("XDG_CACHE_HOME", before.c_str(), 1);
  else unsetenv("XDG_CACHE_HOME");
  for (const Status& status : {untried.status, first.status, second.status, tried.status}) CHECK_OK(status);
  REQUIRE(untried.is_ok() && first.is_ok() && second.is_ok() && tried.is_ok());
  CHECK(untried->device.ends_with(", tensor units not tried yet"));
  const std::string& found = first->info.device;
  CHECK(found.ends_with(" of the time of the usual kernels"));  // whichever kernel was chosen
  CHECK_EQ(second->info.device, found);
  CHECK_EQ(tried->device, found);
}

}  // namespace pagoda::engine
