// model: a state saved in the middle of a chunk, and blocks and slots copied or moved through the host, continue with
// the same bits.
#include <algorithm>
#include <random>
#include <vector>

#include "model/model_runner.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using model::ForwardBatch;

std::vector<int32_t> random_tokens(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % 96);
  return tokens;
}

using Logits = std::vector<float>;

Logits step(ModelRunner& runner, const ForwardBatch& batch) {
  CHECK_OK(runner.model().forward(batch));
  return {runner.model().logits().begin(), runner.model().logits().end()};
}

// Sequence A reads `prompt` in one chunk next to a decode row of another, with states saved after `cuts`. Then, for
// each cut, a third sequence starts from a copy of the blocks and of the saved state and reads the rest.
void check_cuts(const char* folder_name, RunnerOptions options, const std::vector<int32_t>& cuts) {
  options.max_seqs = 4 + static_cast<int>(cuts.size());
  options.max_state_saves = static_cast<int>(cuts.size());
  auto loaded = ModelRunner::load(folder(fixtures_dir() + "/model/" + folder_name), options);
  REQUIRE_OK(loaded);
  ModelRunner& runner = **loaded;
  const std::vector<int32_t> neighbour = random_tokens(21, 1), prompt = random_tokens(50, 2);
  const Logits expected = logits_of(runner, prompt, 64);
  const size_t vocab = expected.size() / prompt.size();

  runner.reset();
  ModelRunner::Sequence a, b;
  const ModelRunner::Chunk first{&b, std::span(neighbour).first(20)};
  step(runner, runner.make_batch({&first, 1}));
  const ModelRunner::Chunk chunks[] = {{&b, std::span(neighbour).subspan(20)}, {&a, prompt}};
  ForwardBatch batch = runner.make_batch(chunks);
  std::vector<int32_t> saved;
  for (int32_t cut : cuts) batch.state_saves.push_back({1 + cut, a.slot, saved.emplace_back(runner.take_slot())});
  const Logits with_saves = step(runner, batch);
  CHECK(std::equal(expected.end() - static_cast<std::ptrdiff_t>(vocab), expected.end(),
                   with_saves.end() - static_cast<std::ptrdiff_t>(vocab)));

  for (size_t i = 0; i < cuts.size(); ++i) {
    ModelRunner::Sequence c;
    c.length = cuts[i];
    c.slot = runner.take_slot();
    const ModelRunner::Chunk rest{&c, std::span(prompt).subspan(static_cast<size_t>(cuts[i])), true};
    ForwardBatch restored;
    const int64_t num_blocks = (cuts[i] + options.block_size - 1) / options.block_size;
    for (int64_t block = 0; block < num_blocks; ++block) {
      c.blocks.push_back(runner.take_block());
      restored.block_copies.push_back({a.blocks[static_cast<size_t>(block)], c.blocks.back()});
    }
    ForwardBatch rows = runner.make_batch({&rest, 1});
    rows.block_copies = restored.block_copies;
    rows.slot_copies = {{saved[i], c.slot}};
    const Logits seen = step(runner, rows);
    CHECK(std::equal(seen.begin(), seen.end(), expected.end() - static_cast<std::ptrdiff_t>(seen.size())));
    runner.give_back(c);
    if (failed()) return note("cut at " + std::to_string(cuts[i]));
  }
}

void check_moves(const char* folder_name) {
  for (const auto& [kv_dtype, state_dtype] :
       {std::pair{"auto", "float32"}, {"int8", "float32"}, {"auto", "bfloat16"}}) {
    const RunnerOptions options{
        .kv_dtype = kv_dtype, .state_dtype = state_dtype, .max_tokens = 64, .max_seqs = 3, .max_context = 64};
    auto loaded = ModelRunner::load(folder(fixtures_dir() + "/model/" + folder_name), options);
    REQUIRE_OK(loaded);
    ModelRunner& runner = **loaded;
    const std::vector<int32_t> prompt = random_tokens(40, 3);
    const Logits expected = logits_of(runner, prompt, 64);
    runner.reset();
    ModelRunner::Sequence a, c;
    const ModelRunner::Chunk head{&a, std::span(prompt).first(23)};
    step(runner, runner.make_batch({&head, 1}));
    auto kv = model::choose_kv_dtype(kv_dtype, DType::f32);
    auto state_type = model::choose_state_dtype(state_dtype);
    REQUIRE_OK(kv);
    REQUIRE_OK(state_type);
    const cache::CacheLayout layout = model::cache_layout(runner.config(), {*kv, *state_type}, options.block_size);
    std::vector<std::byte> block(static_cast<size_t>(layout.kv_block_bytes()));
    std::vector<std::byte> state(static_cast<size_t>(layout.state_slot_bytes()));
    for (int32_t from : a.blocks) {
      c.blocks.push_back(runner.take_block());
      const int32_t num_tokens = from == a.blocks.back() ? 7 : 16;
      CHECK_OK(runner.model().read_block(from, num_tokens, block));
      CHECK_OK(runner.model().write_block(c.blocks.back(), block));
    }
    c.slot = runner.take_slot();
    c.length = 23;
    CHECK_OK(runner.model().read_slot(a.slot, state));
    CHECK_OK(runner.model().write_slot(c.slot, state));
    const ModelRunner::Chunk rest{&c, std::span(prompt).subspan(23), true};
    const Logits seen = step(runner, runner.make_batch({&rest, 1}));
    CHECK(std::equal(seen.begin(), seen.end(), expected.end() - static_cast<std::ptrdiff_t>(seen.size())));
    state.pop_back();
    CHECK(!runner.model().read_slot(a.slot, state).is_ok());
    CHECK(!runner.model().write_block(-1, block).is_ok());
  }
}

}  // namespace

