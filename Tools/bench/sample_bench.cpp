// Measures sampling of rows of 248,320 logits by what their requests ask for: the minimum over rounds.
// Build: make -C Tools/native sample_bench
// Usage: sample_bench [ROWS [ROUNDS [THREADS]]]
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/threads/usable_cores.h"
#include "engine/rows/row_sampler.h"
#include "sampler/sampler.h"

namespace {

using namespace pagoda;

constexpr size_t kVocab = 248320;  // of Qwen3.5
constexpr int kOutput = 2000;      // tokens counted by penalties

struct Row {
  SamplingParams params;
  sampler::TokenCounts counts;
  std::vector<uint64_t> allowed;
  std::vector<float> logits;
};

// Logits of a model that hesitates between a few hundred tokens.
std::vector<float> make_logits(std::mt19937& random) {
  std::normal_distribution<float> noise(0.0f, 2.5f);
  std::vector<float> logits(kVocab);
  for (float& logit : logits) logit = noise(random);
  for (int i = 0; i < 300; ++i) logits[random() % kVocab] += 10.0f;
  return logits;
}

void count(Row& row, std::mt19937& random) {
  const bool repetition = row.params.repetition_penalty != 1.0f;
  row.counts.output.assign(kVocab, 0);
  row.counts.is_listed = true;
  if (repetition) row.counts.in_prompt.assign(kVocab, 0);
  for (int i = 0; i < kOutput; ++i) row.counts.note_output(static_cast<int32_t>(random() % kVocab));
  for (int i = 0; repetition && i < kOutput; ++i) row.counts.note_prompt(static_cast<int32_t>(random() % kVocab));
}

void allow(Row& row, std::mt19937& random, uint32_t per_mille) {
  row.allowed.assign((kVocab + 63) / 64, 0);
  for (size_t id = 0; id < kVocab; ++id)
    if (random() % 1000 < per_mille) row.allowed[id / 64] |= uint64_t{1} << (id % 64);
}

using Change = std::function<void(Row&, std::mt19937&)>;

const std::vector<std::pair<const char*, Change>> kKinds = {
    {"greedy", [](Row& row, std::mt19937&) { row.params.temperature = 0; }},
    {"top-k 20", [](Row& row, std::mt19937&) { row.params.top_k = 20; }},
    {"presence 1.5, top-k 20, top-p 0.95",
     [](Row& row, std::mt19937& random) {
       row.params.presence_penalty = 1.5f;
       row.params.top_k = 20;
       row.params.top_p = 0.95f;
       count(row, random);
     }},
    {"repetition 1.1, top-k 20",
     [](Row& row, std::mt19937& random) {
       row.params.repetition_penalty = 1.1f;
       row.params.top_k = 20;
       count(row, random);
     }},
    {"10 biases, top-k 20",
     [](Row& row, std::mt19937& random) {
       row.params.top_k = 20;
       for (int i = 0; i < 10; ++i) row.params.logit_bias.push_back({static_cast<int32_t>(random() % kVocab), 2.0f});
     }},
    {"mask of 90 %, greedy",
     [](Row& row, std::mt19937& random) {
       row.params.temperature = 0;
       allow(row, random, 900);
     }},
    {"mask of 1 %, top-k 20",
     [](Row& row, std::mt19937& random) {
       row.params.top_k = 20;
       allow(row, random, 10);
     }},
    {"20 logprobs, greedy",
     [](Row& row, std::mt19937&) {
       row.params.temperature = 0;
       row.params.num_top_logprobs = 20;
     }},
    {"top-p 0.95", [](Row& row, std::mt19937&) { row.params.top_p = 0.95f; }},
    {"min-p 0.05", [](Row& row, std::mt19937&) { row.params.min_p = 0.05f; }},
    {"temperature 1", [](Row&, std::mt19937&) {}},
    {"presence 1.5, mask, 20 logprobs, top-p 0.95",
     [](Row& row, std::mt19937& random) {
       row.params.presence_penalty = 1.5f;
       row.params.top_p = 0.95f;
       row.params.num_top_logprobs = 20;
       count(row, random);
       allow(row, random, 900);
     }},
};

// Of this thread: other programs do not count.
double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

struct Figures {
  double cpu_ms = 1e9, wall_ms = 1e9;  // per row: CPU time on one thread, and time on several
  int64_t sum = 0;                     // of the sampled ids, which any two versions must share
};

Figures measure(std::vector<Row>& rows, int num_rounds, int num_threads) {
  const auto count = static_cast<double>(rows.size());
  sampler::Sampler sampler(static_cast<int32_t>(kVocab));
  engine::RowSampler together(static_cast<int32_t>(kVocab), static_cast<int32_t>(rows.size()), num_threads);
  sampler::SampleOutput output;
  Figures figures;
  for (int round = 0; round < num_rounds; ++round) {
    together.begin();
    const double begin = cpu_milliseconds();
    figures.sum = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const sampler::SampleInput input{.logits = rows[i].logits,
                                       .params = &rows[i].params,
                                       .counts = &rows[i].counts,
                                       .history = {},
                                       .allowed = rows[i].allowed,
                                       .banned = {},
                                       .seed = 7,
                                       .token_index = i};
      const Status status = sampler.sample(input, output);
      if (!status.is_ok()) std::printf("%s\n", status.message.c_str());
      figures.sum = (figures.sum * 31 + output.token_id) % 1'000'000'007;
      together.add(i, input);
    }
    figures.cpu_ms = std::min(figures.cpu_ms, (cpu_milliseconds() - begin) / count);
    const auto start = std::chrono::steady_clock::now();
    together.run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    figures.wall_ms = std::min(figures.wall_ms, took.count() / count);
  }
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  const int num_rows = argc > 1 ? std::atoi(argv[1]) : 32, num_rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const int num_threads = argc > 3 ? std::atoi(argv[3]) : std::min(usable_cores(), 8);
  std::printf("| %-44s | CPU ms per row | ms per row, %d threads | sum of ids |\n|---|---|---|---|\n", "request",
              num_threads);
  for (const auto& [name, change] : kKinds) {
    std::mt19937 random(1);
    std::vector<Row> rows(static_cast<size_t>(num_rows));
    for (Row& row : rows) {
      row.params.temperature = 1.0f;
      row.logits = make_logits(random);
      change(row, random);
    }
    const Figures figures = measure(rows, num_rounds, num_threads);
    std::printf("| %-44s | %14.3f | %21.3f | %10lld |\n", name, figures.cpu_ms, figures.wall_ms,
                static_cast<long long>(figures.sum));
  }
}
