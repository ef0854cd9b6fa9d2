// Requests with images: answers match transformers; caches know images by their content; refusals say why.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "device/registry.h"
#include "device/rig.h"
#include "engine/batch_builder.h"
#include "engine/image_outputs.h"
#include "engine/vision_answers.h"
#include "support/test.h"

namespace pagoda::engine {

using test::ModelHarness;
using test::Recorder;
using test::VisionAnswers;

namespace {

EngineOptions options_on(const std::string& device) {
  EngineOptions options;
  options.device = device;
  options.quantize = "none";
  options.num_threads = 2;
  options.max_model_len = 256;
  return options;
}

std::string refusal(ModelHarness& harness, const Request& request) {
  Recorder recorder;
  const auto prepared = harness.core->prepare(request, 99, &Recorder::on_event, &recorder);
  CHECK(!prepared.is_ok());
  return prepared.status.message;
}

bool mentions(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos) test::note(text);
  return text.find(part) != std::string::npos;
}

// The logits of every token of the prompt, `chunk` tokens at a time.
std::vector<float> prompt_logits(const VisionAnswers& answers, LoadedModel& loaded, int count, int32_t chunk) {
  const Request request = answers.request(count);
  EngineCore core(*loaded.model, loaded.core);
  Recorder recorder;
  auto active = core.prepare(request, 1, &Recorder::on_event, &recorder);
  CHECK_OK(active);
  if (!active.is_ok()) return {};
  request::Sequence& sequence = (*active)->sequence;
  ImageOutputs outputs(loaded.core.tower, 0);
  std::vector<std::shared_ptr<const ImageOutput>> held;
  for (const PromptImage& each : request.images) held.push_back(outputs.request(each.image));
  while (outputs.has_work()) outputs.advance(1.0);
  for (size_t i = 0; i < held.size(); ++i) sequence.images[i].rows = held[i]->rows.data();
  for (int32_t block = 0; block < 10; ++block) sequence.block_table.push_back(block);
  const bool has_state = loaded.info.num_recurrent_layers > 0;
  sequence.state_slot = has_state ? 0 : -1;
  sequence.has_fresh_slot = has_state;
  model::ForwardBatch batch;
  reserve_batch(batch, loaded.core.limits);
  std::vector<float> all;
  while (sequence.num_uncomputed() > 0) {
    scheduler::StepPlan plan;
    const int32_t num_tokens = std::min({chunk, sequence.num_uncomputed(), loaded.core.limits.max_logits_rows});
    plan.sequences.push_back({&sequence, num_tokens});
    build_batch(plan, loaded.core.limits.block_size, loaded.core.limits.max_blocks_per_seq, has_state, batch);
    batch.logits_rows.clear();
    for (int32_t row = 0; row < num_tokens; ++row) batch.logits_rows.push_back(row);
    CHECK_OK(loaded.model->forward(batch));
    const auto logits = loaded.model->logits();
    all.insert(all.end(), logits.begin(), logits.end());
    sequence.num_computed_tokens += num_tokens;
    sequence.has_fresh_slot = false;
  }
  return all;
}

void check_greedy(const std::string& name) {
  const auto answers = VisionAnswers::open(name);
  REQUIRE(answers.has_value());
  for (const char* device : {"cpu", "reference"}) {
    auto harness = ModelHarness::open(answers->path, options_on(device));
    REQUIRE(harness != nullptr);
    CHECK(harness->loaded.info.has_vision && harness->loaded.info.vision_parameters > 1000);
    CHECK_EQ(harness->loaded.info.vision_refusal, std::string());
    CHECK_EQ(harness->loaded.info.skipped_tensors.size(), size_t{0});
    uint64_t id = 0;
    for (const int count : {0, 1, 3}) {
      Recorder recorder;
      test::run(*harness, answers->request(count), ++id, recorder);
      CHECK_OK(recorder.status);
      CHECK(recorder.tokens == answers->greedy(count));
      CHECK_EQ(recorder.tokens.size(), size_t{48});
    }
    CHECK_EQ(harness->core->stats().images.num_computed, int64_t{4});
    harness->check_all_free();
  }
}

void check_logits(const std::string& name) {
  const auto answers = VisionAnswers::open(name);
  REQUIRE(answers.has_value());
  EngineOptions options = options_on("cpu");
  options.max_num_seqs = 64;  // rows of logits
  auto loaded = load(ModelSource{answers->path, {}}, options, nullptr);
  REQUIRE_OK(loaded);
  for (const int count : {0, 1, 3}) {
    const std::vector<float> wanted = answers->logits(count), whole = prompt_logits(*answers, *loaded, count, 1000);
    REQUIRE(wanted.size() == whole.size());
    double worst = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double difference = std::abs(double{whole[i]} - wanted[i]);
      if (!(difference <= worst)) worst = difference;
    }
    test::note(name + " " + std::to_string(count) + " images: " + std::to_string(worst));
    CHECK(worst <= 2e-4);
    for (const int32_t chunk : {1, 5, 16}) CHECK(prompt_logits(*answers, *loaded, count, chunk) == whole);
  }
}

}  // namespace

