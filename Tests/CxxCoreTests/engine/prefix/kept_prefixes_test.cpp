// Prefixes that a program pins or saves: what pins protect and when they give way; files that restore a prefix bit for
// bit, and files that are refused.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_thread.h"
#include "engine/fake_harness.h"
#include "engine/model_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

namespace fs = std::filesystem;
using test::FakeHarness;
using test::Recorder;
using Tokens = std::vector<int32_t>;

Tokens prompt_of(uint64_t seed, int count, int32_t vocab = 90) {
  Tokens tokens;
  for (int i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    tokens.push_back(static_cast<int32_t>((seed >> 33) % static_cast<uint64_t>(vocab)));
  }
  return tokens;
}

Request request_of(Tokens prompt, int32_t max_tokens) {
  Request request;
  request.prompt_ids = std::move(prompt);
  request.sampling.max_tokens = max_tokens;
  request.sampling.num_top_logprobs = 2;
  request.sampling.ignore_eos = true;
  return request;
}

void compute(FakeHarness& harness, uint64_t id, const Tokens& prompt, Recorder& seen, int32_t max_tokens = 4) {
  REQUIRE_OK(harness.add(request_of(prompt, max_tokens), id, seen));
  while (!seen.finished) harness.core->step();
}

// An engine over the tiny hybrid fixture.
std::unique_ptr<EngineThread> start(const std::string& kv_dtype = "auto", const char* model = "qwen3_5",
                                    bool has_cache = true, const std::string& state_dtype = "float32") {
  EngineOptions options;
  options.device = "cpu";
  options.num_threads = 1;
  options.max_model_len = 512;
  options.max_num_batched_tokens = 64;
  options.kv_dtype = kv_dtype;
  options.state_dtype = state_dtype;
  options.prefix_cache = has_cache;
  auto loaded = load(ModelSource{test::fixtures_dir() + "/model/" + model, {}}, options, nullptr);
  CHECK_OK(loaded);
  auto engine = EngineThread::start(std::move(*loaded));
  CHECK_OK(engine);
  return std::move(*engine);
}

void ask(EngineThread& engine, const Tokens& prompt, Recorder& seen) {
  CHECK_OK(engine.submit(request_of(prompt, 8), &Recorder::on_event, &seen).status);
  seen.wait();
}

}  // namespace

PAGODA_TEST(kept_prefixes_pinned_ones_stay_in_a_full_cache) {
  for (const bool has_state : {false, true}) {
    FakeHarness harness({.num_blocks = 24, .has_state = has_state, .max_checkpoints = has_state ? 8 : 0});
    const Tokens kept = prompt_of(1, 70);
    Recorder first;
    compute(harness, 1, kept, first);
    const PrefixPin pin = harness.core->pin_prefix("", std::span(kept).first(69));
    CHECK_OK(pin.status);
    CHECK(pin.num_tokens >= 64 && pin.num_tokens <= 69);
    uint64_t id = 1;
    for (uint64_t i = 0; i < 40; ++i) {
      Recorder other;
      compute(harness, ++id, prompt_of(100 + i, 100), other);
    }
    Recorder again;
    compute(harness, ++id, kept, again);
    CHECK(again.usage.cached_tokens >= pin.num_tokens);
    CHECK(again.tokens == first.tokens && again.logprob_bits == first.logprob_bits);
    harness.core->unpin_prefix(pin.pin_id);
    harness.core->unpin_prefix(pin.pin_id);  // no effect
    for (uint64_t i = 0; i < 40; ++i) {
      Recorder other;
      compute(harness, ++id, prompt_of(200 + i, 100), other);
    }
    Recorder last;
    compute(harness, ++id, kept, last);
    CHECK_EQ(last.usage.cached_tokens, 0);
    harness.check_all_free();
  }
}

