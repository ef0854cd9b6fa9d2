// The heap of an engine over many random requests: changing tenants, clients and schemas, aborts, stop strings,
// drafts from past answers. Its caches are bounded, so after the first rounds the heap does not grow.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/fake_model.h"
#include "engine/recorder.h"
#include "support/allocations.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::Recorder;

CoreConfig make_config(const std::shared_ptr<const text::SubwordTokenizer>& tokenizer) {
  CoreConfig config;
  config.limits = {.num_kv_blocks = 26, .num_state_slots = 4 + 8, .max_num_tokens = 64, .max_num_seqs = 4};
  config.limits.max_draft_rows = 8;
  config.limits.max_logits_rows = 4 + 8;
  config.limits.max_blocks_per_seq = 26;
  config.limits.max_state_saves = 8;
  config.limits.max_model_len = 26 * 16;
  config.limits.num_checkpoints = 8;
  config.max_drafts = 3;
  config.uses_lookup = true;
  config.vocab_size = tokenizer->vocab_size();
  config.state_slot_bytes = sizeof(test::FakeModel::State);
  config.tokenizer = tokenizer;
  config.eos_token_ids = {test::end_id(*tokenizer)};
  return config;
}

class Crowd {
 public:
  explicit Crowd(EngineCore& core) : core_(core) {}

  void run(uint64_t seed, int num_requests) {
    rng_.seed(seed);
    std::vector<std::unique_ptr<Recorder>> recorders;
    for (int added = 0; added < num_requests || core_.has_work();) {
      if (added < num_requests && pick(0, 1) == 0) {
        Recorder& recorder = *recorders.emplace_back(std::make_unique<Recorder>());
        Request request = make_request();
        if (request.grammar.kind != GrammarKind::none) last_with_grammar_ = last_id_ + 1;
        auto prepared = core_.prepare(std::move(request), ++last_id_, &Recorder::on_event, &recorder);
        CHECK_OK(prepared);
        if (prepared.is_ok()) core_.add(std::move(*prepared));
        ++added;
      }
      if (const uint64_t id = last_id_ - static_cast<uint64_t>(pick(0, 4)); pick(0, 60) == 0 && id > last_with_grammar_)
        core_.cancel(id);
      core_.step();
    }
    for (const auto& recorder : recorders) CHECK(recorder->finished.load() && recorder->reason != FinishReason::error);
  }

 private:
  int pick(int low, int high) { return low + static_cast<int>(rng_() % static_cast<uint64_t>(high - low + 1)); }

  Request make_request() {
    Request request;
    const int base = pick(0, 5), length = pick(1, 150);
    for (int i = 0; i < length; ++i)
      request.prompt_ids.push_back('a' + (i < 60 ? i * (base + 3) : static_cast<int>(rng_() % 100)) % 26);
    request.sampling.max_tokens = pick(1, 40);
    request.sampling.temperature = pick(0, 1) ? 1.0f : 0.0f;
    request.sampling.has_seed = true;
    request.sampling.seed = rng_();
    request.sampling.num_top_logprobs = pick(-1, 3);
    if (pick(0, 3) == 0) request.sampling.stop = {"zq", "a stop string of some length"};
    if (pick(0, 3) == 0) request.sampling.repetition_penalty = 1.2f;
    if (pick(0, 3) == 0)
      request.grammar = {GrammarKind::json_schema, R"({"type": "object", "properties": {"p)" +
                                                       std::to_string(pick(0, 999)) +
                                                       R"(": {"type": "string", "maxLength": 6}}, "required": []})"};
    request.cache_salt = "a tenant with a name of some length " + std::to_string(pick(0, 99));
    request.share_id = "a client with a name of some length " + std::to_string(rng_());
    request.use_cache = pick(0, 9) > 0;
    request.priority = pick(-1, 1);
    return request;
  }

  EngineCore& core_;
  std::mt19937_64 rng_;
  uint64_t last_id_ = 0;
  // Never cancelled: whether a cancelled one has computed its masks depends on what is cached from earlier rounds.
  uint64_t last_with_grammar_ = 0;
};

}  // namespace

// Two interleaved streams of requests: after each, the heap is as large as the last time, to within a thousandth.
PAGODA_TEST(flat_memory_over_random_requests) {
  if (!test::can_replace_allocations()) return test::note("not run: this sanitizer has its own operator new");
  constexpr size_t kWarmUp = 4, kRounds = 10;
  constexpr int kRequests = 200;
  const auto tokenizer = test::make_awkward_tokenizer();
  const CoreConfig config = make_config(tokenizer);
  test::FakeModel model(config.limits, config.limits.block_size, config.vocab_size);
  const uint64_t seed = test::seed(60);
  const int64_t before = test::num_live_bytes();
  TestHooks hooks;
  hooks.takes_all_drafts = true;
  EngineCore core(model, config, std::move(hooks));
  Crowd crowd(core);
  std::vector<int64_t> bytes;
  std::string list;
  for (size_t round = 0; round < kRounds; ++round) {
    crowd.run(seed + round % 2, kRequests);
    bytes.push_back(test::num_live_bytes() - before);
    list += " " + std::to_string(bytes.back());
    if (round >= kWarmUp) CHECK(bytes[round] - bytes[round - 2] <= bytes[round] / 1000);
  }
  test::note("bytes of the engine after each " + std::to_string(kRequests) + " requests:" + list);
  CHECK(bytes[kRounds - 1] - bytes[kWarmUp - 1] <= bytes[kRounds - 1] / 1000);
  const EngineStats stats = core.stats();
  CHECK(stats.num_preemptions > 0 && stats.cache.num_checkpoint_evictions > 0 && stats.num_masks > 0);
  CHECK(stats.speculation.num_accepted_tokens > 0);
}

}  // namespace pagoda::engine
