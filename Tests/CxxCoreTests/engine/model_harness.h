// ModelHarness: a loaded model and the EngineCore that steps it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/core/engine_core.h"
#include "engine/load/loader.h"
#include "engine/recorder.h"
#include "support/test.h"

namespace pagoda::test {

struct ModelHarness {
  engine::LoadedModel loaded;
  std::unique_ptr<engine::EngineCore> core;

  static std::unique_ptr<ModelHarness> open(const std::string& folder, const EngineOptions& options,
                                            std::shared_ptr<speculate::Drafter> drafter = nullptr,
                                            bool takes_all_drafts = false) {
    return open(ModelSource{folder, {}}, options, std::move(drafter), takes_all_drafts);
  }
  static std::unique_ptr<ModelHarness> open(const ModelSource& source, const EngineOptions& options,
                                            std::shared_ptr<speculate::Drafter> drafter = nullptr,
                                            bool takes_all_drafts = false) {
    auto harness = std::make_unique<ModelHarness>();
    Result<engine::LoadedModel> result = engine::load(source, options, nullptr);
    CHECK_OK(result);
    if (!result.is_ok()) return nullptr;
    harness->loaded = std::move(*result);
    engine::TestHooks hooks;
    hooks.drafter = std::move(drafter);
    hooks.takes_all_drafts = takes_all_drafts;
    hooks.waits_for_copies = true;
    harness->core =
        std::make_unique<engine::EngineCore>(*harness->loaded.model, harness->loaded.core, std::move(hooks));
    return harness;
  }

  bool add(const Request& request, uint64_t id, Recorder& recorder) {
    auto prepared = core->prepare(request, id, &Recorder::on_event, &recorder);
    if (prepared.is_ok()) core->add(std::move(*prepared));
    return prepared.is_ok();
  }

  void check_all_free() const {
    const EngineStats stats = core->stats();
    CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
    CHECK_EQ(stats.num_free_state_slots, stats.num_state_slots);
  }
};

}  // namespace pagoda::test