PAGODA_TEST(kept_prefixes_pins_are_limited_and_give_way_to_a_request_that_needs_all_memory) {
  FakeHarness harness({.num_blocks = 20, .max_num_seqs = 2, .max_checkpoints = 8});
  std::vector<PrefixPin> pins;
  uint64_t id = 0;
  for (uint64_t i = 0; i < 3; ++i) {
    Recorder seen;
    compute(harness, ++id, prompt_of(i, 60), seen);
    pins.push_back(harness.core->pin_prefix("", prompt_of(i, 60)));
  }
  CHECK(pins[0].status.is_ok() && pins[1].status.is_ok());
  CHECK(pins[2].status.code == StatusCode::resource_exhausted);
  CHECK(harness.core->pin_prefix("", prompt_of(77, 60)).status.code == StatusCode::not_found);
  CHECK(harness.core->pin_prefix("tenant", prompt_of(0, 60)).status.code == StatusCode::not_found);
  Recorder whole, other;
  REQUIRE_OK(harness.add(request_of(prompt_of(9, 200), 119), ++id, whole));  // all 20 blocks
  REQUIRE_OK(harness.add(request_of(prompt_of(10, 30), 40), ++id, other));
  for (int i = 0; i < 10000 && harness.core->has_work(); ++i) harness.core->step();
  CHECK(whole.reason == FinishReason::length && other.reason == FinishReason::length);
  Recorder alone;
  FakeHarness fresh({.num_blocks = 20, .max_num_seqs = 2, .max_checkpoints = 8});
  compute(fresh, 1, prompt_of(9, 200), alone, 119);
  CHECK(whole.tokens == alone.tokens);
  for (const PrefixPin& pin : pins) harness.core->unpin_prefix(pin.pin_id);
  harness.check_all_free();
}

PAGODA_TEST(kept_prefixes_are_restored_bit_for_bit_in_another_engine) {
  for (const char* model : {"qwen3_5", "qwen3"}) {
    const std::string path = test::temporary_dir() + "/state";
    const Tokens prompt = prompt_of(5, 150);
    Recorder first, second;
    auto engine = start("auto", model);
    CHECK(engine->save_prefix(prompt, "", path).status.code == StatusCode::not_found);
    CHECK(!fs::exists(path));
    ask(*engine, prompt, first);
    const Result<int32_t> saved = engine->save_prefix({prompt.begin(), prompt.end() - 1}, "", path);
    REQUIRE_OK(saved);
    CHECK(*saved >= 128);
    engine = start("auto", model);
    CHECK(engine->restore_prefix(path, "tenant").status.code == StatusCode::invalid_argument);
    const Result<int32_t> restored = engine->restore_prefix(path, "");
    REQUIRE_OK(restored);
    CHECK_EQ(*restored, *saved);
    ask(*engine, prompt, second);
    CHECK(second.usage.cached_tokens >= *saved);
    CHECK(second.tokens == first.tokens && second.logprob_bits == first.logprob_bits);
    CHECK_OK(engine->restore_prefix(path, "").status);  // again: nothing to do
  }
}

PAGODA_TEST(kept_prefixes_of_another_model_or_format_and_damaged_files_are_refused) {
  const std::string path = test::temporary_dir() + "/state";
  const Tokens prompt = prompt_of(6, 100);
  Recorder seen;
  auto engine = start();
  ask(*engine, prompt, seen);
  REQUIRE_OK(engine->save_prefix(prompt, "", path));
  CHECK(!fs::exists(path + ".tmp"));
  CHECK(start("int8")->restore_prefix(path, "").status.code == StatusCode::unsupported);
  CHECK(start("auto", "qwen3_5", true, "bfloat16")->restore_prefix(path, "").status.code == StatusCode::unsupported);
  CHECK(start("auto", "qwen3")->restore_prefix(path, "").status.code == StatusCode::unsupported);
  const auto status = start("auto", "qwen3_5", false)->save_prefix(prompt, "", path).status;
  CHECK(status.code == StatusCode::unsupported && status.message.find("prefix cache") != std::string::npos);
  CHECK(engine->restore_prefix(path + "2", "").status.code == StatusCode::not_found);

  const auto size = static_cast<int64_t>(fs::file_size(path));
  engine = start();
  for (int64_t offset = 0; offset < size; offset += size / 37) {  // one changed byte in each part of the file
    const std::string copy = path + "-changed";
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    std::fstream stream(copy, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(offset);
    const char byte = static_cast<char>(stream.get() ^ 4);
    stream.seekp(offset);
    stream.put(byte);
    stream.close();
    CHECK(!engine->restore_prefix(copy, "").is_ok());
    fs::resize_file(copy, static_cast<uintmax_t>(offset));  // and cut there
    CHECK(!engine->restore_prefix(copy, "").is_ok());
  }
  CHECK_EQ(engine->find_prefix(prompt, "").num_cached_tokens, 0);
  CHECK_OK(engine->restore_prefix(path, "").status);
  CHECK(engine->find_prefix(prompt, "").num_cached_tokens > 0);
  engine->shut_down();
  CHECK(engine->restore_prefix(path, "").status.code == StatusCode::shut_down);
  CHECK(engine->pin_prefix(prompt, "").status.code == StatusCode::shut_down);
}

}  // namespace pagoda::engine
