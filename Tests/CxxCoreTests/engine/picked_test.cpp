// engine: greedy requests and those that sample among the most likely tokens fetch no logits from a device that
// samples; all others fetch their own row, and no answer changes.
#include "device/gpu/far_backend.h"
#include "device/gpu/gpu_device.h"
#include "engine/fake_harness.h"
#include "engine/model_harness.h"
#include "model/model_runner.h"
#include "support/grammar_kit.h"

namespace pagoda::engine {
namespace {

using device::gpu::FarBackend;
using test::Recorder;

constexpr int32_t kOutput = 6;

Request make_request(int32_t first, void (*change)(SamplingParams&)) {
  Request request;
  for (int32_t i = 0; i < 9; ++i) request.prompt_ids.push_back((first * 31 + i * 7) % 60 + 1);
  request.sampling.max_tokens = kOutput;
  request.sampling.ignore_eos = true;
  change(request.sampling);
  return request;
}

// A model and its engine on `device`.
struct Harness {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<model::Model> model;
  std::unique_ptr<EngineCore> core;
  int32_t vocab_size = 0;

  explicit Harness(std::unique_ptr<device::Device> on,
                   std::shared_ptr<const text::SubwordTokenizer> tokenizer = nullptr)
      : device(std::move(on)) {
    auto opened = test::open_model(test::folder(test::fixtures_dir() + "/model/qwen3_5"));
    CHECK_OK(opened);
    auto loaded =
        model::load_model(opened->config, *opened->checkpoint, *device, WeightFormat::f32, DType::f32, 16, nullptr);
    CHECK_OK(loaded);
    CoreConfig config;
    config.limits = {.num_kv_blocks = 16,
                     .num_state_slots = 4,
                     .max_num_tokens = 24,
                     .max_num_seqs = 4,
                     .max_logits_rows = 4,
                     .max_blocks_per_seq = 4,
                     .block_size = 16};
    config.limits.max_model_len = 64;
    config.vocab_size = vocab_size = opened->config.vocab_size;
    config.prefix_cache = false;
    config.tokenizer = std::move(tokenizer);
    config.eos_token_ids = {1};
    model = std::move(*loaded);
    CHECK_OK(model->allocate(config.limits));
    core = std::make_unique<EngineCore>(*model, config);
  }

