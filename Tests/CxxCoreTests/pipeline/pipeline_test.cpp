// One model over several ranks: the same bits as in one process for any schedule and any split of the layers; a lost
// rank ends requests with an error, and later requests succeed once it is back.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine_thread.h"
#include "engine/schedules.h"
#include "pipeline/messages.h"
#include "pipeline/raw_client.h"
#include "pipeline/split.h"
#include "pipeline/stage_server.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

std::string fixture(const char* name) { return test::fixtures_dir() + "/model/" + name; }

// A hundred with PAGODA_PIPELINE_SCHEDULES=100, in about a minute.
int num_schedules() {
  const char* asked = std::getenv("PAGODA_PIPELINE_SCHEDULES");
  return asked ? std::atoi(asked) : 6;
}

int count_layers(const std::string& folder) {
  EngineOptions options;
  options.device = "cpu";
  const Result<ModelInfo> info = inspect(ModelSource{folder, {}}, options);
  CHECK_OK(info);
  return info.is_ok() ? info->num_layers : 0;
}

void check_pipeline(const std::string& folder, uint64_t seed) {
  const int num_layers = count_layers(folder);
  for (int num_stages : {2, 3}) {
    if (num_stages > num_layers) continue;
    test::StageServer second(folder), third(folder);
    Form form{.pipeline = second.address(), .num_stages = num_stages, .num_layers = num_layers};
    if (num_stages == 3) {
      form.pipeline += "," + third.address();
      form.state_dtype = "bfloat16";
    }
    check_schedules(folder, num_schedules(), 140, seed + static_cast<uint64_t>(num_stages), form);
  }
}

EngineOptions pipeline_options(const std::string& stages) {
  EngineOptions options = options_for(1);
  options.pipeline = stages;
  options.pipeline_timeout_ms = test::StageServer::kTimeoutMs;
  options.max_num_seqs = 4;
  options.num_kv_blocks = 64;
  return options;
}

Request long_request(int max_tokens) {
  Request request;
  request.prompt_ids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  request.sampling.max_tokens = max_tokens;
  request.sampling.ignore_eos = true;
  return request;
}

