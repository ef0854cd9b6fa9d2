// prefix index: finds exactly what was published, isolates tenants, evicts the oldest, and counts exactly.
#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cache/checkpoint_plan.h"
#include "cache/prefix_index.h"
#include "support/test.h"

namespace pagoda::cache {
namespace {

constexpr int32_t kBlock = 4;

std::vector<int32_t> iota(int32_t first, int32_t count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) tokens[static_cast<size_t>(i)] = first + i;
  return tokens;
}

struct Harness {
  BlockManager blocks;
  StatePool states;
  PrefixIndex index;

  Harness(int64_t num_blocks, bool has_state, int32_t max_checkpoints)
      : blocks(num_blocks, kBlock), states(max_checkpoints), index(blocks, states, has_state, max_checkpoints) {}

  // Publishes all full blocks of `tokens` and the end, with a checkpoint there if there are states; then releases them.
  void put(const std::vector<int32_t>& tokens, const std::string& salt = "") {
    std::vector<int32_t> table;
    if (!blocks.grow(table, static_cast<int64_t>(tokens.size()))) return test::fail(__FILE__, __LINE__, "no room");
    const std::span<const int32_t> all = tokens;
    for (size_t i = 0; i < table.size(); ++i) {
      const auto chunk = all.subspan(i * kBlock, std::min<size_t>(kBlock, all.size() - i * kBlock));
      const int32_t parent = i > 0 ? table[i - 1] : kNoBlock;
      if (chunk.size() == kBlock) {
        const int32_t existing = index.publish(parent, salt, chunk, table[i]);
        if (existing != table[i]) blocks.replace(table[i], existing);
      } else if (!index.has_state()) {
        index.publish_end(parent, salt, chunk, table[i]);
      }
      if (index.has_state() && i + 1 == table.size())
        if (const int32_t slot = index.reserve_slot(/*is_awaited=*/true); slot >= 0)
          index.add_checkpoint(parent, salt, chunk, table[i], slot);
    }
    blocks.release(table);
  }

  PrefixIndex::Match find(const std::vector<int32_t>& tokens, const std::string& salt = "") const {
    return index.find(salt, tokens, static_cast<int32_t>(tokens.size()) - 1);
  }
};

}  // namespace

PAGODA_TEST(prefix_index_keeps_a_claimed_state_and_refuses_one_that_none_awaits) {
  Harness harness(64, true, 2);
  harness.put(iota(0, 8));
  harness.put(iota(100, 64));  // worth more
  const PrefixIndex::Match match = harness.find(iota(0, 9));
  REQUIRE(match.slot >= 0);
  const uint64_t claim = harness.index.claim(match.slot);
  harness.put(iota(200, 8));  // evicts the other one
  CHECK_EQ(harness.find(iota(0, 9)).num_tokens, 8);
  CHECK_EQ(harness.find(iota(100, 65)).num_tokens, 0);
  const PrefixIndex::Match second = harness.find(iota(200, 9));
  REQUIRE(second.slot >= 0);
  const uint64_t second_claim = harness.index.claim(second.slot);
  CHECK_EQ(harness.index.reserve_slot(/*is_awaited=*/false), -1);  // both are claimed
  const int32_t slot = harness.index.reserve_slot(/*is_awaited=*/true);
  REQUIRE(slot >= 0);
  harness.index.give_back_slot(slot);
  harness.put(iota(300, 8));  // takes the slot of the evicted one
  harness.index.unclaim(match.slot, claim);
  harness.index.unclaim(second.slot, second_claim);
  harness.index.unclaim(second.slot, second_claim + 100);  // another state's: no effect
  CHECK(harness.index.reserve_slot(/*is_awaited=*/false) >= 0);
}

PAGODA_TEST(prefix_index_finds_every_token_of_a_model_without_state) {
  Harness harness(16, false, 0);
  harness.put(iota(0, 10));
  CHECK_EQ(harness.find(iota(0, 10)).num_tokens, 9);  // the last token is computed for its logits
  CHECK_EQ(harness.find(iota(0, 20)).num_tokens, 10);
  CHECK_EQ(harness.find(iota(0, 20)).num_matched, 10);
  CHECK_EQ(harness.find(iota(1, 10)).num_tokens, 0);
  std::vector<int32_t> other = iota(0, 12);
  other[6] = 99;
  const auto match = harness.find(other);
  CHECK_EQ(match.num_tokens, 6);
  std::vector<int32_t> table;
  harness.index.chain_to(match.block, table);
  CHECK_EQ(table.size(), 2u);
}

PAGODA_TEST(prefix_index_resumes_only_from_saved_states) {
  Harness harness(16, true, 4);
  harness.put(iota(0, 10));
  CHECK_EQ(harness.find(iota(0, 10)).num_tokens, 0);  // the state after all ten tokens is one token too far
  CHECK_EQ(harness.find(iota(0, 10)).num_matched, 10);
  CHECK_EQ(harness.find(iota(0, 11)).num_tokens, 10);
  harness.put(iota(0, 6));
  CHECK_EQ(harness.find(iota(0, 10)).num_tokens, 6);
  CHECK(harness.find(iota(0, 10)).slot >= 0);
}