  std::vector<std::vector<int32_t>> run(const std::vector<Request>& requests) {
    std::vector<Recorder> recorders(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      auto prepared = core->prepare(requests[i], i + 1, &Recorder::on_event, &recorders[i]);
      CHECK_OK(prepared);
      core->add(std::move(*prepared));
    }
    while (core->has_work()) core->step();
    std::vector<std::vector<int32_t>> tokens;
    for (const Recorder& recorder : recorders) {
      CHECK_OK(recorder.status);
      tokens.push_back(recorder.tokens);
    }
    return tokens;
  }
};

}  // namespace

PAGODA_TEST(engine_highest_tokens_come_without_logits) {
  FarBackend::Counts counts;
  auto software = device::gpu::software::SoftwareBackend::create({.num_threads = 2});
  REQUIRE_OK(software);
  Harness far(device::gpu::make_gpu_device(std::make_unique<FarBackend>(std::move(*software), counts)));
  Harness cpu(std::move(*device::make_device("cpu", 2)));
  const auto nothing = [](SamplingParams&) {};
  const std::vector<Request> greedy = {make_request(1, nothing), make_request(2, nothing),
                                       make_request(3, [](SamplingParams& p) { p.temperature = 1, p.top_k = 1; })};
  counts = {};
  CHECK(far.run(greedy) == cpu.run(greedy));
  CHECK_EQ(counts.downloaded_bytes, int64_t{3} * kOutput * 4);  // ids

  // The middle one needs its logits: only those are fetched.
  std::vector<Request> mixed = greedy;
  mixed[1] = make_request(2, [](SamplingParams& p) { p.top_n_sigma = 0.1f, p.logit_bias = {{5, 100.0f}}; });
  counts = {};
  const auto answers = far.run(mixed);
  CHECK(answers == cpu.run(mixed));
  CHECK(answers != cpu.run(greedy));
  const int64_t row_bytes = int64_t{far.vocab_size} * 4;
  CHECK_EQ(counts.downloaded_bytes, int64_t{3} * kOutput * 4 + kOutput * row_bytes);
}

PAGODA_TEST(engine_drawn_tokens_come_without_logits) {
  FarBackend::Counts counts;
  auto software = device::gpu::software::SoftwareBackend::create({.num_threads = 2});
  REQUIRE_OK(software);
  Harness far(device::gpu::make_gpu_device(std::make_unique<FarBackend>(std::move(*software), counts)));
  Harness near(std::move(*device::make_device("software", 2)));
  const auto draw = [](SamplingParams& p) { p.temperature = 2, p.top_k = 40, p.has_seed = true, p.seed = 7; };
  const std::vector<Request> drawn = {
      make_request(1, draw), make_request(2, [](SamplingParams&) {}), make_request(3, [](SamplingParams& p) {
        p.temperature = 1.5f, p.top_k = 64, p.top_p = 0.9f, p.min_p = 0.01f, p.has_seed = true, p.seed = 8;
      })};
  // The same rows from the sampler, which needs the logits for a rule that devices lack: it changes nothing here.
  std::vector<Request> seen = drawn;
  for (Request& request : seen) request.sampling.dynatemp_range = 1e-30f;
  counts = {};
  const auto answers = far.run(drawn);
  CHECK_EQ(counts.downloaded_bytes, int64_t{3} * kOutput * 4);  // ids
  CHECK(answers == near.run(seen));
  CHECK(answers[0] != near.run({make_request(1, [](SamplingParams&) {})})[0]);
}

// What people ask for: none of it fetches logits, and each answer is the sampler's.
PAGODA_TEST(engine_changed_logits_stay_on_the_device) {
  FarBackend::Counts counts;
  auto software = device::gpu::software::SoftwareBackend::create({.num_threads = 2});
  REQUIRE_OK(software);
  Harness far(device::gpu::make_gpu_device(std::make_unique<FarBackend>(std::move(*software), counts)));
  Harness cpu(std::move(*device::make_device("cpu", 2)));
  const auto drawn = [](SamplingParams& p) { p.temperature = 2, p.top_k = 20, p.has_seed = true, p.seed = 5; };
  std::vector<Request> requests = {
      make_request(1, [](SamplingParams& p) { p.presence_penalty = 1.5f, p.frequency_penalty = 0.5f; }),
      make_request(2, [](SamplingParams& p) { p.repetition_penalty = 1.3f, p.min_tokens = 4, p.stop_ids = {5}; }),
      make_request(3, [](SamplingParams& p) { p.logit_bias = {{5, 100.0f}, {7, 100.5f}, {9, -100.0f}}; }),
      make_request(4, [](SamplingParams& p) { p.banned = {{.ids = {3}}, {.ids = {3, 4}}}; })};
  for (size_t i = 0; i < 3; ++i) {
    requests.push_back(requests[i]);
    drawn(requests.back().sampling);
    requests.back().sampling.presence_penalty = 1.5f;
  }
  for (void (*change)(SamplingParams&) : {+[](SamplingParams&) {}, +[](SamplingParams& p) { p.top_p = 0.5f; },
                                          +[](SamplingParams& p) { p.min_p = 0.5f; }}) {
    requests.push_back(make_request(5, change));
    drawn(requests.back().sampling);
    requests.back().sampling.top_k = 0;
  }
  const size_t num_unscored = requests.size();
  requests.push_back(make_request(6, [](SamplingParams& p) { p.num_top_logprobs = 20; }));
  requests.push_back(requests[1]);
  requests.back().sampling.num_top_logprobs = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    counts = {};
    const auto answers = far.run({requests[i], make_request(9, [](SamplingParams&) {})});
    const int64_t row_bytes = i < num_unscored ? 4 : 4 + int64_t{sizeof(RowScore)};
    CHECK_EQ(counts.downloaded_bytes, 2 * kOutput * row_bytes);  // ids, and what log probabilities need
    CHECK(answers == cpu.run({requests[i], make_request(9, [](SamplingParams&) {})}));
    if (test::failed()) test::note("request " + std::to_string(i));
  }
}

