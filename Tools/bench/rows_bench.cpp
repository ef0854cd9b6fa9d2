// Measures the cost of several rows of one sequence relative to one, per operation: steps with 0 to 15 drafts from an
// oracle that is always right, interleaved, and the minimum time of each operation over the rounds.
// Build: make -C Tools/native rows_bench
// Usage: rows_bench shape:NAME|MODEL_FOLDER [QUANTIZE [CONTEXT [ROUNDS [THREADS]]]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/oracle.h"
#include "engine/load/loader.h"

namespace {

using namespace pagoda;

constexpr int kSteps = 8;  // measured per round
constexpr int kRows[] = {1, 2, 3, 4, 5, 8, 12, 16};

struct Answer {
  std::vector<int32_t> tokens;
  static void on_event(void* context, const Event* event) {
    if (event->kind == EventKind::token) static_cast<Answer*>(context)->tokens.push_back(event->token_id);
  }
};

Request request_of(int context, int num_tokens) {
  Request request;
  for (int i = 0; i < context; ++i) request.prompt_ids.push_back(1 + (i * 7919) % 1000);
  request.sampling.max_tokens = num_tokens;
  request.sampling.ignore_eos = true;
  request.sampling.temperature = 0;
  return request;
}

using Times = std::map<std::string, double>;  // milliseconds per step by operation

// Runs the prompt, a few steps to settle, then kSteps steps of `rows` rows, which are timed.
Times run(engine::LoadedModel& loaded, const Request& request, int rows, const std::shared_ptr<bench::Oracle>& oracle,
          Answer& answer) {
  engine::CoreConfig config = loaded.core;
  config.prefix_cache = false;
  config.uses_head = false;
  config.max_drafts = rows - 1;
  engine::TestHooks hooks;
  hooks.drafter = oracle;
  engine::EngineCore core(*loaded.model, config, std::move(hooks));
  auto prepared = core.prepare(request, 1, &Answer::on_event, &answer);
  if (!prepared.is_ok()) std::fprintf(stderr, "%s\n", prepared.status.message.c_str()), std::exit(1);
  core.add(std::move(*prepared));
  while (answer.tokens.size() < 2 && core.has_work()) core.step();
  Times least;
  loaded.device->set_profiling(true);
  for (int step = 0; step < kSteps && core.has_work(); ++step) {
    (void)loaded.device->take_profile();
    const size_t before = answer.tokens.size();
    const auto begin = std::chrono::steady_clock::now();
    core.step();
    const double total = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (answer.tokens.size() - before != static_cast<size_t>(rows)) continue;  // truncated at the end of a block
    Times times;
    double inside = 0;
    for (const OpTime& op : loaded.device->take_profile()) times[op.name] += op.seconds * 1e3, inside += op.seconds;
    times["step"] = total * 1e3;
    times["outside operations"] = (total - inside) * 1e3;
    for (const auto& [name, ms] : times) {
      const auto found = least.find(name);
      if (found == least.end() || ms < found->second) least[name] = ms;
    }
  }
  loaded.device->set_profiling(false);
  core.end_all(FinishReason::cancelled, ok_status());
  return least;
}

// The prompt and the answer without drafts.
std::vector<int32_t> text_of(engine::LoadedModel& loaded, const Request& request) {
  engine::CoreConfig config = loaded.core;
  config.max_drafts = config.limits.max_draft_rows = 0;
  config.prefix_cache = config.uses_head = false;
  engine::EngineCore core(*loaded.model, config);
  Answer whole;
  auto prepared = core.prepare(request, 1, &Answer::on_event, &whole);
  if (!prepared.is_ok()) std::fprintf(stderr, "%s\n", prepared.status.message.c_str()), std::exit(1);
  core.add(std::move(*prepared));
  while (core.has_work()) core.step();
  std::vector<int32_t> text = request.prompt_ids;
  text.insert(text.end(), whole.tokens.begin(), whole.tokens.end());
  return text;
}

void print(std::map<int, Times>& least) {
  std::printf("%-22s %9s", "operation", "1 row ms");
  for (const int rows : kRows) std::printf("   c(%d)", rows);
  std::printf("\n");
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, ms] : least[1]) order.emplace_back(ms, name);
  std::sort(order.rbegin(), order.rend());
  for (const auto& [ms, name] : order) {
    std::printf("%-22s %9.3f", name.c_str(), ms);
    for (const int rows : kRows) std::printf(" %6.2f", least[rows][name] / ms);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: see the head of rows_bench.cpp\n"), 1;
  const std::string model = argv[1];
  const int context = argc > 3 ? std::atoi(argv[3]) : 128, rounds = argc > 4 ? std::atoi(argv[4]) : 5;
  EngineOptions options;
  if (argc > 2) options.quantize = argv[2];
  if (argc > 5) options.num_threads = std::atoi(argv[5]);
  options.speculation = "lookup";
  options.max_num_seqs = 1;
  options.max_model_len = context + 128;
  ModelSource source{model, {}};
  if (model.starts_with("shape:")) source = {"", {}, model.substr(6)};
  auto loaded = engine::load(source, options, nullptr);
  if (!loaded.is_ok()) return std::fprintf(stderr, "%s\n", loaded.status.message.c_str()), 1;

  const Request request = request_of(context, 100);
  auto oracle = std::make_shared<bench::Oracle>(1.0);
  oracle->learn(1, text_of(*loaded, request));
  std::map<int, Times> least;
  for (int round = 0; round < rounds; ++round)
    for (const int rows : kRows) {
      Answer answer;
      for (const auto& [name, ms] : run(*loaded, request, rows, oracle, answer)) {
        double& best = least[rows].try_emplace(name, ms).first->second;
        best = std::min(best, ms);
      }
    }
  print(least);
  return 0;
}
