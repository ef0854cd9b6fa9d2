// model: a batch with any index out of range is refused before an op sees it, and a slot contains no data of its last
// owner.
#include <cstring>
#include <functional>

#include "model/model_runner.h"

namespace pagoda::test {
namespace {

using model::ForwardBatch;
using Sequence = ModelRunner::Sequence;

std::string path() { return fixtures_dir() + "/model/qwen3_5"; }

std::vector<int32_t> random_prompt(size_t length, uint32_t seed_value) {
  std::mt19937 random(seed_value);
  std::vector<int32_t> prompt(length);
  for (int32_t& id : prompt) id = static_cast<int32_t>(random() % 128);
  return prompt;
}

int32_t spare_slot(const ForwardBatch& batch) {  // one of four that no sequence has
  int32_t slot = 0;
  while (std::ranges::find(batch.state_slots, slot) != batch.state_slots.end()) ++slot;
  return slot;
}

struct BadBatch {
  const char* word;  // of the message
  std::function<void(ForwardBatch&)> spoil;
};

const std::vector<BadBatch>& bad_batches() {
  static const std::vector<BadBatch> rows = {
      {"token_ids", [](ForwardBatch& b) { b.token_ids[1] = 128; }},
      {"token_ids", [](ForwardBatch& b) { b.token_ids[0] = -1; }},
      {"token_ids", [](ForwardBatch& b) { b = {}; }},
      {"token_ids", [](ForwardBatch& b) { b.token_ids.resize(65); }},
      {"positions", [](ForwardBatch& b) { b.positions.pop_back(); }},
      {"positions", [](ForwardBatch& b) { b.positions[3] = 1; }},
      {"positions", [](ForwardBatch& b) { b.positions[0] = -1; }},
      {"slot_mapping", [](ForwardBatch& b) { b.slot_mapping.push_back(0); }},
      {"slot_mapping", [](ForwardBatch& b) { b.slot_mapping[2] = int64_t{1} << 40; }},
      {"context_lens", [](ForwardBatch& b) { b.context_lens.clear(); }},
      {"context_lens", [](ForwardBatch& b) { b.context_lens[0] = 1; }},
      {"context_lens", [](ForwardBatch& b) { b.context_lens[1] = 0x7fffffff; }},
      {"cu_seqlens", [](ForwardBatch& b) { b.cu_seqlens.pop_back(); }},
      {"cu_seqlens", [](ForwardBatch& b) { b.cu_seqlens[0] = 1; }},
      {"cu_seqlens", [](ForwardBatch& b) { b.cu_seqlens[2] = 1000; }},
      {"rows", [](ForwardBatch& b) { b.cu_seqlens[1] = 1000; }},
      {"rows", [](ForwardBatch& b) { b.cu_seqlens[1] = 0; }},
      {"rows", [](ForwardBatch& b) { b.cu_seqlens[1] = -7; }},
      {"block_tables", [](ForwardBatch& b) { b.block_tables.pop_back(); }},
      {"block", [](ForwardBatch& b) { b.block_tables[0] = -1; }},
      {"block", [](ForwardBatch& b) { b.block_tables[0] = 1 << 30; }},
      {"table_changes", [](ForwardBatch& b) { b.table_changes = {{b.num_seqs(), 0, 1}}; }},
      {"table_changes", [](ForwardBatch& b) { b.table_changes = {{0, -1, 1}}; }},
      {"table_changes", [](ForwardBatch& b) { b.table_changes = {{0, 1, 0x7fffffff}}; }},
      {"block",
       [](ForwardBatch& b) {
         b.block_tables[1] = -1;
         b.has_table_changes = true;
         b.table_changes = {{0, 0, 2}};
       }},
      {"state_slots", [](ForwardBatch& b) { b.state_slots.clear(); }},
      {"state_slots", [](ForwardBatch& b) { b.state_slots[0] = 4; }},
      {"state_slots", [](ForwardBatch& b) { b.state_slots[1] = b.state_slots[0]; }},
      {"fresh_slots", [](ForwardBatch& b) { b.fresh_slots[0] = -3; }},
      {"fresh_slots", [](ForwardBatch& b) { b.fresh_slots.resize(5); }},
      {"block_copies", [](ForwardBatch& b) { b.block_copies = {{0, 1 << 20}}; }},
      {"block_copies", [](ForwardBatch& b) { b.block_copies = {{-1, 0}}; }},
      {"slot_copies", [](ForwardBatch& b) { b.slot_copies = {{4, 0}}; }},
      {"state_saves", [](ForwardBatch& b) { b.state_saves = {{0, b.state_slots[0], spare_slot(b)}}; }},
      {"state_saves", [](ForwardBatch& b) { b.state_saves = {{24, b.state_slots[1], spare_slot(b)}}; }},
      {"state_saves", [](ForwardBatch& b) { b.state_saves = {{20, b.state_slots[1], spare_slot(b)}}; }},
      {"state_saves", [](ForwardBatch& b) { b.state_saves = {{20, b.state_slots[0], b.state_slots[1]}}; }},
      {"state_saves", [](ForwardBatch& b) { b.state_saves = {{20, b.state_slots[0], 4}}; }},
      {"state_saves", [](ForwardBatch& b) { b.state_saves.assign(3, {20, b.state_slots[0], spare_slot(b)}); }},
      {"logits_rows", [](ForwardBatch& b) { b.logits_rows[0] = b.num_tokens(); }},
      {"logits_rows", [](ForwardBatch& b) { b.logits_rows.resize(65); }},
      {"draws", [](ForwardBatch& b) { b.draws.assign(b.logits_rows.size() + 1, {}); }},
      {"edits", [](ForwardBatch& b) { b.draws.assign(b.logits_rows.size(), {.num_edits = 1}); }},
      {"mask", [](ForwardBatch& b) { b.draws.assign(b.logits_rows.size(), {.mask = 1}); }},
      {"words", [](ForwardBatch& b) { b.masks.assign(1000000, 0); }},
  };
  return rows;
}

}  // namespace

PAGODA_TEST(model_refuses_every_batch_with_an_index_out_of_range) {
  auto runner = ModelRunner::load(
      folder(path()),
      {.device = "reference", .max_tokens = 64, .max_seqs = 4, .max_context = 64, .max_state_saves = 2});
  REQUIRE_OK(runner);
  const std::vector<int32_t> first = random_prompt(20, 1), second = random_prompt(3, 2);
  Sequence sequences[2];
  const ModelRunner::Chunk chunks[] = {{&sequences[0], first}, {&sequences[1], second}};
  const ForwardBatch good = (*runner)->make_batch(chunks);
  for (const BadBatch& bad : bad_batches()) {
    ForwardBatch batch = good;
    bad.spoil(batch);
    const Status status = (*runner)->model().forward(batch);
    CHECK(status.code == StatusCode::invalid_argument);
    if (status.message.find(bad.word) == std::string::npos) note(std::string(bad.word) + " not in: " + status.message);
    CHECK(status.message.find(bad.word) != std::string::npos);
    CHECK((*runner)->model().logits().empty());
  }
  CHECK_OK((*runner)->model().forward(good));
  CHECK_EQ((*runner)->model().logits().size(), size_t{2 * 128});
}

PAGODA_TEST(model_without_recurrent_layers_takes_no_state_slots) {
  auto runner = ModelRunner::load(folder(fixtures_dir() + "/model/qwen3"), {.device = "reference", .max_tokens = 64});
  REQUIRE_OK(runner);
  const std::vector<int32_t> prompt = random_prompt(5, 3);
  Sequence sequence;
  const ModelRunner::Chunk chunk{&sequence, prompt};
  ForwardBatch batch = (*runner)->make_batch({&chunk, 1});
  CHECK_OK((*runner)->model().forward(batch));
  batch.state_slots = {0};
  CHECK((*runner)->model().forward(batch).code == StatusCode::invalid_argument);
}

PAGODA_TEST(model_starts_a_sequence_in_a_used_slot_as_in_a_new_one) {
  for (const char* device : {"cpu", "reference"}) {
    auto runner =
        ModelRunner::load(folder(path()), {.device = device, .max_tokens = 64, .max_seqs = 1, .max_context = 64});
    REQUIRE_OK(runner);
    const std::vector<int32_t> secret = random_prompt(41, 4), prompt = random_prompt(21, 5);
    const std::vector<float> clean = logits_of(**runner, prompt, 64);
    logits_of(**runner, secret, 64);
    CHECK(logits_of(**runner, prompt, 64) == clean);

    // Proof that the test can fail: without fresh_slots the last owner's state is visible.
    (*runner)->reset();
    Sequence sequence;
    const ModelRunner::Chunk chunk{&sequence, prompt, true};
    ForwardBatch batch = (*runner)->make_batch({&chunk, 1});
    batch.fresh_slots.clear();
    CHECK_OK((*runner)->model().forward(batch));
    const auto stained = (*runner)->model().logits();
    CHECK(!std::equal(clean.begin(), clean.end(), stained.begin(), stained.end()));
  }
}

PAGODA_TEST(model_computes_logits_only_for_the_rows_asked_for) {
  auto runner = ModelRunner::load(folder(path()), {.max_tokens = 64, .max_context = 64});
  REQUIRE_OK(runner);
  const std::vector<int32_t> prompt = random_prompt(33, 6);
  const std::vector<float> all = logits_of(**runner, prompt, 64);
  (*runner)->reset();
  Sequence sequence;
  const ModelRunner::Chunk chunk{&sequence, prompt};
  ForwardBatch batch = (*runner)->make_batch({&chunk, 1});
  batch.logits_rows = {32, 0, 7, 7};
  CHECK_OK((*runner)->model().forward(batch));
  const auto logits = (*runner)->model().logits();
  REQUIRE(logits.size() == 4 * 128);
  for (size_t r = 0; r < 4; ++r)
    CHECK(std::memcmp(&logits[r * 128], &all[static_cast<size_t>(batch.logits_rows[r]) * 128], 128 * sizeof(float)) ==
          0);

  (*runner)->reset();
  Sequence silent;
  const ModelRunner::Chunk no_logits{&silent, prompt};
  batch = (*runner)->make_batch({&no_logits, 1});
  batch.logits_rows.clear();
  CHECK_OK((*runner)->model().forward(batch));
  CHECK((*runner)->model().logits().empty());
}

// Random schedules: any mix of sequences and chunk sizes gives each sequence the bits it has alone.
PAGODA_TEST(model_gives_the_same_bits_under_random_schedules) {
  std::mt19937_64 random(seed(20240));
  auto runner = ModelRunner::load(folder(path()), {.max_tokens = 256, .max_seqs = 6, .max_context = 100});
  REQUIRE_OK(runner);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::vector<int32_t>> prompts;
    std::vector<std::vector<float>> alone, together(6);
    for (uint32_t i = 0; i < 6; ++i) {
      prompts.push_back(random_prompt(1 + random() % 99, static_cast<uint32_t>(random())));
      alone.push_back(logits_of(**runner, prompts[i], 128));
    }
    (*runner)->reset();
    std::vector<Sequence> sequences(6);
    for (;;) {
      std::vector<ModelRunner::Chunk> chunks;
      std::vector<size_t> owners;
      bool is_done = true;
      for (size_t i = 0; i < 6; ++i) {
        const auto rest = std::span<const int32_t>(prompts[i]).subspan(static_cast<size_t>(sequences[i].length));
        is_done = is_done && rest.empty();
        if (rest.empty() || random() % 3 == 0) continue;
        chunks.push_back({&sequences[i], rest.subspan(0, std::min<size_t>(rest.size(), 1 + random() % 20)), true});
        owners.push_back(i);
      }
      if (is_done) break;
      if (chunks.empty()) continue;
      auto logits = (*runner)->step(chunks);
      REQUIRE(!logits.empty());
      for (size_t p = 0; p < chunks.size(); ++p) {
        const size_t size = chunks[p].tokens.size() * 128;
        together[owners[p]].insert(together[owners[p]].end(), logits.begin(),
                                   logits.begin() + static_cast<std::ptrdiff_t>(size));
        logits = logits.subspan(size);
      }
    }
    for (size_t i = 0; i < 6; ++i)
      CHECK(together[i].size() == alone[i].size() &&
            std::memcmp(together[i].data(), alone[i].data(), alone[i].size() * sizeof(float)) == 0);
  }
}

}  // namespace pagoda::test
