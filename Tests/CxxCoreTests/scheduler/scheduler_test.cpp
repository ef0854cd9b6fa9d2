// scheduler: policy by example, and invariants after every step of random request streams.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "scheduler/scheduler_harness.h"

namespace pagoda::scheduler {

PAGODA_TEST(scheduler_a_step_stays_within_its_tokens_and_advances_all_running_sequences) {
  Harness harness(64, 16, limits(8, 256));
  for (int i = 0; i < 6; ++i) harness.add(100, 10);
  for (const int32_t given : {256, 16, 1, 1, 1000}) {
    const int32_t running = harness.scheduler.num_running();
    const StepPlan& plan = harness.scheduler.schedule(given);
    CHECK_EQ(plan.num_tokens(), std::min(256, std::max(given, running)));
    harness.commit(plan);
  }
}

PAGODA_TEST(scheduler_cuts_long_prompts_to_the_token_budget) {
  Harness harness(64, 16, limits(4, 32));
  Sequence* s = harness.add(70, 4);
  std::vector<int> chunks;
  for (int i = 0; i < 3; ++i) {
    const StepPlan& plan = harness.scheduler.schedule();
    REQUIRE(plan.sequences.size() == 1);
    chunks.push_back(plan.sequences[0].num_tokens);
    harness.commit(plan);
  }
  CHECK(chunks == (std::vector<int>{32, 32, 6}));
  CHECK_EQ(s->num_tokens(), 71);
}

PAGODA_TEST(scheduler_runs_decodes_before_prompts) {
  Harness harness(64, 16, limits(4, 8));
  Sequence* first = harness.add(4, 8);
  harness.commit(harness.scheduler.schedule());
  Sequence* second = harness.add(20, 8);
  const StepPlan& plan = harness.scheduler.schedule();
  REQUIRE(plan.sequences.size() == 2);
  CHECK(plan.sequences[0].sequence == first && plan.sequences[0].num_tokens == 1);
  CHECK(plan.sequences[1].sequence == second && plan.sequences[1].num_tokens == 7);
}

PAGODA_TEST(scheduler_reads_a_short_prompt_beside_a_long_one) {
  Harness harness(1024, 16, {.max_num_tokens = 256, .max_num_seqs = 4, .max_model_len = 16384});
  Sequence* first = harness.add(12000, 4);
  for (int i = 0; i < 3; ++i) harness.commit(harness.scheduler.schedule());
  Sequence* second = harness.add(20, 4);
  harness.commit(harness.scheduler.schedule());
  CHECK_EQ(second->num_tokens(), 21);                  // the second has its first token
  CHECK_EQ(first->num_computed_tokens, 4 * 256 - 20);  // and the first gets the rest of the step
}

PAGODA_TEST(scheduler_lets_others_pass_one_that_waits_for_room) {
  Harness harness(8, 16, limits(4, 64));
  harness.add(80, 20);
  for (int i = 0; i < 2; ++i) harness.commit(harness.scheduler.schedule());  // it holds six of eight blocks
  Sequence* large = harness.add(100, 4);
  for (int i = 0; i < 2 * kMaxPasses; ++i) harness.add(2, 1);
  while (large->state == SequenceState::waiting && !test::failed()) {
    CHECK(harness.scheduler.has_work());
    harness.commit(harness.scheduler.schedule());
  }
  CHECK_EQ(harness.scheduler.num_waiting(), kMaxPasses);  // the others passed, but not more often than allowed
}

PAGODA_TEST(scheduler_runs_urgent_classes_first) {
  Harness harness(64, 16, limits(1, 64));
  std::vector<Sequence*> added;
  for (const int32_t priority : {0, 5, -3, 5, 0}) added.push_back(harness.add(10, 1, priority));
  std::vector<int32_t> order;
  while (harness.scheduler.has_work()) {
    const StepPlan& plan = harness.scheduler.schedule();
    REQUIRE(plan.sequences.size() == 1);
    order.push_back(static_cast<int32_t>(std::ranges::find(added, plan.sequences[0].sequence) - added.begin()));
    harness.commit(plan);
  }
  CHECK(order == (std::vector<int32_t>{2, 0, 4, 1, 3}));
}

PAGODA_TEST(scheduler_preempts_the_least_urgent) {
  Harness harness(3, 8, limits(2, 64));
  Sequence* old = harness.add(8, 12, 1);
  Sequence* urgent = harness.add(8, 12, 0);
  harness.commit(harness.scheduler.schedule());
  const StepPlan& plan = harness.scheduler.schedule();
  CHECK(plan.preempted == std::vector<Sequence*>{old});
  REQUIRE(plan.sequences.size() == 1);
  CHECK(plan.sequences[0].sequence == urgent);
}

// One client with a hundred requests and two with a few: while all wait, each gets a third of the tokens.
PAGODA_TEST(scheduler_gives_clients_equal_shares) {
  Harness harness(256, 16, limits(4, 32));
  std::map<std::string, int64_t> used;
  for (int i = 0; i < 100; ++i) harness.add(40, 8, 0, "busy");
  for (int i = 0; i < 20; ++i) harness.add(40, 8, 0, "a"), harness.add(40, 8, 0, "b");
  for (int i = 0; i < 60; ++i) {
    const StepPlan& plan = harness.scheduler.schedule();
    for (const ScheduledSequence& row : plan.sequences) used[row.sequence->share_id] += row.num_tokens;
    harness.commit(plan);
  }
  const int64_t total = used["busy"] + used["a"] + used["b"];
  CHECK(total > 800);
  for (const char* share : {"busy", "a", "b"}) CHECK(std::abs(3 * used[share] - total) <= 3 * 2 * 48);
  // A client that returns gets no more than one that stayed.
  Sequence* late = harness.add(40, 8, 0, "late");
  for (int i = 0; i < 8 && late->num_computed_tokens < 40; ++i) harness.commit(harness.scheduler.schedule());
  CHECK(late->num_computed_tokens >= 40);
}

// Two clients that used very different numbers of tokens long ago, then an idle time: both start from zero.
PAGODA_TEST(scheduler_forgets_old_shares_after_an_idle_time) {
  Harness harness(256, 16, limits(4, 32));
  harness.add(40, 8, 0, "light");
  for (int i = 0; i < 50; ++i) harness.add(40, 8, 0, "heavy");
  while (!harness.alive.empty()) harness.commit(harness.scheduler.schedule());
  std::map<std::string, int64_t> used;
  for (int i = 0; i < 20; ++i) harness.add(40, 8, 0, "light"), harness.add(40, 8, 0, "heavy");
  for (int i = 0; i < 30; ++i) {
    const StepPlan& plan = harness.scheduler.schedule();
    for (const ScheduledSequence& row : plan.sequences) used[row.sequence->share_id] += row.num_tokens;
    harness.commit(plan);
  }
  CHECK(used["light"] > 200);
  CHECK(std::abs(used["light"] - used["heavy"]) <= 2 * 48);
}

// New short prompts in every step, more than it can read: the bounds of scheduler.h apply to a long one.
PAGODA_TEST(scheduler_starves_no_request) {
  std::mt19937_64 rng(test::seed(3));
  for (int round = 0; round < 20; ++round) {
    const int32_t seqs = 2 + static_cast<int32_t>(rng() % 6), tokens = seqs + static_cast<int32_t>(rng() % 60);
    Harness harness(4096, 16, limits(seqs, tokens));
    const auto add_shorts = [&] {
      for (int i = 0; i < 4; ++i) harness.add(1 + static_cast<int>(rng() % 40), 1 + static_cast<int>(rng() % 3));
    };
    for (int i = 0; i < 5; ++i) {
      add_shorts();
      harness.commit(harness.scheduler.schedule());
    }
    const int32_t k = harness.scheduler.num_waiting();
    Sequence* victim = harness.add(2000, 1);
    const uint64_t id = victim->id;
    int32_t num_admitted_before = 0;
    std::set<uint64_t> passed;
    while (victim->state == SequenceState::waiting && !test::failed()) {
      add_shorts();
      const StepPlan& plan = harness.scheduler.schedule();
      for (const ScheduledSequence& row : plan.sequences)
        if (row.sequence->id > id && passed.insert(row.sequence->id).second) ++num_admitted_before;
      harness.commit(plan);
      CHECK(num_admitted_before <= (k + 1) * kMaxPasses);
    }
    int32_t older_tokens = 0, num_older = 0, least = tokens, num_steps = 0;
    for (const auto& [other, s] : harness.alive)
      if (other < id && s->state == SequenceState::running) older_tokens += s->num_uncomputed(), ++num_older;
    for (; harness.alive.contains(id) && !test::failed(); ++num_steps) {
      add_shorts();
      const StepPlan& plan = harness.scheduler.schedule();
      int32_t num_decodes = 0;
      for (const ScheduledSequence& row : plan.sequences) num_decodes += row.sequence->num_uncomputed() == 1;
      least = std::min(least, std::max(1, (tokens - num_decodes) / kOldestPart));
      harness.commit(plan);
      CHECK(num_steps <= (2000 + older_tokens) / least + num_older + 1);
    }
  }
}

PAGODA_TEST(scheduler_preempts_the_newest_when_blocks_run_out) {
  Harness harness(3, 8, limits(2, 64));
  Sequence* old = harness.add(8, 12);
  Sequence* young = harness.add(8, 12);
  harness.commit(harness.scheduler.schedule());         // both computed their prompt: one block each
  const StepPlan& plan = harness.scheduler.schedule();  // each needs a second block, one is free
  CHECK(plan.preempted == std::vector<Sequence*>{young});
  REQUIRE(plan.sequences.size() == 1);
  CHECK(plan.sequences[0].sequence == old);
  CHECK_EQ(young->num_computed_tokens, 0);
  CHECK_EQ(young->num_preemptions, 1);
  harness.check_accounts();
}

PAGODA_TEST(scheduler_refuses_requests_that_can_never_fit_with_the_numbers) {
  Harness harness(4, 16, limits(2, 64));
  CHECK_OK(harness.scheduler.check_admission(60, 5));  // the 65th token is never cached
  const Status pool = harness.scheduler.check_admission(60, 6);
  CHECK(pool.code == StatusCode::context_overflow);
  CHECK(pool.message.find("5 KV blocks") != std::string::npos);
  const Status context = harness.scheduler.check_admission(4000, 97);
  CHECK(context.code == StatusCode::context_overflow);
  CHECK(context.message.find("4097") != std::string::npos);
}

// Random prompts, lengths and aborts under random limits, until all sequences are done.
static void run_random_stream(uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](int low, int high) {
    return static_cast<int>(low + rng() % static_cast<uint64_t>(high - low + 1));
  };
  const int32_t block_size = 8 << pick(0, 2), seqs = pick(1, 6);
  Harness harness(pick(4, 40), block_size, limits(seqs, pick(seqs, 64), pick(0, 1)));
  int to_add = pick(5, 30), steps = 0;
  while ((to_add > 0 || harness.scheduler.has_work()) && !test::failed()) {
    if (to_add > 0 && pick(0, 2) == 0) {
      const int prompt = pick(1, 100), output = pick(1, 40);
      if (harness.scheduler.check_admission(prompt, output).is_ok())
        harness.add(prompt, output, pick(0, 3) - 1, std::string(static_cast<size_t>(pick(0, 3)), 's'));
      --to_add;
    }
    if (!harness.alive.empty() && pick(0, 19) == 0) {
      auto victim = harness.alive.begin();
      std::advance(victim, pick(0, static_cast<int>(harness.alive.size()) - 1));
      harness.drop(victim->second.get());
    }
    const bool had_work = harness.scheduler.has_work();
    const StepPlan& plan = harness.scheduler.schedule();
    if (had_work && plan.preempted.empty()) CHECK(!plan.sequences.empty());  // always makes progress
    harness.check_plan(plan);
    harness.check_accounts();
    harness.commit(plan);
    harness.check_accounts();
    if (++steps > 100000) return test::fail(__FILE__, __LINE__, "the stream does not end");
  }
  CHECK_EQ(harness.blocks.num_free(), harness.blocks.num_blocks());
  CHECK_EQ(harness.states.num_free(), harness.states.num_slots());
}

PAGODA_TEST(scheduler_keeps_its_invariants_under_random_streams) {
  const uint64_t first = test::seed(1);
  for (uint64_t i = 0; i < 200 && !test::failed(); ++i) {
    run_random_stream(first + i);
    if (test::failed()) test::note("stream " + std::to_string(first + i));
  }
}

}  // namespace pagoda::scheduler
