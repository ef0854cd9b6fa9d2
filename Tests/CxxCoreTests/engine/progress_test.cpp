// engine core: progress of a prompt is reported per step to requests that ask for it, and changes nothing else.
#include <algorithm>
#include <vector>

#include "engine/fake_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::Recorder;
using test::Shape;

Request long_request(int num_tokens, int32_t progress_interval_ms) {
  Request request;
  for (int i = 0; i < num_tokens; ++i) request.prompt_ids.push_back(i % test::kFakeVocab);
  request.sampling.max_tokens = 4;
  request.sampling.num_top_logprobs = 0;
  request.sampling.temperature = 0;
  request.progress_interval_ms = progress_interval_ms;
  return request;
}

PAGODA_TEST(engine_reports_the_progress_of_a_prompt_after_each_step) {
  FakeHarness harness({.max_num_tokens = 64});
  Recorder told, untold;
  CHECK_OK(harness.add(long_request(300, 0), 1, told));
  harness.run();
  CHECK(told.progress.size() >= 4);  // 300 tokens in steps of 64
  CHECK(std::ranges::is_sorted(told.progress) && told.progress.front() > 0 && told.progress.back() < 300);
  CHECK_OK(harness.add(long_request(300, -1), 2, untold));
  harness.run();
  CHECK(untold.progress.empty());
  CHECK(untold.tokens == told.tokens && untold.logprob_bits == told.logprob_bits);
}

PAGODA_TEST(engine_limits_the_rate_of_progress_events) {
  FakeHarness harness({.max_num_tokens = 64});
  Recorder recorder;
  CHECK_OK(harness.add(long_request(300, 3'600'000), 1, recorder));
  harness.run();
  CHECK(recorder.progress.size() == 1);  // the first; the next is due in an hour
}

PAGODA_TEST(engine_counts_cached_tokens_as_read) {
  FakeHarness harness({.max_num_tokens = 64, .max_checkpoints = 8});
  Recorder first, again;
  CHECK_OK(harness.add(long_request(300, 0), 1, first));
  harness.run();
  CHECK_OK(harness.add(long_request(500, 0), 2, again));
  harness.run();
  CHECK(again.usage.cached_tokens > 0 && !again.progress.empty());
  CHECK(again.progress.front() > again.usage.cached_tokens);
}

PAGODA_TEST(engine_reports_no_progress_of_a_prompt_that_is_computed_again) {
  FakeHarness harness({.num_blocks = 16, .max_num_seqs = 2, .max_num_tokens = 32});
  Recorder a, b;
  Request request = long_request(96, 0);
  request.sampling.max_tokens = 100;
  CHECK_OK(harness.add(request, 1, a));
  CHECK_OK(harness.add(request, 2, b));
  harness.run();  // the recorder checks that no progress follows a token
  CHECK(a.tokens.size() == 100 && b.tokens.size() == 100);
}

}  // namespace
}  // namespace pagoda::engine