PAGODA_TEST(vision_greedy_tokens_match_transformers_with_0_1_and_3_images) { check_greedy(""); }
PAGODA_TEST(vision_greedy_tokens_of_qwen3_vl_match_transformers) {
  for (const std::string& name : test::kQwen3Vl) check_greedy(name);
}
PAGODA_TEST(vision_logits_match_transformers_in_any_chunks) { check_logits(""); }
PAGODA_TEST(vision_logits_of_qwen3_vl_match_transformers_in_any_chunks) {
  for (const std::string& name : test::kQwen3Vl) check_logits(name);
}

// The second time, neither the tower nor the text model computes the image again.
PAGODA_TEST(vision_same_image_twice_runs_the_tower_once_and_hits_the_prefix) {
  const auto answers = VisionAnswers::open();
  REQUIRE(answers.has_value());
  auto harness = ModelHarness::open(test::vision_model(), options_on("cpu"));
  REQUIRE(harness != nullptr);
  Request request = answers->request(1);
  Recorder first, second;
  test::run(*harness, request, 1, first);
  request.prompt_ids.push_back(7);  // another turn
  test::run(*harness, request, 2, second);
  CHECK_EQ(harness->core->stats().images.num_computed, int64_t{1});
  CHECK_EQ(harness->core->stats().images.num_hits, int64_t{1});
  CHECK_EQ(first.usage.cached_tokens, 0);
  CHECK(second.usage.cached_tokens >= request.images[0].first_token + request.images[0].image.num_tokens());
}

PAGODA_TEST(vision_another_image_under_the_same_text_never_hits) {
  const auto answers = VisionAnswers::open();
  REQUIRE(answers.has_value());
  auto alone = ModelHarness::open(test::vision_model(), options_on("cpu"));
  auto shared = ModelHarness::open(test::vision_model(), options_on("cpu"));
  REQUIRE(alone != nullptr && shared != nullptr);
  // The first and the last image of three have as many tokens as the other in one text.
  Request request = answers->request(3);
  const int32_t first = request.images[0].first_token;
  request.prompt_ids.resize(static_cast<size_t>(first + request.images[0].image.num_tokens() + 1));
  request.images.resize(1);
  std::vector<uint8_t> pixels(16 * 16 * 3);
  ImageOptions options{.patch_size = 4, .min_pixels = 1};
  uint64_t id = 0;
  std::vector<std::vector<int32_t>> seen;
  for (const uint8_t colour : {0, 90, 255}) {
    std::fill(pixels.begin(), pixels.end(), colour);
    request.images[0].image = prepare_image(pixels.data(), static_cast<int64_t>(pixels.size()), 16, 16, options).image;
    Recorder expected, recorder;
    request.use_cache = false;
    test::run(*alone, request, ++id, expected);
    request.use_cache = true;
    test::run(*shared, request, id, recorder);
    CHECK_OK(recorder.status);
    CHECK(recorder.tokens == expected.tokens && recorder.logprob_bits == expected.logprob_bits);
    CHECK(recorder.usage.cached_tokens <= first);
    seen.push_back(recorder.tokens);
  }
  CHECK(seen[0] != seen[1] && seen[1] != seen[2]);  // the model sees the difference
}

