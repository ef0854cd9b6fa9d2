// FakeHarness: an EngineCore over a FakeModel of any shape.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/fake_model.h"
#include "engine/recorder.h"
#include "engine/speculation/drafters.h"
#include "support/test.h"

namespace pagoda::test {

struct Shape {
  int64_t num_blocks = 64;
  int32_t block_size = 16;
  int32_t max_num_seqs = 4;
  int32_t max_num_tokens = 64;
  bool has_state = true;
  int32_t max_checkpoints = 0;
  double max_step_seconds = 0;
  double max_decode_seconds = -1;
  bool is_early = false;
  bool waits_for_copies = true;  // see TestHooks
  std::shared_ptr<speculate::Drafter> drafter = nullptr;
  std::function<double()> clock = nullptr;
};

struct FakeHarness {
  std::unique_ptr<FakeModel> model;
  std::unique_ptr<engine::EngineCore> core;

  explicit FakeHarness(const Shape& shape, std::vector<int32_t> eos = {},
                       std::shared_ptr<engine::DiskStore> disk = nullptr, device::Device* device = nullptr,
                       std::shared_ptr<engine::HostStore> host = nullptr) {
    engine::CoreConfig config;
    config.limits.num_kv_blocks = shape.num_blocks;
    config.limits.num_checkpoints = shape.has_state ? shape.max_checkpoints : 0;
    config.limits.num_state_slots = shape.has_state ? shape.max_num_seqs + config.limits.num_checkpoints : 0;
    config.limits.max_state_saves = config.limits.num_checkpoints;
    config.state_slot_bytes = sizeof(FakeModel::State);
    config.limits.max_num_tokens = shape.max_num_tokens;
    config.limits.max_num_seqs = shape.max_num_seqs;
    config.max_drafts = shape.drafter ? most_drafts(shape.has_state) : 0;
    config.limits.max_draft_rows = std::min(3, shape.max_num_seqs) * config.max_drafts;
    config.limits.max_logits_rows = shape.max_num_seqs + config.limits.max_draft_rows;
    config.limits.max_blocks_per_seq = static_cast<int32_t>(shape.num_blocks);
    config.limits.block_size = shape.block_size;
    config.step_times = {.max_seconds = shape.max_step_seconds, .max_decode_seconds = shape.max_decode_seconds};
    config.limits.max_model_len = static_cast<int32_t>(shape.num_blocks * shape.block_size);
    config.vocab_size = kFakeVocab;
    config.hidden_size = kFakeHidden;
    config.eos_token_ids = std::move(eos);
    config.disk = std::move(disk);
    config.host = std::move(host);
    config.device = device;
    engine::TestHooks hooks;
    hooks.clock = shape.clock;
    hooks.drafter = shape.drafter;
    hooks.waits_for_copies = shape.waits_for_copies;
    model = std::make_unique<FakeModel>(config.limits, shape.block_size);
    model->is_early = shape.is_early;
    core = std::make_unique<engine::EngineCore>(*model, config, std::move(hooks));
  }

  Status add(const Request& request, uint64_t id, Recorder& recorder) {
    auto prepared = core->prepare(request, id, &Recorder::on_event, &recorder);
    if (prepared.is_ok()) core->add(std::move(*prepared));
    return prepared.status;
  }

  void run() {
    for (int i = 0; core->has_work() && i < 100000; ++i) core->step();
    CHECK(!core->has_work());
    check_all_free();
  }

  void check_all_free() const {
    const EngineStats stats = core->stats();
    CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
    CHECK_EQ(stats.num_free_state_slots, stats.num_state_slots);
    CHECK_EQ(stats.num_running + stats.num_waiting, 0);
  }
};

}  // namespace pagoda::test