PAGODA_TEST(prefix_index_keeps_tenants_apart) {
  Harness harness(16, false, 0);
  harness.put(iota(0, 8), "a");
  CHECK_EQ(harness.find(iota(0, 9), "a").num_tokens, 8);
  CHECK_EQ(harness.find(iota(0, 9), "b").num_matched, 0);
  CHECK_EQ(harness.find(iota(0, 9)).num_matched, 0);
}

PAGODA_TEST(prefix_index_keeps_one_block_for_equal_tokens) {
  Harness harness(16, true, 4);
  for (int i = 0; i < 5; ++i) harness.put(iota(0, 10));
  CHECK_EQ(harness.index.num_nodes(), 3);
  CHECK_EQ(harness.index.num_checkpoints(), 1);
  harness.put(iota(0, 12));  // fills the block in which the ten ended, which has their checkpoint
  CHECK_EQ(harness.index.num_nodes(), 3);
  CHECK_EQ(harness.index.num_checkpoints(), 2);
  CHECK_EQ(harness.find(iota(0, 12)).num_tokens, 10);
  CHECK_EQ(harness.blocks.num_kept(), 3);
}

PAGODA_TEST(prefix_index_gives_up_the_ends_of_the_oldest_first) {
  Harness harness(6, false, 0);
  harness.put(iota(0, 12));
  harness.put(iota(100, 12));
  CHECK_EQ(harness.blocks.num_kept(), 6);
  harness.put(iota(200, 4));  // needs one block: the last of the oldest
  CHECK_EQ(harness.find(iota(0, 13)).num_tokens, 8);
  CHECK_EQ(harness.find(iota(100, 13)).num_tokens, 12);
  CHECK_EQ(harness.blocks.num_evictions(), 1);
}

PAGODA_TEST(prefix_index_look_up_spares_nothing_from_eviction) {
  Harness blocks(6, false, 0);
  blocks.put(iota(0, 12));
  blocks.put(iota(100, 12));
  for (int i = 0; i < 10; ++i) CHECK_EQ(blocks.index.look_up("", iota(0, 13), 12).num_tokens, 12);
  blocks.put(iota(200, 4));
  CHECK_EQ(blocks.find(iota(0, 13)).num_tokens, 8);  // it is still the oldest
  CHECK_EQ(blocks.find(iota(100, 13)).num_tokens, 12);

  Harness states(16, true, 2);
  states.put(iota(0, 5));
  states.put(iota(100, 5));
  for (int i = 0; i < 10; ++i) CHECK_EQ(states.index.look_up("", iota(0, 6), 5).num_tokens, 5);
  states.put(iota(200, 5));
  CHECK_EQ(states.find(iota(0, 6)).num_tokens, 0);
  CHECK_EQ(states.find(iota(100, 6)).num_tokens, 5);
}

// A router looks up every request. The fastest of many tries counts, because the machine may be busy.
PAGODA_TEST(prefix_index_look_up_of_4000_tokens_takes_less_than_a_millisecond) {
  for (const bool has_state : {false, true}) {
    Harness harness(16384, has_state, 64);
    for (int32_t i = 0; i < 12; ++i) {
      std::vector<int32_t> tokens = iota(0, 4000);
      for (size_t k = static_cast<size_t>(i) * 300; k < tokens.size(); ++k) tokens[k] += i;
      harness.put(tokens);
    }
    const std::vector<int32_t> tokens = iota(0, 4001);
    double best = 1e9;
    for (int i = 0; i < 50; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const auto match = harness.index.look_up("", tokens, 4000);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      CHECK_EQ(match.num_tokens, 4000);
    }
    test::note("look_up takes " + std::to_string(best * 1e6) + " us");
    CHECK(best < 1e-3);
  }
}

PAGODA_TEST(prefix_index_gives_up_the_checkpoint_used_longest_ago) {
  Harness harness(16, true, 2);
  harness.put(iota(0, 5));
  harness.put(iota(100, 5));
  harness.index.touch(harness.find(iota(0, 6)).slot);
  harness.put(iota(200, 5));
  CHECK_EQ(harness.find(iota(0, 6)).num_tokens, 5);
  CHECK_EQ(harness.find(iota(100, 6)).num_tokens, 0);
  CHECK_EQ(harness.find(iota(200, 6)).num_tokens, 5);
  CHECK_EQ(harness.index.num_checkpoints(), 2);
  CHECK_EQ(harness.index.num_checkpoint_evictions(), 1);
  CHECK_EQ(harness.states.num_free(), 0);
}