PAGODA_TEST(vision_prefixes_on_disk_know_images) {
  const auto answers = VisionAnswers::open();
  REQUIRE(answers.has_value());
  EngineOptions options = options_on("cpu");
  options.prefix_cache_dir = test::temporary_dir();
  Request request = answers->request(1), other = request;
  std::vector<uint8_t> pixels(static_cast<size_t>(request.images[0].image.num_patches() * 16 * 3), 77);
  other.images[0].image =
      prepare_image(pixels.data(), static_cast<int64_t>(pixels.size()), request.images[0].image.grid_w() * 4,
                    request.images[0].image.grid_h() * 4, {.patch_size = 4, .min_pixels = 1})
          .image;
  CHECK_EQ(other.images[0].image.num_tokens(), request.images[0].image.num_tokens());
  Recorder first;
  {
    auto harness = ModelHarness::open(test::vision_model(), options);
    REQUIRE(harness != nullptr);
    test::run(*harness, request, 1, first);
  }
  auto harness = ModelHarness::open(test::vision_model(), options);
  REQUIRE(harness != nullptr);
  Recorder again, different;
  test::run(*harness, request, 1, again);
  test::run(*harness, other, 2, different);
  CHECK(again.tokens == first.tokens && again.logprob_bits == first.logprob_bits);
  const int32_t end = request.images[0].first_token + request.images[0].image.num_tokens();
  CHECK(again.usage.cached_tokens >= end);
  CHECK(different.usage.cached_tokens <= request.images[0].first_token);
}

// A restarted engine needs the tower neither for the same prompt nor for the same image in another one.
PAGODA_TEST(vision_tower_results_are_kept_in_files) {
  const auto answers = VisionAnswers::open("qwen3_vl");
  REQUIRE(answers.has_value());
  std::string folder = (std::filesystem::temp_directory_path() / "pagoda-images-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  EngineOptions options = options_on("cpu");
  options.prefix_cache_dir = folder;
  const auto files = [&] {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".image") found.push_back(entry.path());
    return found;
  };
  const auto num_computed = [&](const EngineOptions& with) {
    auto harness = ModelHarness::open(answers->path, with);
    if (harness == nullptr) return int64_t{-1};
    Recorder recorder;
    test::run(*harness, answers->request(1), 1, recorder);
    CHECK(recorder.tokens == answers->greedy(1));
    return harness->core->stats().images.num_computed;
  };
  CHECK_EQ(num_computed(options), int64_t{1});
  REQUIRE(files().size() == 1);
  CHECK_EQ(num_computed(options), int64_t{0});
  EngineOptions other = options;
  other.kv_dtype = "bfloat16";  // other numbers: another fingerprint
  auto different = ModelHarness::open(answers->path, other);
  REQUIRE(different != nullptr);
  Recorder recorder;
  test::run(*different, answers->request(1), 1, recorder);
  CHECK_EQ(different->core->stats().images.num_computed, int64_t{1});
  for (const auto& path : files()) {  // damaged: one bit of the last float
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const int last = file.get();
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(last ^ 1));
  }
  CHECK_EQ(num_computed(options), int64_t{1});
  CHECK_EQ(num_computed(options), int64_t{0});
  options.prefix_cache_disk_bytes = 8 * 1024;  // the share of images is too small for one
  for (const auto& path : files()) std::filesystem::remove(path);
  CHECK_EQ(num_computed(options), int64_t{1});
  CHECK_EQ(files().size(), size_t{0});
  std::filesystem::remove_all(folder);
}

PAGODA_TEST(vision_requests_are_refused_by_name) {
  const auto answers = VisionAnswers::open();
  REQUIRE(answers.has_value());
  auto harness = ModelHarness::open(test::vision_model(), options_on("cpu"));
  REQUIRE(harness != nullptr);
  const Request request = answers->request(3);
  Request wrong = request;
  wrong.images[1].first_token -= 1;
  CHECK(mentions(refusal(*harness, wrong), "is 118; image 1 needs 5 tokens 116 from"));
  wrong = request;
  std::swap(wrong.images[0], wrong.images[1]);
  CHECK(mentions(refusal(*harness, wrong), "image 1 has 4 tokens from"));
  wrong = request;
  wrong.images[2].first_token = static_cast<int32_t>(request.prompt_ids.size()) - 1;
  CHECK(mentions(refusal(*harness, wrong), "the end of a prompt of"));
  wrong = request;
  wrong.images[0].image = {};
  CHECK(mentions(refusal(*harness, wrong), "image 0: the image is empty"));
  wrong = request;
  wrong.num_prompt_logprobs = 0;
  CHECK(mentions(refusal(*harness, wrong), "images exclude log probabilities of the prompt"));

  EngineOptions off = options_on("cpu");
  off.vision = false;
  auto blind = ModelHarness::open(test::vision_model(), off);
  REQUIRE(blind != nullptr);
  CHECK(!blind->loaded.info.has_vision && blind->loaded.info.plan.vision_bytes == 0);
  CHECK(mentions(refusal(*blind, request), "the model takes no images: the option vision is off"));
  auto text = ModelHarness::open(test::fixtures_dir() + "/model/qwen3_5", options_on("cpu"));
  REQUIRE(text != nullptr);
  CHECK(mentions(refusal(*text, request), "has no vision tower"));
}

