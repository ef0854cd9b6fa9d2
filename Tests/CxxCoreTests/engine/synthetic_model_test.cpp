// Synthetic models: every shape has exactly the tensors its architecture needs, and the numbers stay finite.
#include <cmath>
#include <sstream>
#include <string>
#include <tuple>

#include "device/registry.h"
#include "engine/load/loader.h"
#include "engine/load/memory_plan.h"
#include "engine/recorder.h"
#include "io/synthetic/files.h"
#include "io/synthetic/shapes.h"
#include "model/model.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

Status check_shape(const std::string& name, const device::Device& device, int64_t& num_parameters) {
  auto files = io::open_synthetic_files(name);
  if (!files.is_ok()) return files.status;
  auto json = (*files)->read_text("config.json", 1 << 20);
  if (!json.is_ok()) return json.status;
  auto config = io::parse_model_config(*json, name);
  if (!config.is_ok()) return config.status;
  auto checkpoint = io::Checkpoint::open(**files);
  if (!checkpoint.is_ok()) return checkpoint.status;
  auto weights = model::check_weights(*config, *checkpoint, device, WeightFormat::bf16);
  if (!weights.is_ok()) return weights.status;
  CHECK_EQ(weights->skipped_tensors.size(), size_t{0});
  num_parameters = weights->num_parameters;
  CHECK_EQ(weights->head_matrix.num_parameters, int64_t{config->vocab_size} * config->hidden_size);
  const int64_t num_matrices = config->tie_word_embeddings ? 1 : 2;  // matrices of the head's size
  const int64_t rest = num_parameters - num_matrices * weights->head_matrix.num_parameters;
  const int64_t of_token = weights->layer_matrices.num_parameters;
  if (config->num_experts == 0) CHECK(of_token <= rest && of_token > rest / 100 * 97);
  else CHECK(of_token > rest / 100 && of_token < rest / 4);  // only the experts that a token is routed to
  if (name == "qwen3.5-35b-a3b") CHECK(of_token > 2'000'000'000 && of_token < 3'000'000'000);
  return ok_status();
}

}  // namespace

PAGODA_TEST(engine_every_synthetic_shape_has_its_tensors) {
  auto device = device::make_device("reference", 1);
  REQUIRE_OK(device);
  int num_shapes = 0;
  std::istringstream names(io::shape_names());
  for (std::string name; std::getline(names >> std::ws, name, ','); ++num_shapes) {
    int64_t num_parameters = 0;
    test::note(name);
    CHECK_OK(check_shape(name, **device, num_parameters));
    CHECK(num_parameters > 0);
    if (name == "qwen3.5-0.8b") CHECK(std::abs(static_cast<double>(num_parameters) / 752.4e6 - 1) < 0.001);
    if (name == "qwen3-0.6b") CHECK(std::abs(static_cast<double>(num_parameters) / 596.0e6 - 1) < 0.001);
    if (name == "llama-3.2-1b") CHECK(std::abs(static_cast<double>(num_parameters) / 1235.8e6 - 1) < 0.001);
    if (name == "smollm2-135m") CHECK(std::abs(static_cast<double>(num_parameters) / 134.5e6 - 1) < 0.001);
  }
  CHECK(num_shapes >= 10);
}

// Rings next to the recurrent state keep the rows of 7 drafts; 8 more would make a state a tenth larger.
PAGODA_TEST(engine_a_model_with_recurrent_state_takes_fewer_drafts) {
  for (const auto& [shape, num_asked, num_taken] :
       {std::tuple{"smollm2-135m", 0, 15}, {"smollm2-135m", 9, 9}, {"qwen3.5-0.8b", 0, 7}, {"qwen3.5-0.8b", 15, 7}}) {
    auto files = io::open_synthetic_files(shape);
    REQUIRE_OK(files);
    auto json = (*files)->read_text("config.json", 1 << 20);
    REQUIRE_OK(json);
    auto config = io::parse_model_config(*json, shape);
    REQUIRE_OK(config);
    EngineOptions options;
    options.max_drafts = num_asked;
    CHECK_OK(check_options(options));
    CHECK_EQ(max_drafts(options, model::cache_layout(*config, DType::bf16, options.block_size)), num_taken);
  }
  EngineOptions options;
  options.max_drafts = 16;
  CHECK(check_options(options).code == StatusCode::invalid_argument);
}

PAGODA_TEST(engine_a_synthetic_model_gives_finite_and_repeatable_answers) {
  std::vector<uint32_t> first;
  for (int round = 0; round < 2; ++round) {
    EngineOptions options;
    options.num_threads = 1;
    options.max_model_len = 64;
    ModelSource source;
    source.shape = "tiny";
    auto loaded = load(source, options, nullptr);
    REQUIRE_OK(loaded);
    CHECK(loaded->tokenizer != nullptr && loaded->chat_template != nullptr);
    EngineCore core(*loaded->model, loaded->core);
    Request request;
    for (int32_t i = 0; i < 20; ++i) request.prompt_ids.push_back(i * 25);
    request.sampling.max_tokens = 20;
    request.sampling.num_top_logprobs = 1;
    test::Recorder recorder;
    auto prepared = core.prepare(request, 1, &test::Recorder::on_event, &recorder);
    REQUIRE_OK(prepared);
    core.add(std::move(*prepared));
    while (core.has_work()) {
      core.step();
      for (float logit : loaded->model->logits()) REQUIRE(std::isfinite(logit));
    }
    CHECK_EQ(recorder.tokens.size(), size_t{20});
    CHECK_EQ(recorder.logprob_bits.size(), size_t{20});
    if (round == 0) first = recorder.logprob_bits;
    else CHECK(first == recorder.logprob_bits);
  }
}

}  // namespace pagoda::engine