// Everything found was stored under the same salt; if there is space for all, everything stored is found.
static void run_random_puts(uint64_t seed, bool has_state, bool is_large) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](int low, int high) {
    return static_cast<int>(low + rng() % static_cast<uint64_t>(high - low + 1));
  };
  Harness harness(is_large ? 2000 : 12, has_state, has_state ? (is_large ? 400 : 5) : 0);
  std::map<std::string, std::set<std::vector<int32_t>>> put;
  for (int i = 0; i < 200 && !test::failed(); ++i) {
    std::vector<int32_t> tokens;
    for (int n = pick(1, 20); n > 0; --n) tokens.push_back(pick(0, 1));
    const std::string salt = pick(0, 2) == 0 ? "b" : "a";
    const auto match = harness.find(tokens, salt);
    size_t best = 0, best_state = 0;
    for (const auto& other : put[salt]) {
      const size_t common = static_cast<size_t>(std::ranges::mismatch(other, tokens).in1 - other.begin());
      best = std::max(best, common);
      if (common == other.size() && common < tokens.size()) best_state = std::max(best_state, common);
    }
    const size_t expected = has_state ? best_state : std::min(best, tokens.size() - 1);
    CHECK(static_cast<size_t>(match.num_matched) <= best && static_cast<size_t>(match.num_tokens) <= expected);
    if (is_large) CHECK_EQ(static_cast<size_t>(match.num_matched), best);
    if (is_large) CHECK_EQ(static_cast<size_t>(match.num_tokens), expected);
    harness.put(tokens, salt);
    put[salt].insert(tokens);
    CHECK_EQ(harness.index.num_nodes(), harness.blocks.num_kept());
    CHECK_EQ(harness.index.num_checkpoints() + harness.states.num_free(), harness.states.num_slots());
    CHECK_EQ(harness.blocks.num_free(), harness.blocks.num_blocks());
  }
}

PAGODA_TEST(prefix_index_finds_the_longest_of_random_prompts) {
  const uint64_t first = test::seed(1);
  for (uint64_t i = 0; i < 40 && !test::failed(); ++i) {
    run_random_puts(first + i, i % 2 == 0, i % 4 < 2);
    if (test::failed()) test::note("stream " + std::to_string(first + i));
  }
}

// As with a shared system prompt. Comparing with all children would take minutes.
PAGODA_TEST(prefix_index_holds_100000_prompts_behind_one_node) {
  constexpr int32_t kPrompts = 100'000;
  std::mt19937_64 rng(test::seed(2));
  for (const bool has_state : {false, true}) {
    Harness harness(2 * kPrompts, has_state, has_state ? kPrompts : 0);
    std::vector<int32_t> prompt = iota(0, 7);  // diverges at the third, fourth and later tokens of the second block
    const auto write = [&](int32_t i) { prompt[4] = 1, prompt[5] = i / 1000, prompt[6] = i; };
    for (int32_t i = 0; i < kPrompts; ++i) {
      write(i);
      harness.put(prompt);
    }
    CHECK_EQ(harness.index.num_nodes(), kPrompts + 1);
    for (int n = 0; n < 1000; ++n) {
      write(static_cast<int32_t>(rng() % kPrompts));
      std::vector<int32_t> longer = prompt;
      longer.push_back(-1);
      CHECK_EQ(harness.find(longer).num_tokens, 7);
      longer[6] = -1;  // in no prompt
      CHECK_EQ(harness.find(longer).num_matched, 6);
      CHECK_EQ(harness.find(longer).num_tokens, has_state ? 0 : 6);
      longer[5] = -1;
      CHECK_EQ(harness.find(longer).num_matched, 5);
    }
  }
}

PAGODA_TEST(checkpoint_plan_chooses_turns_and_a_grid) {
  const std::vector<int32_t> none, eos{7};
  std::vector<int32_t> prompt(1000, 1);
  CHECK(plan_checkpoints(prompt, eos, none, 16) == (std::vector<int32_t>{256, 512, 768, 999}));
  prompt[599] = 7;
  CHECK(plan_checkpoints(prompt, eos, none, 16) == (std::vector<int32_t>{256, 512, 600, 768, 999}));
  prompt[994] = 7;  // five tokens open the answer: the match ends at the turn, not at the prompt
  CHECK(plan_checkpoints(prompt, eos, none, 16) == (std::vector<int32_t>{256, 512, 600, 768, 995}));
  CHECK(plan_checkpoints(prompt, eos, std::vector<int32_t>{300, 0, -5, 1000, 300}, 16) ==
        (std::vector<int32_t>{256, 300, 512, 600, 768, 995}));
  CHECK(plan_checkpoints(prompt, eos, none, 2) == (std::vector<int32_t>{600, 995}));
  CHECK(plan_checkpoints(prompt, eos, none, 0).empty());
  CHECK(plan_checkpoints(std::vector<int32_t>{1}, eos, none, 16).empty());
  CHECK(plan_checkpoints(std::vector<int32_t>{1, 2}, eos, none, 16) == (std::vector<int32_t>{1}));
  CHECK(plan_checkpoints(std::vector<int32_t>(100000, 1), eos, none, 16).size() <= 9);
}

}  // namespace pagoda::cache
