// The MTP head against one put together from the parts of transformers: the same drafts, and logits within rounding.
#include <cmath>

#include "engine/batch_builder.h"
#include "engine/loader.h"
#include "model/checkpoint_editor.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

constexpr double kTolerance = 2e-5;

struct Golden {
  std::vector<int32_t> prompt, next, drafts;
  std::vector<float> logits;  // [drafts, vocab]
};

template <class T>
std::vector<T> read_tensor(const CheckpointEditor& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) return {};
  std::vector<T> values(found->second.bytes.size() / sizeof(T));
  std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
  return values;
}

// A model and one sequence of it, stepped by hand.
struct Runner {
  engine::LoadedModel loaded;
  request::Sequence sequence;
  model::ForwardBatch batch;

  static Result<std::unique_ptr<Runner>> open(const ModelSource& source, const std::string& device) {
    EngineOptions options;
    options.device = device;
    options.dtype = options.kv_dtype = "float32";
    options.quantize = "none";
    options.speculation = "mtp";
    options.max_model_len = 128;
    auto loaded = engine::load(source, options, nullptr);
    if (!loaded.is_ok()) return loaded.status;
    auto runner = std::make_unique<Runner>();
    runner->loaded = std::move(*loaded);
    engine::reserve_batch(runner->batch, runner->loaded.core.sizes);
    for (int32_t block = 7; block >= 0; --block) runner->sequence.block_table.push_back(block);
    runner->sequence.state_slot = 1;
    runner->sequence.has_fresh_slot = true;
    return runner;
  }

  void feed(int32_t count) {
    scheduler::StepPlan plan;
    plan.rows.push_back({&sequence, count});
    const engine::CoreConfig& core = loaded.core;
    engine::build_batch(plan, core.block_size, core.sizes.max_blocks_per_seq, core.has_state, batch);
    batch.feeds_head = true;
    CHECK_OK(loaded.model->forward(batch));
    sequence.num_computed_tokens += count;
    sequence.has_fresh_slot = false;
  }

  std::vector<float> draft(int32_t token, int32_t index) {
    const engine::CoreConfig& core = loaded.core;
    engine::begin_draft_batch(batch);
    engine::add_draft_row({&sequence, token, sequence.num_tokens() - 1 + index, index == 0 ? -1 : 0}, core.block_size,
                          core.sizes.max_blocks_per_seq, batch);
    CHECK_OK(loaded.model->draft(batch, index == 0));
    const auto logits = loaded.model->logits();
    return {logits.begin(), logits.end()};
  }
};

int32_t highest(const std::vector<float>& logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// With the prompt fed in chunks of `chunk` tokens.
void check_drafts(const ModelSource& source, const Golden& golden, const std::string& device, int32_t chunk) {
  auto opened = Runner::open(source, device);
  REQUIRE_OK(opened);
  Runner& runner = **opened;
  CHECK(runner.loaded.model->has_head());
  runner.sequence.tokens = golden.prompt;
  while (runner.sequence.num_uncomputed() > 0) runner.feed(std::min(chunk, runner.sequence.num_uncomputed()));
  const auto last = runner.loaded.model->logits();
  CHECK_EQ(highest({last.begin(), last.end()}), golden.next.front());
  runner.sequence.tokens.push_back(golden.next.front());
  int32_t token = golden.next.front();
  double worst = 0;
  for (size_t i = 0; i < golden.drafts.size(); ++i) {
    const std::vector<float> logits = runner.draft(token, static_cast<int32_t>(i));
    const float* wanted = golden.logits.data() + i * logits.size();
    REQUIRE((i + 1) * logits.size() <= golden.logits.size());
    for (size_t v = 0; v < logits.size(); ++v) {
      const double difference = std::abs(static_cast<double>(logits[v]) - static_cast<double>(wanted[v]));
      if (!(difference <= worst)) worst = difference;
    }
    token = highest(logits);
    CHECK_EQ(token, golden.drafts[i]);
  }
  note(device + ", chunks of " + std::to_string(chunk) + ": largest difference " + std::to_string(worst));
  CHECK(worst <= kTolerance);
}

Golden read_golden(const CheckpointEditor& file) {
  return {read_tensor<int32_t>(file, "prompt"), read_tensor<int32_t>(file, "next"),
          read_tensor<int32_t>(file, "drafts"), read_tensor<float>(file, "logits")};
}

// The folder's own head, or the one beside the golden drafts; under names with another prefix when asked for.
void check_model(const std::string& name, const std::string& prefix) {
  const std::string path = fixtures_dir() + "/model/" + name;
  CheckpointEditor editor(path), expected(path, path + "/mtp");
  const Golden golden = read_golden(expected);
  REQUIRE(!golden.drafts.empty());
  for (const auto& [key, tensor] : expected.tensors)
    if (key.starts_with("mtp.")) editor.tensors[key] = tensor;
  if (prefix != "mtp.") {
    std::map<std::string, CheckpointEditor::Tensor> renamed;
    for (auto& [key, tensor] : editor.tensors)
      renamed[key.starts_with("mtp.") ? prefix + key.substr(4) : key] = std::move(tensor);
    editor.tensors = std::move(renamed);
  }
  const ModelSource source = editor.write();
  for (const char* device : {"cpu", "reference", "software"})
    for (const int32_t chunk : {100, 5, 1}) check_drafts(source, golden, device, chunk);
}

}  // namespace

PAGODA_TEST(mtp_drafts_of_a_dense_head_are_those_of_transformers) { check_model("qwen3_5_vision", "mtp."); }
PAGODA_TEST(mtp_drafts_of_a_head_with_experts_are_those_of_transformers) { check_model("qwen3_5_moe", "mtp."); }
PAGODA_TEST(mtp_a_head_is_found_under_its_other_name) { check_model("qwen3_5_moe", "model.mtp."); }

PAGODA_TEST(mtp_a_head_that_is_not_whole_is_left_alone) {
  const std::string path = fixtures_dir() + "/model/qwen3_5_vision";
  CheckpointEditor editor(path);
  editor.tensors.erase("mtp.layers.0.mlp.up_proj.weight");
  EngineOptions options;
  options.max_model_len = 128;
  const auto loaded = engine::load(editor.write(), options, nullptr);
  REQUIRE_OK(loaded);
  CHECK(!loaded->model->has_head());
  options.speculation = "mtp";
  CHECK(engine::load(editor.write(), options, nullptr).status.message.find("has none") != std::string::npos);
}

}  // namespace pagoda::test