// Heads of 20 dims have no kernels: that tower runs on the CPU, beside any device.
PAGODA_TEST(vision_tower_runs_on_the_device_of_the_text_if_it_has_the_kernels) {
  for (const std::string& name : device::device_names()) {
    const auto device = device::make_device(name, 2);
    REQUIRE_OK(device);
    const auto info = inspect(ModelSource{test::vision_model(), {}}, options_on(name));
    REQUIRE_OK(info);
    CHECK_EQ(info->vision_device, (*device)->info().description);
    CHECK_EQ(info->plan.vision_host_bytes > 0, (*device)->info().has_own_memory);
    io::VisionConfig config;
    config.hidden_size = 60, config.num_heads = 3;
    const auto needs = model::VisionTower::needs(config);
    CHECK_EQ(device::check_support(**device, needs).is_ok(), !test::runs_kernels(name));
  }
}

PAGODA_TEST(vision_tower_has_8_bits_beside_text_in_8_or_4) {
  const auto bytes = [](const char* quantize) {
    EngineOptions options = options_on("cpu");
    options.quantize = quantize;
    const auto info = inspect(ModelSource{test::vision_model(), {}}, options);
    CHECK_OK(info);
    return info.is_ok() ? info->plan.vision_bytes : 0;
  };
  CHECK(bytes("8bit") < bytes("bf16"));
  CHECK_EQ(bytes("4bit"), bytes("8bit"));
}

PAGODA_TEST(vision_greedy_tokens_on_kernels_match_transformers) {
  const auto answers = VisionAnswers::open();
  REQUIRE(answers.has_value());
  for (const std::string& name : device::device_names()) {
    if (!test::runs_kernels(name)) continue;
    auto harness = ModelHarness::open(answers->path, options_on(name));
    REQUIRE(harness != nullptr);
    uint64_t id = 0;
    for (const int count : {0, 1, 3}) {
      Recorder recorder;
      test::run(*harness, answers->request(count), ++id, recorder);
      CHECK_OK(recorder.status);
      CHECK(recorder.tokens == answers->greedy(count));
    }
    CHECK_EQ(harness->core->stats().images.num_computed, int64_t{4});
  }
}

PAGODA_TEST(vision_cancelled_requests_leave_nothing_behind) {
  const auto answers = VisionAnswers::open();
  REQUIRE(answers.has_value());
  auto harness = ModelHarness::open(test::vision_model(), options_on("cpu"));
  REQUIRE(harness != nullptr);
  Recorder waiting, text;
  CHECK(harness->add(answers->request(3), 1, waiting));
  CHECK_EQ(harness->core->stats().num_waiting, 1);
  harness->core->cancel(1);
  CHECK(waiting.finished && waiting.reason == FinishReason::cancelled);
  CHECK(!harness->core->has_work());
  test::run(*harness, answers->request(0), 2, text);
  CHECK(text.tokens == answers->greedy(0));
  CHECK_EQ(harness->core->stats().images.num_computed, int64_t{0});
  harness->check_all_free();
}

// Running answers wait for one part of an image at a time, not for the whole tower.
PAGODA_TEST(vision_tower_work_is_cut_into_parts) {
  const auto answers = VisionAnswers::open();
  REQUIRE(answers.has_value());
  auto loaded = load(ModelSource{test::vision_model(), {}}, options_on("cpu"), nullptr);
  REQUIRE_OK(loaded);
  ImageOutputs outputs(loaded->core.tower, 1 << 20);
  const PreparedImage image = answers->image(1, 0);
  auto output = outputs.request(image);
  CHECK(outputs.request(image) == output);  // the same image of another request
  int64_t num_calls = 0;
  for (; !output->is_ready && num_calls < 1000; ++num_calls) outputs.advance(0.0);
  CHECK_EQ(num_calls, loaded->core.tower->num_parts(image.num_patches()));
  CHECK(outputs.request(image) == output);
  CHECK_EQ(outputs.stats().num_computed, int64_t{1});
  CHECK_EQ(outputs.stats().num_hits, int64_t{2});
  ImageOutputs small(loaded->core.tower, 0);  // keeps what is held, and nothing else
  auto held = small.request(image);
  while (small.has_work()) small.advance(1.0);
  CHECK(held->rows == output->rows);
  held = nullptr;
  auto other = small.request(answers->image(3, 0));
  while (small.has_work()) small.advance(1.0);
  CHECK(small.request(image)->is_ready == false);
}

}  // namespace pagoda::engine