PAGODA_TEST(model_resumes_from_states_saved_inside_a_chunk) {
  const std::vector<int32_t> cuts{1, 2, 15, 16, 17, 31, 32, 40, 48, 49};
  for (const char* device : {"cpu", "reference"})
    for (int block_size : {8, 16, 32})
      check_cuts("qwen3_5", {.device = device, .block_size = block_size, .max_tokens = 64, .max_context = 64}, cuts);
  check_cuts("qwen3_5", {.kv_dtype = "int8", .max_tokens = 64, .max_context = 64}, cuts);
  check_cuts("qwen3_5_real_heads", {.max_tokens = 64, .max_context = 64}, cuts);
  check_cuts("qwen3_5_real_heads", {.state_dtype = "bfloat16", .max_tokens = 64, .max_context = 64}, cuts);
  for (int block_size : {8, 16})
    for (const char* sparse : {"qwen4_exp", "qwen4_exp_vision"})
      check_cuts(sparse, {.block_size = block_size, .max_tokens = 64, .max_context = 64}, cuts);
}

PAGODA_TEST(model_resumes_from_blocks_and_slots_moved_through_the_host) { check_moves("qwen3_5"); }

// Their blocks have index keys too, and their slots tokens and the inputs of a convolution.
PAGODA_TEST(model_resumes_from_index_keys_and_ngrams_moved_through_the_host) {
  for (const char* name : {"qwen4_exp", "qwen4_exp_vision"}) check_moves(name);
}

// A block of latents contains one row per token and layer.
PAGODA_TEST(model_resumes_from_latents_moved_through_the_host) {
  for (const char* kv_dtype : {"float32", "bfloat16", "int8"}) {
    const RunnerOptions options{.kv_dtype = kv_dtype, .max_tokens = 64, .max_seqs = 3, .max_context = 64};
    auto loaded = ModelRunner::load(folder(fixtures_dir() + "/model/deepseek_v2"), options);
    REQUIRE_OK(loaded);
    ModelRunner& runner = **loaded;
    std::vector<int32_t> prompt = random_tokens(40, 4);
    for (int32_t& token : prompt) token %= runner.config().vocab_size;
    const Logits expected = logits_of(runner, prompt, 64);
    runner.reset();
    ModelRunner::Sequence a, c;
    const ModelRunner::Chunk head{&a, std::span(prompt).first(23)};
    step(runner, runner.make_batch({&head, 1}));
    auto kv = model::choose_kv_dtype(kv_dtype, DType::f32);
    REQUIRE_OK(kv);
    const cache::CacheLayout layout = model::cache_layout(runner.config(), *kv, options.block_size);
    CHECK_EQ(layout.kv_block_bytes(), 3 * 16 * kv_row_bytes(*kv, 32 + 8));
    std::vector<std::byte> block(static_cast<size_t>(layout.kv_block_bytes()));
    for (int32_t from : a.blocks) {
      c.blocks.push_back(runner.take_block());
      CHECK_OK(runner.model().read_block(from, from == a.blocks.back() ? 7 : 16, block));
      CHECK_OK(runner.model().write_block(c.blocks.back(), block));
    }
    c.length = 23;
    const ModelRunner::Chunk rest{&c, std::span(prompt).subspan(23), true};
    const Logits seen = step(runner, runner.make_batch({&rest, 1}));
    CHECK(std::equal(seen.begin(), seen.end(), expected.end() - static_cast<std::ptrdiff_t>(seen.size())));
  }
}

}  // namespace pagoda::test
