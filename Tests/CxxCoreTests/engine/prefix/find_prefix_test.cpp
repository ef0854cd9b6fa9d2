// find_prefix: any thread can query what a request would find in the cache, without changing it.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine_thread.h"
#include "engine/fake_model.h"
#include "engine/recorder.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeModel;
using test::kFakeVocab;
using test::Recorder;

std::unique_ptr<EngineThread> start_engine(bool has_state, bool prefix_cache = true) {
  LoadedModel loaded;
  EngineLimits& sizes = loaded.core.limits;
  sizes.num_kv_blocks = sizes.max_blocks_per_seq = 64;
  sizes.max_num_seqs = sizes.max_logits_rows = 4;
  sizes.num_state_slots = has_state ? 12 : 0;
  sizes.max_num_tokens = 32;
  loaded.core.limits.max_model_len = 64 * 16;
  loaded.core.vocab_size = kFakeVocab;
  sizes.num_checkpoints = has_state ? 8 : 0;
  loaded.core.prefix_cache = prefix_cache;
  loaded.model = std::make_unique<FakeModel>(sizes, 16);
  auto engine = EngineThread::start(std::move(loaded));
  CHECK_OK(engine);
  return std::move(*engine);
}

Request request_of(int num_tokens, int salt = 0) {
  Request request;
  for (int i = 0; i < num_tokens; ++i) request.prompt_ids.push_back((i * 7 + salt) % kFakeVocab);
  request.sampling.max_tokens = 4;
  return request;
}

void run(EngineThread& engine, const Request& request, Recorder& recorder) {
  CHECK_OK(engine.submit(request, &Recorder::on_event, &recorder).status);
  recorder.wait();
}

// The finished event is sent before the sequence is retired, which happens one step later.
PrefixMatch settled(EngineThread& engine, const Request& request) {
  while (engine.stats().num_running > 0) std::this_thread::yield();
  PrefixMatch match;
  for (int i = 0; i < 600'000; ++i) {
    match = engine.find_prefix(request.prompt_ids, request.cache_salt);
    if (match.num_cached_tokens > 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return match;
}

}  // namespace

PAGODA_TEST(engine_find_prefix_predicts_the_next_request) {
  for (const bool has_state : {false, true}) {
    auto engine = start_engine(has_state);
    const Request request = request_of(70);
    CHECK_EQ(engine->find_prefix(request.prompt_ids, "").num_matched_tokens, 0);
    Recorder first, second;
    run(*engine, request, first);
    Request longer = request;  // a second turn: the state is saved where the first one ended
    longer.prompt_ids.insert(longer.prompt_ids.end(), first.tokens.begin(), first.tokens.end());
    for (int i = 0; i < 9; ++i) longer.prompt_ids.push_back(1);
    const PrefixMatch match = settled(*engine, longer);
    CHECK_OK(match.status);
    CHECK(match.num_cached_tokens > 0 && match.num_cached_tokens <= match.num_matched_tokens);
    const int64_t hits = engine->stats().cache.num_checkpoint_hits;
    for (int i = 0; i < 100; ++i) (void)engine->find_prefix(longer.prompt_ids, "");
    CHECK_EQ(engine->stats().cache.num_checkpoint_hits, hits);
    run(*engine, longer, second);
    CHECK_EQ(second.usage.cached_tokens, match.num_cached_tokens);
    CHECK_EQ(engine->find_prefix(longer.prompt_ids, "other").num_matched_tokens, 0);  // a salt is a tenant
  }
}

PAGODA_TEST(engine_find_prefix_refuses_by_name) {
  auto engine = start_engine(true);
  CHECK(engine->find_prefix({}, "").status.code == StatusCode::invalid_argument);
  const PrefixMatch bad = engine->find_prefix({1, kFakeVocab}, "");
  CHECK(bad.status.code == StatusCode::invalid_argument);
  CHECK(bad.status.message.find("token 1") != std::string::npos);
  CHECK(engine->find_prefix({1}, std::string(257, 'x')).status.message.find("cache_salt") != std::string::npos);
  engine->shut_down();
  CHECK(engine->find_prefix({1}, "").status.code == StatusCode::shut_down);
  auto without = start_engine(true, /*prefix_cache=*/false);
  Recorder recorder;
  run(*without, request_of(70), recorder);
  CHECK_EQ(without->find_prefix(request_of(70).prompt_ids, "").num_matched_tokens, 0);
}

PAGODA_TEST(engine_find_prefix_may_be_asked_while_everything_moves) {
  for (const bool has_state : {false, true}) {
    auto engine = start_engine(has_state);
    std::atomic<bool> done{false};
    std::vector<std::thread> askers;
    for (int t = 0; t < 3; ++t) {
      askers.emplace_back([&, t] {
        while (!done) {
          const Request request = request_of(200, t * 5);
          const PrefixMatch match = engine->find_prefix(request.prompt_ids, "");
          CHECK_OK(match.status);
          CHECK(match.num_cached_tokens < 200 && match.num_cached_tokens <= match.num_matched_tokens);
        }
      });
    }
    // More prompts than blocks: nodes are published, evicted and published again.
    for (int round = 0; round < 4; ++round) {
      std::vector<std::unique_ptr<Recorder>> recorders;
      for (int i = 0; i < 12; ++i) {
        recorders.push_back(std::make_unique<Recorder>());
        CHECK_OK(engine->submit(request_of(200, i * 5), &Recorder::on_event, recorders.back().get()).status);
      }
      for (const auto& recorder : recorders)
        while (!recorder->finished) std::this_thread::yield();
    }
    done = true;
    for (std::thread& asker : askers) asker.join();
    CHECK(engine->stats().cache.num_block_evictions > 0);
  }
}

PAGODA_TEST(engine_find_prefix_may_be_asked_from_inside_an_event) {
  struct Owner {
    std::unique_ptr<EngineThread> engine = start_engine(true);
    Request request = request_of(40);
    std::atomic<bool> done{false};
    static void on_event(void* context, const Event* event) {
      Owner& self = *static_cast<Owner*>(context);
      CHECK_OK(self.engine->find_prefix(self.request.prompt_ids, "").status);
      if (event->kind == EventKind::finished) self.done = true;
    }
  } owner;
  CHECK_OK(owner.engine->submit(owner.request, &Owner::on_event, &owner).status);
  for (int i = 0; i < 600'000 && !owner.done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(owner.done.load());
}

}  // namespace pagoda::engine