void wait_until(const std::function<bool()>& is_done) {
  while (!is_done()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

PAGODA_TEST(pipeline_gives_the_same_bits_in_random_schedules_of_the_hybrid) { check_pipeline(fixture("qwen3_5"), 600); }
PAGODA_TEST(pipeline_gives_the_same_bits_in_random_schedules_without_a_state) { check_pipeline(fixture("qwen3"), 610); }
PAGODA_TEST(pipeline_gives_the_same_bits_in_random_schedules_with_experts) {
  check_pipeline(fixture("qwen3_5_moe"), 620);
}

// Log probabilities of prompts are computed from states that only the last stage has.
PAGODA_TEST(pipeline_gives_the_same_log_probabilities_of_prompts) {
  const std::string folder = fixture("qwen3_5");
  test::StageServer stage(folder);
  Request request = long_request(4);
  request.num_prompt_logprobs = 2;
  Recorder alone, spread;
  auto one = Harness::open(folder, options_for(1));
  auto two = Harness::open(folder, pipeline_options(stage.address()));
  REQUIRE(one && two);
  Recorder others[2];
  for (uint64_t i = 0; i < 2; ++i) CHECK(two->add(long_request(12), 10 + i, others[i]));
  two->core->step();
  CHECK(one->add(request, 1, alone) && two->add(request, 1, spread));
  while (one->core->has_work()) one->core->step();
  while (two->core->has_work()) two->core->step();
  CHECK_EQ(alone.prompt_bits.size(), size_t{19 * 3});
  CHECK(alone.prompt_bits == spread.prompt_bits);
  CHECK(alone.tokens == spread.tokens);
}

PAGODA_TEST(pipeline_shows_its_steps_to_a_watch) {
  const std::string folder = fixture("qwen3_5");
  test::StageServer stage(folder);
  auto engine = Harness::open(folder, pipeline_options(stage.address()));
  REQUIRE(engine);
  engine->core->activity().open();
  Request request = long_request(12);
  request.use_cache = false;
  Recorder recorders[2];
  for (uint64_t i = 0; i < 2; ++i) CHECK(engine->add(request, 1 + i, recorders[i]));
  while (engine->core->has_work()) engine->core->step();
  const Activity activity = engine->core->activity().read();
  CHECK_EQ(static_cast<int64_t>(activity.steps.size()), engine->core->stats().num_steps);
  int64_t num_read_tokens = 0, num_answering = 0, last_step = 0;
  for (const StepRecord& step : activity.steps) {
    CHECK_EQ(step.step_index, ++last_step);
    num_read_tokens += step.num_read_tokens;
    num_answering += step.num_answering;
  }
  CHECK_EQ(num_read_tokens, 2 * 20);
  CHECK_EQ(num_answering, 2 * 11);  // the first token of each answer comes from the step that reads its prompt
}

PAGODA_TEST(pipeline_ends_requests_when_a_stage_is_lost_and_continues_when_it_is_back) {
  const std::string folder = fixture("qwen3_5");
  auto stage = std::make_unique<test::StageServer>(folder);
  const std::string address = stage->address();
  Result<LoadedModel> loaded = load(ModelSource{folder, {}}, pipeline_options(address), nullptr);
  CHECK_OK(loaded);
  REQUIRE(loaded.is_ok());
  Result<std::unique_ptr<EngineThread>> thread = EngineThread::start(std::move(*loaded));
  REQUIRE(thread.is_ok());
  EngineThread& engine = **thread;
  Recorder first, refused, again;
  test::HeldRecorder lost;
  CHECK(engine.submit(long_request(8), &Recorder::on_event, &first).status.is_ok());
  wait_until([&] { return first.finished.load(); });
  CHECK(first.status.is_ok());

  const SubmitResult running = engine.submit(long_request(900), &test::HeldRecorder::on_event, &lost);
  CHECK(running.status.is_ok());
  lost.wait_until_held();  // in the middle of its answer
  stage.reset();
  lost.may_go = true;
  wait_until([&] { return lost.finished.load(); });
  CHECK(lost.reason == FinishReason::error);
  CHECK(lost.status.code == StatusCode::device_error);
  CHECK(lost.status.message.find("stage 1 of the pipeline (" + address + ") was lost") != std::string::npos);
  CHECK(engine.stats().fault.find("was lost") != std::string::npos);
  CHECK(engine.submit(long_request(8), &Recorder::on_event, &refused).status.is_ok());
  wait_until([&] { return refused.finished.load(); });
  CHECK(refused.reason == FinishReason::error);

  stage = std::make_unique<test::StageServer>(folder, address);
  wait_until([&] { return engine.stats().fault.empty(); });
  CHECK_EQ(engine.find_prefix(long_request(1).prompt_ids, "").num_matched_tokens, 0);  // the stage's data is lost
  CHECK(engine.submit(long_request(8), &Recorder::on_event, &again).status.is_ok());
  wait_until([&] { return again.finished.load(); });
  CHECK(again.status.is_ok());
  CHECK_EQ(again.usage.cached_tokens, 0);
  CHECK(again.tokens == first.tokens);
  const EngineStats stats = engine.stats();
  CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
  CHECK_EQ(stats.num_free_state_slots, stats.num_state_slots);
}

PAGODA_TEST(pipeline_refuses_another_model_and_what_it_cannot_do) {
  test::StageServer other(fixture("qwen3"));
  const Result<LoadedModel> loaded =
      load(ModelSource{fixture("qwen3_5"), {}}, pipeline_options(other.address()), nullptr);
  CHECK(!loaded.is_ok() && loaded.status.message.find("another model") != std::string::npos);
  for (const auto& [change, words] : std::vector<std::pair<std::function<void(EngineOptions&)>, std::string>>{
           {[](EngineOptions& o) { o.pipeline = "nowhere"; }, "host:port"},
           {[](EngineOptions& o) { o.prefix_cache_dir = "folder"; }, "exclude each other"},
           {[](EngineOptions& o) { o.speculation = "mtp"; }, "exclude each other"}}) {
    EngineOptions options = pipeline_options(other.address());
    change(options);
    const Result<LoadedModel> refused = load(ModelSource{fixture("qwen3"), {}}, options, nullptr);
    CHECK(!refused.is_ok() && refused.status.message.find(words) != std::string::npos);
  }
  EngineOptions options = pipeline_options(other.address());
  options.pipeline_split = "1,100";
  const Result<LoadedModel> refused = load(ModelSource{fixture("qwen3"), {}}, options, nullptr);
  CHECK(!refused.is_ok() && refused.status.message.find("pipeline_split") != std::string::npos);
}

// For any bytes, a frame is refused or read; nothing is read past its end.
PAGODA_TEST(pipeline_refuses_broken_frames) {
  std::mt19937_64 rng(test::seed(7));
  EngineLimits sizes{.max_num_tokens = 8, .max_num_seqs = 2, .max_blocks_per_seq = 4, .block_size = 8};
  model::ForwardBatch batch;
  batch.token_ids = {1, 2, 3};
  batch.positions = {0, 1, 2};
  batch.slot_mapping = {0, 1, 2};
  batch.cu_seqlens = {0, 3};
  batch.context_lens = {3};
  batch.block_tables = {0, 0, 0, 0};
  const std::vector<int32_t> returned{2};
  const pipeline::Bytes good = pipeline::encode_plan(batch, returned, false, sizes);
  pipeline::StagePlan plan;
  CHECK(pipeline::decode_plan(good, sizes, plan).is_ok());
  CHECK(plan.batch.token_ids == batch.token_ids && plan.returned_rows == returned);
  int num_refused = 0;
  for (int i = 0; i < 2000; ++i) {
    pipeline::Bytes frame = good;
    if (rng() % 2) frame.resize(rng() % (good.size() + 1));
    for (size_t n = rng() % 4; n > 0 && !frame.empty(); --n)
      frame[rng() % frame.size()] = static_cast<std::byte>(rng());
    num_refused += !pipeline::decode_plan(frame, sizes, plan).is_ok();
    (void)pipeline::decode_hello(frame);
    (void)pipeline::decode_assignment(frame);
    (void)pipeline::decode_failure(frame);
  }
  CHECK(num_refused > 500);
}

// Sizes are divided by and allocated: a stage checks what it is sent.
PAGODA_TEST(pipeline_refuses_sizes_and_types_that_no_engine_has) {
  const pipeline::Assignment good{.first_layer = 1,
                                  .end_layer = 2,
                                  .rope_scaling = "",
                                  .sizes = {.num_kv_blocks = 8,
                                            .num_state_slots = 2,
                                            .max_num_tokens = 8,
                                            .max_num_seqs = 2,
                                            .max_blocks_per_seq = 4,
                                            .max_model_len = 64}};
  const auto decoded = [](const pipeline::Assignment& a) {
    return pipeline::decode_assignment(pipeline::encode(a)).status;
  };
  CHECK_OK(decoded(good));
  for (const auto& [change, words] : std::vector<std::pair<std::function<void(pipeline::Assignment&)>, std::string>>{
           {[](auto& a) { a.sizes.block_size = 0; }, "block_size is 0"},
           {[](auto& a) { a.sizes.block_size = -16; }, "block_size is -16"},
           {[](auto& a) { a.sizes.num_kv_blocks = INT64_MAX; }, "num_kv_blocks"},
           {[](auto& a) { a.sizes.num_kv_blocks = 0; }, "num_kv_blocks"},
           {[](auto& a) { a.sizes.num_state_slots = -1; }, "num_state_slots"},
           {[](auto& a) { a.sizes.num_checkpoints = 3; }, "num_checkpoints"},
           {[](auto& a) { a.sizes.max_num_tokens = 0; }, "max_num_tokens"},
           {[](auto& a) { a.sizes.max_num_seqs = INT32_MIN; }, "max_num_seqs"},
           {[](auto& a) { a.sizes.max_logits_rows = -1; }, "max_logits_rows"},
           {[](auto& a) { a.sizes.max_blocks_per_seq = 0; }, "max_blocks_per_seq"},
           {[](auto& a) { a.sizes.max_state_saves = -1; }, "max_state_saves"},
           {[](auto& a) { a.sizes.max_model_len = INT32_MAX; }, "max_model_len"},
           {[](auto& a) { a.sizes.max_draft_rows = -1; }, "max_draft_rows"},
           {[](auto& a) { a.sizes.attention_window = -1; }, "attention_window"},
           {[](auto& a) { a.format = static_cast<WeightFormat>(99); }, "types"},
           {[](auto& a) { a.kv_dtype = DType::i64; }, "types"},
           {[](auto& a) { a.state_dtype = DType::i8; }, "types"}}) {
    pipeline::Assignment bad = good;
    change(bad);
    CHECK(decoded(bad).message.find(words) != std::string::npos);
  }
  pipeline::Hello hello;
  CHECK_OK(pipeline::decode_hello(pipeline::encode(hello)));
  hello.memory_bytes = -1;
  CHECK(!pipeline::decode_hello(pipeline::encode(hello)).is_ok());
  hello = {};
  hello.speed = std::numeric_limits<double>::quiet_NaN();
  CHECK(!pipeline::decode_hello(pipeline::encode(hello)).is_ok());
}

// The eight bytes of a length, and nothing else: they cost no memory, and too large a first frame is refused.
PAGODA_TEST(pipeline_gives_no_memory_for_a_length_alone) {
  auto listener = pipeline::TcpListener::open("127.0.0.1:0");
  REQUIRE_OK(listener);
  const std::string address = "127.0.0.1:" + std::to_string((*listener)->port());
  const auto receive = [&](uint64_t stated, uint64_t max_bytes, pipeline::Bytes& frame) {
    std::thread peer([&] {
      test::RawClient client(address);
      client.send(&stated, sizeof stated);
    });
    auto channel = (*listener)->accept(600'000);
    peer.join();
    CHECK_OK(channel);
    return channel.is_ok() ? (*channel)->receive(frame, max_bytes, 600'000) : channel.status;
  };
  pipeline::Bytes frame;
  const Status cut = receive(pipeline::kMaxFrameBytes, pipeline::kMaxFrameBytes, frame);
  CHECK(cut.message.find("closed the connection") != std::string::npos);
  CHECK(frame.capacity() <= 2 << 20);
  const Status long_hello = receive(pipeline::kMaxHelloBytes + 1, pipeline::kMaxHelloBytes, frame);
  CHECK(long_hello.message.find("at most 65536 are allowed") != std::string::npos);
  const Status endless = receive(UINT64_MAX, pipeline::kMaxFrameBytes, frame);
  CHECK(endless.code == StatusCode::bad_file);
}

PAGODA_TEST(pipeline_sends_frames_of_several_mebibytes_whole) {
  auto listener = pipeline::TcpListener::open("127.0.0.1:0");
  REQUIRE_OK(listener);
  pipeline::Bytes sent((5 << 20) + 3), received;
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 2654435761u >> 24);
  std::thread peer([&] {
    auto channel = pipeline::connect_tcp("127.0.0.1:" + std::to_string((*listener)->port()), 600'000);
    CHECK_OK(channel);
    if (channel.is_ok()) CHECK_OK((*channel)->send(sent, 600'000));
  });
  auto channel = (*listener)->accept(600'000);
  CHECK_OK(channel);
  if (channel.is_ok()) CHECK_OK((*channel)->receive(received, pipeline::kMaxFrameBytes, 600'000));
  peer.join();
  CHECK(received == sent);
}

PAGODA_TEST(pipeline_divides_layers_by_speed_within_memory) {
  pipeline::LayerCosts costs;
  costs.read_bytes.assign(12, 100);
  costs.bytes.assign(12, 100);
  const auto ends_of = [&](std::vector<pipeline::StageLimits> stages) {
    const auto ends = pipeline::split_layers(costs, stages);
    return ends.is_ok() ? *ends : std::vector<int32_t>{};
  };
  const int64_t much = 1 << 20;
  CHECK(ends_of({{1, much}, {1, much}}) == (std::vector<int32_t>{6, 12}));
  CHECK(ends_of({{1, much}, {2, much}}) == (std::vector<int32_t>{4, 12}));
  CHECK(ends_of({{1, much}, {1, much}, {1, much}}) == (std::vector<int32_t>{4, 8, 12}));
  CHECK(ends_of({{1, much}, {1, 300}}) == (std::vector<int32_t>{9, 12}));
  CHECK(ends_of({{1, 300}, {1, 300}}).empty());
  costs.head_read_bytes = 400;  // read by the first stage
  CHECK(ends_of({{1, much}, {1, much}}) == (std::vector<int32_t>{4, 12}));
  costs.head_bytes = 800;  // includes an embedding, of which a step reads almost nothing
  CHECK(ends_of({{1, much}, {1, much}}) == (std::vector<int32_t>{4, 12}));
  CHECK(ends_of({{1, 1000}, {1, much}}) == (std::vector<int32_t>{2, 12}));
}

}  // namespace pagoda::engine
