// CoreConfig: the fixed parameters of an EngineCore, which the loader determines, and the hooks of tests and
// benchmarks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "engine/adapters.h"
#include "engine/disk/image_files.h"
#include "engine/disk/store.h"
#include "engine/tier/host_store.h"
#include "model/vision/tower.h"
#include "pagoda/engine_limits.h"
#include "scheduler/step_budget.h"
#include "speculate/drafter.h"
#include "speculate/policy.h"
#include "text/bpe/tokenizer.h"

namespace pagoda::engine {

struct CoreConfig {
  EngineLimits limits;
  int32_t vocab_size = 0;
  int32_t hidden_size = 0;  // 0: no embeddings
  bool prefix_cache = true;
  scheduler::StepTimes step_times;
  int64_t state_slot_bytes = 0;
  std::shared_ptr<HostStore> host;            // null: prefixes are not kept in host memory
  std::shared_ptr<DiskStore> disk;            // null: prefixes are not kept on disk
  std::shared_ptr<model::VisionTower> tower;  // null: no images
  std::shared_ptr<Adapters> adapters;         // null: no LoRA adapters
  std::string no_images;                      // why there is none
  int64_t image_cache_bytes = 0;
  std::shared_ptr<const ImageFiles> image_files;  // null: results of the tower are only in memory
  device::Device* device = nullptr;               // its health is checked after a failed step; null: only the model's
  std::vector<int32_t> eos_token_ids;
  int32_t num_sample_threads = 1;
  bool has_mask_thread = false;  // masks are computed in parallel with the steps, otherwise within them
  bool uses_head = false;        // drafts from the model's MTP head
  bool uses_lookup = false;      // drafts from earlier text, and forced tokens
  int32_t max_drafts = 0;        // per sequence and step; 0: none
  std::shared_ptr<const speculate::Policy> policy;  // to begin with, learned by another core of the model; or null
  std::shared_ptr<const text::SubwordTokenizer> tokenizer;  // null: events carry ids only

  // A state is part of a prefix: without checkpoints, a model that has one keeps no prefixes.
  bool keeps_prefixes() const noexcept { return prefix_cache && (!limits.has_state() || limits.num_checkpoints > 0); }
};

// What only tests and benchmarks replace.
struct TestHooks {
  std::function<double()> clock;                // seconds, for the bounds on waiting; null: the system's
  bool takes_all_drafts = false;                // regardless of their cost
  std::shared_ptr<speculate::Drafter> drafter;  // replaces all others and the policy
  bool admits_drafter = false;                  // the policy also decides about its drafts
  std::function<void()> before_mask;            // see MaskWorker
  // Steps wait for prefixes to be in their stores, and for those of preempted sequences to be back, so that what is
  // evicted and found depends on no thread's speed.
  bool waits_for_copies = false;

  bool has_policy() const noexcept { return !takes_all_drafts && (!drafter || admits_drafter); }
};

}  // namespace pagoda::engine
