// The measurement of speculation: rows per kind of text, an oracle with a given acceptance rate, and no differing bits.
#include <vector>

#include "pagoda/speculation_bench.h"
#include "support/test.h"

namespace pagoda::bench {
namespace {

struct Measured {
  Status status;
  std::vector<SpeculationBenchRow> rows;
};

Measured measure(const ModelSource& source, SpeculationBenchSettings settings) {
  EngineOptions options;
  options.num_threads = 1;
  options.max_model_len = 512;
  options.max_num_seqs = settings.num_sequences;
  Measured measured;
  const auto keep = [](void* context, const SpeculationBenchRow* row) {
    static_cast<std::vector<SpeculationBenchRow>*>(context)->push_back(*row);
  };
  measured.status = bench_speculation(source, options, settings, keep, &measured.rows);
  return measured;
}

SpeculationBenchSettings short_settings() {
  SpeculationBenchSettings settings;
  settings.num_tokens = 24;
  settings.num_rounds = 1;
  return settings;
}

}  // namespace

PAGODA_TEST(speculation_bench_measures_each_prompt_and_no_bit_differs) {
  SpeculationBenchSettings settings = short_settings();
  settings.num_sequences = 2;
  settings.prompts = speculation_bench_prompts();
  CHECK_EQ(settings.prompts.size(), size_t{4});
  settings.prompts = {{"loop", "a b c a b c a b c a b c a b c a b c"}, settings.prompts[2]};
  const Measured measured = measure({test::mini_model_dir(), {}}, settings);
  REQUIRE_OK(measured.status);
  REQUIRE(measured.rows.size() == 2);
  CHECK_EQ(measured.rows[0].kind, "loop");
  for (const SpeculationBenchRow& row : measured.rows) {
    CHECK_EQ(row.num_differing_bits, 0);
    CHECK(row.plain_tokens_per_second > 0 && row.tokens_per_second > 0 && row.speedup > 0);
  }
  CHECK(measured.rows[0].speculation.num_drafted_tokens + measured.rows[1].speculation.num_drafted_tokens > 0);
}

PAGODA_TEST(speculation_bench_has_an_oracle_that_holds_as_often_as_asked) {
  SpeculationBenchSettings settings = short_settings();
  for (const double accept : {0.0, 1.0}) {
    settings.accept = accept;
    const Measured measured = measure({"", {}, "tiny"}, settings);
    REQUIRE_OK(measured.status);
    REQUIRE(measured.rows.size() == 1);
    const SpeculationStats& stats = measured.rows[0].speculation;
    CHECK(stats.num_drafted_tokens > 0);
    CHECK_EQ(stats.num_accepted_tokens, accept == 1.0 ? stats.num_drafted_tokens : 0);
    CHECK_EQ(measured.rows[0].num_differing_bits, 0);
  }
}

PAGODA_TEST(speculation_bench_refuses_what_it_cannot_measure) {
  SpeculationBenchSettings settings = short_settings();
  settings.num_tokens = 1;
  CHECK(measure({"", {}, "tiny"}, settings).status.code == StatusCode::invalid_argument);
  settings = short_settings();
  settings.accept = 1.5;
  CHECK(measure({"", {}, "tiny"}, settings).status.code == StatusCode::invalid_argument);
  CHECK(!measure({"no such folder", {}}, short_settings()).status.is_ok());
}

}  // namespace pagoda::bench
