// A model with an MTP head and one sequence, stepped manually, and its expected drafts.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/load/loader.h"
#include "model/model_runner.h"

namespace pagoda::test {

struct MtpGolden {
  std::vector<int32_t> prompt, next, drafts;
  std::vector<float> logits;  // [drafts, vocab]
};

// A model and one sequence, stepped manually.
struct MtpRunner {
  engine::LoadedModel loaded;
  request::Sequence sequence;
  model::ForwardBatch batch;

  static Result<std::unique_ptr<MtpRunner>> open(const ModelSource& source, const std::string& device) {
    EngineOptions options;
    options.device = device;
    options.dtype = options.kv_dtype = "float32";
    options.quantize = "none";
    options.speculation = "mtp";
    options.max_model_len = 128;
    auto loaded = engine::load(source, options, nullptr);
    if (!loaded.is_ok()) return loaded.status;
    auto runner = std::make_unique<MtpRunner>();
    runner->loaded = std::move(*loaded);
    engine::reserve_batch(runner->batch, runner->loaded.core.limits);
    for (int32_t block = 7; block >= 0; --block) runner->sequence.block_table.push_back(block);
    runner->sequence.state_slot = 1;
    runner->sequence.has_fresh_slot = true;
    return runner;
  }

  void feed(int32_t count, bool skips_rows = false, bool skips_states = false) {
    scheduler::StepPlan plan;
    plan.sequences.push_back({&sequence, count});
    const engine::CoreConfig& core = loaded.core;
    engine::build_batch(plan, core.limits.block_size, core.limits.max_blocks_per_seq, core.limits.has_state(), batch);
    batch.feeds_head = true;
    batch.skips_head_rows = skips_rows;
    batch.skips_head_states = skips_states;
    CHECK_OK(loaded.model->forward(batch));
    sequence.num_computed_tokens += count;
    sequence.has_fresh_slot = false;
  }

  std::vector<float> draft(int32_t token, int32_t index) {
    const engine::CoreConfig& core = loaded.core;
    engine::begin_draft_batch(batch);
    engine::add_draft_row({&sequence, token, sequence.num_tokens() - 1 + index, index == 0 ? -1 : 0},
                          core.limits.block_size, core.limits.max_blocks_per_seq, batch);
    CHECK_OK(loaded.model->draft(batch, index == 0));
    const auto logits = loaded.model->logits();
    return {logits.begin(), logits.end()};
  }
};

inline int32_t highest(const std::vector<float>& logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// The model's greedy token after a prompt, then the head's drafts and their logits.
inline MtpGolden drafts_of(const ModelSource& source) {
  auto opened = MtpRunner::open(source, "cpu");
  CHECK_OK(opened);
  if (!opened.is_ok()) return {};
  MtpRunner& runner = **opened;
  CHECK(runner.loaded.model->has_head());
  MtpGolden golden;
  for (int32_t i = 0; i < 21; ++i) golden.prompt.push_back((i * 31 + 5) % runner.loaded.core.vocab_size);
  runner.sequence.tokens = golden.prompt;
  runner.feed(21);
  const auto last = runner.loaded.model->logits();
  golden.next.push_back(highest({last.begin(), last.end()}));
  runner.sequence.tokens.push_back(golden.next.front());
  int32_t token = golden.next.front();
  for (int32_t i = 0; i < 6; ++i) {
    const std::vector<float> logits = runner.draft(token, i);
    golden.drafts.push_back(token = highest(logits));
    golden.logits.insert(golden.logits.end(), logits.begin(), logits.end());
  }
  return golden;
}

}  // namespace pagoda::test