// Greedy and drawn rows with a grammar beside one without: only a token whose mask was not ready fetches logits.
PAGODA_TEST(engine_masked_rows_stay_on_the_device) {
  FarBackend::Counts counts;
  auto software = device::gpu::software::SoftwareBackend::create({.num_threads = 2});
  REQUIRE_OK(software);
  const auto tokenizer = test::make_awkward_tokenizer();
  Harness far(device::gpu::make_gpu_device(std::make_unique<FarBackend>(std::move(*software), counts)), tokenizer);
  Harness cpu(std::move(*device::make_device("cpu", 2)), tokenizer);
  std::vector<Request> requests = {
      make_request(1, [](SamplingParams&) {}),
      make_request(2, [](SamplingParams& p) { p.temperature = 2, p.top_p = 0.8f, p.has_seed = true, p.seed = 5; }),
      make_request(3, [](SamplingParams&) {})};
  for (size_t i = 0; i < 2; ++i) {
    requests[i].grammar = {GrammarKind::regex, "[a-f]{20}"};
    requests[i].sampling.ignore_eos = false;
  }
  counts = {};
  const auto answers = far.run(requests);
  CHECK(answers == cpu.run(requests));
  for (size_t i = 0; i < 2; ++i)
    for (const int32_t id : answers[i])
      CHECK(tokenizer->token_bytes(id).find_first_not_of("abcdef") == std::string_view::npos);
  const int64_t row_bytes = int64_t{far.vocab_size} * 4;
  // The masks of the first tokens are made after their rows, which are a step of their own.
  CHECK_EQ(counts.downloaded_bytes, int64_t{3 * kOutput - 2} * 4 + 2 * row_bytes);
}

PAGODA_TEST(engine_requests_only_tokens_where_they_are_sufficient) {
  const struct {
    const char* what;
    int rows_read;  // of kOutput
    int draws;      // requested from the model
    void (*change)(SamplingParams&);
  } cases[] = {
      {"greedy", 0, 0, [](SamplingParams&) {}},
      {"one choice", 0, 0, [](SamplingParams& p) { p.temperature = 1, p.top_k = 1; }},
      {"drawn", kOutput, 0, [](SamplingParams& p) { p.temperature = 1; }},
      {"drawn from 64", kOutput, kOutput, [](SamplingParams& p) { p.temperature = 1, p.top_k = 64; }},
      {"drawn from 65", kOutput, 0, [](SamplingParams& p) { p.temperature = 1, p.top_k = 65; }},
      {"logprobs", kOutput, 0, [](SamplingParams& p) { p.top_k = 9, p.temperature = 1, p.num_top_logprobs = 0; }},
      {"bias", kOutput, 0, [](SamplingParams& p) { p.logit_bias = {{3, 1.0f}}; }},
      {"penalty", kOutput, 0, [](SamplingParams& p) { p.presence_penalty = 1; }},
      {"before min_tokens", 4, 0, [](SamplingParams& p) { p.min_tokens = 4, p.stop_ids = {5}; }}};
  for (const auto& c : cases) {
    test::FakeHarness harness({});
    Recorder recorder;
    CHECK_OK(harness.add(make_request(1, c.change), 1, recorder));
    harness.run();
    CHECK_OK(recorder.status);
    CHECK_EQ(harness.model->num_logits_rows, c.rows_read);
    CHECK_EQ(harness.model->num_draws, c.draws);
    if (test::failed()) test::note(c.what);
  }
}

}  // namespace pagoda::engine
