// What a load refuses: options out of range, files that are missing, broken or too large; each is named.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/load/load_options.h"

namespace pagoda::engine {

using test::cpu_options;
using test::mini;

PAGODA_TEST(engine_load_ends_when_its_progress_says_so) {
  int num_calls = 0;
  const auto loaded = engine::load(mini(), cpu_options(), [&](int64_t, int64_t) { return ++num_calls < 3; });
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
  CHECK(message([](EngineOptions& o) { o.state_dtype = "int8"; }).find("state_dtype \"int8\"") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.kv_dtype = "int4"; }).find("too much") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.dtype = "int3"; }).find("int3") != std::string::npos);
  CHECK(message([](EngineOptions& o) { o.device = "abacus"; }).find("abacus") != std::string::npos);
}

// Clients have names of their own for the options, and tell by the field which one an error is about.
PAGODA_TEST(engine_errors_of_options_have_their_field) {
  struct Row {
    const char* field;
    void (*change)(EngineOptions& options);
  };
  const Row rows[] = {
      {"num_threads", [](EngineOptions& o) { o.num_threads = -1; }},
      {"block_size", [](EngineOptions& o) { o.block_size = 7; }},
      {"max_num_seqs", [](EngineOptions& o) { o.max_num_seqs = 4097; }},
      {"max_model_len", [](EngineOptions& o) { o.max_model_len = 1 << 20; }},
      {"max_step_ms", [](EngineOptions& o) { o.max_step_ms = -2; }},
      {"kv_cache_bytes", [](EngineOptions& o) { o.kv_cache_bytes = 5; }},
      {"speculation", [](EngineOptions& o) { o.speculation = "always"; }},
      {"dtype", [](EngineOptions& o) { o.dtype = "int3"; }},
      {"kv_dtype", [](EngineOptions& o) { o.kv_dtype = "int3"; }},
      {"quantize", [](EngineOptions& o) { o.quantize = "int3"; }},
      {"expert_memory_bytes", [](EngineOptions& o) { o.expert_memory_bytes = 1 << 20; }},
      {"host_cache_bytes", [](EngineOptions& o) { o.pipeline = "a:1", o.host_cache_bytes = 1; }},
      {"prefix_cache_dir", [](EngineOptions& o) { o.pipeline = "a:1", o.prefix_cache_dir = "/x"; }},
  };
  for (const Row& row : rows) {
    EngineOptions options = cpu_options();
    row.change(options);
    const Status status = inspect(mini(), options).status;
    REQUIRE(status.field != nullptr);
    CHECK_EQ(std::string(status.field), row.field);
    CHECK(status.message.find(row.field) != std::string::npos);
  }
  EngineOptions options = cpu_options();
  options.rope_scaling = "spiral:2";
  CHECK_EQ(std::string(inspect(mini(), options).status.field), "rope_scaling");
  CHECK(inspect({test::temporary_dir() + "/none", {}}, cpu_options()).status.field == nullptr);
}

PAGODA_TEST(engine_missing_folders_and_files_are_named) {
  const auto absent = inspect({test::temporary_dir() + "/none", {}}, cpu_options());
  CHECK(absent.status.code == StatusCode::not_found);
  CHECK(absent.status.message.find("none") != std::string::npos);
  const auto empty = inspect({test::temporary_dir(), {}}, cpu_options());
  CHECK(empty.status.message.find("config.json") != std::string::npos);
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
  const auto count = [&](int64_t, int64_t) { return ++num_calls > 0; };
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

}  // namespace pagoda::engine
