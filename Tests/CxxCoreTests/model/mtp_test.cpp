// The MTP head against one put together from the parts of transformers: the same drafts, and logits within rounding.
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

#include "engine/batch_builder.h"
#include "engine/loader.h"
#include "io/gguf/gguf_file.h"
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

// A tensor of the head by its names in safetensors and in GGUF, where the head is layer 2 of the fixtures.
struct HeadTensor {
  std::string name, gguf_name;
  std::vector<int64_t> shape;
  std::vector<float> values;
  bool is_norm = false;
};

const std::pair<const char*, const char*> kLayerNames[] = {
    {"input_layernorm.weight", "attn_norm.weight"},
    {"post_attention_layernorm.weight", "post_attention_norm.weight"},
    {"self_attn.q_proj.weight", "attn_q.weight"},
    {"self_attn.k_proj.weight", "attn_k.weight"},
    {"self_attn.v_proj.weight", "attn_v.weight"},
    {"self_attn.o_proj.weight", "attn_output.weight"},
    {"self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"mlp.gate_proj.weight", "ffn_gate.weight"},
    {"mlp.up_proj.weight", "ffn_up.weight"},
    {"mlp.down_proj.weight", "ffn_down.weight"},
    {"mlp.gate.weight", "ffn_gate_inp.weight"},
    {"mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight"},
    {"mlp.experts.down_proj", "ffn_down_exps.weight"},
    {"mlp.shared_expert_gate.weight", "ffn_gate_inp_shexp.weight"},
    {"mlp.shared_expert.gate_proj.weight", "ffn_gate_shexp.weight"},
    {"mlp.shared_expert.up_proj.weight", "ffn_up_shexp.weight"},
    {"mlp.shared_expert.down_proj.weight", "ffn_down_shexp.weight"},
};

// Random numbers in the shapes of the fixture's attention layer.
std::vector<HeadTensor> make_head(const CheckpointEditor& editor) {
  std::vector<HeadTensor> head;
  for (const auto& [name, gguf_name] : kLayerNames) {
    const auto found = editor.tensors.find(std::string("model.layers.1.") + name);
    if (found != editor.tensors.end())
      head.push_back({std::string("mtp.layers.0.") + name, std::string("blk.2.") + gguf_name, found->second.shape, {}});
  }
  const int64_t size = editor.tensors.at("model.norm.weight").shape.front();
  head.push_back({"mtp.fc.weight", "blk.2.nextn.eh_proj.weight", {size, 2 * size}, {}});
  head.push_back({"mtp.pre_fc_norm_embedding.weight", "blk.2.nextn.enorm.weight", {size}, {}});
  head.push_back({"mtp.pre_fc_norm_hidden.weight", "blk.2.nextn.hnorm.weight", {size}, {}});
  head.push_back({"mtp.norm.weight", "blk.2.nextn.shared_head_norm.weight", {size}, {}});
  std::mt19937_64 rng(7);
  for (HeadTensor& tensor : head) {
    int64_t count = 1;
    for (const int64_t dim : tensor.shape) count *= dim;
    for (int64_t i = 0; i < count; ++i)
      tensor.values.push_back((static_cast<float>(rng() >> 40) / static_cast<float>(1 << 24) - 0.5f) * 0.8f);
    tensor.is_norm = tensor.shape.size() == 1;
  }
  return head;
}

void pad(std::string& bytes) { bytes.resize((bytes.size() + 31) / 32 * 32); }

// The GGUF file with the head as one more block: values as its converter writes them, norms with 1 added. is_alone: a
// file with the head alone, and with what the model has beside its layers.
std::string gguf_with_head(const std::string& architecture, const std::vector<HeadTensor>& head, bool is_alone) {
  std::ifstream file(fixtures_dir() + "/gguf/" + architecture + ".gguf", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  uint64_t num_tensors = 0, num_keys = 0;
  std::memcpy(&num_tensors, bytes.data() + 8, 8);
  std::memcpy(&num_keys, bytes.data() + 16, 8);
  const size_t begin = bytes.find(gguf_string("token_embd.weight"));
  CHECK(begin != std::string::npos);
  size_t end = begin;
  uint64_t num_kept = 0;
  std::string kept;
  for (uint64_t i = 0; i < num_tensors; ++i) {
    uint64_t name_size = 0;
    uint32_t num_dims = 0;
    std::memcpy(&name_size, bytes.data() + end, 8);
    std::memcpy(&num_dims, bytes.data() + end + 8 + name_size, 4);
    const size_t size = 8 + name_size + 4 + 8 * num_dims + 4 + 8;
    if (!is_alone || bytes.compare(end + 8, 4, "blk.") != 0) {
      kept += bytes.substr(end, size);
      ++num_kept;
    }
    end += size;
  }
  std::string keys = bytes.substr(24, begin - 24), data = bytes.substr((end + 31) / 32 * 32), descriptions;
  const std::string layers = gguf_u32(architecture + ".block_count", 2);
  CHECK(keys.find(layers) != std::string::npos);
  keys.replace(keys.find(layers), layers.size(), gguf_u32(architecture + ".block_count", 3));
  keys += gguf_u32(architecture + ".nextn_predict_layers", 1);
  for (const HeadTensor& tensor : head) {
    pad(data);
    descriptions += gguf_string(tensor.gguf_name) + raw(static_cast<uint32_t>(tensor.shape.size()));
    for (size_t i = tensor.shape.size(); i-- > 0;) descriptions += raw(static_cast<uint64_t>(tensor.shape[i]));
    descriptions += raw(uint32_t{0}) + raw(uint64_t{data.size()});
    for (const float value : tensor.values) data += raw(tensor.is_norm ? value + 1 : value);
  }
  std::string all = bytes.substr(0, 8) + raw(num_kept + head.size()) + raw(num_keys + 1) + keys + kept + descriptions;
  pad(all);
  return all + data;
}

// The model's greedy token after a prompt, then the head's drafts and their logits.
Golden drafts_of(const ModelSource& source) {
  auto opened = Runner::open(source, "cpu");
  CHECK_OK(opened);
  if (!opened.is_ok()) return {};
  Runner& runner = **opened;
  CHECK(runner.loaded.model->has_head());
  Golden golden;
  for (int32_t i = 0; i < 21; ++i) golden.prompt.push_back((i * 31 + 5) % runner.loaded.core.vocab_size);
  runner.sequence.tokens = golden.prompt;
  runner.feed(21);
  const auto last = runner.loaded.model->logits();
  golden.next.push_back(highest({last.begin(), last.end()}));
  runner.sequence.tokens.push_back(golden.next.front());
  int32_t token = golden.next.front();
  for (int32_t i = 0; i < 6; ++i) {
    const std::vector<float> logits = runner.draft(token, i);
    golden.drafts.push_back(token = highest(logits));
    golden.logits.insert(golden.logits.end(), logits.begin(), logits.end());
  }
  return golden;
}

void check_gguf(const std::string& architecture, bool has_own_file) {
  CheckpointEditor editor(fixtures_dir() + "/gguf/" + architecture);
  const std::vector<HeadTensor> head = make_head(editor);
  for (const HeadTensor& tensor : head) {
    CheckpointEditor::Tensor& to = editor.tensors[tensor.name];
    to = {"F32", tensor.shape, std::vector<std::byte>(tensor.values.size() * sizeof(float))};
    std::memcpy(to.bytes.data(), tensor.values.data(), to.bytes.size());
  }
  const Golden wanted = drafts_of(editor.write());
  const auto as_file = [](const char* name, const std::string& bytes) {
    return ModelFile{name, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  };
  ModelSource source;
  const std::string with_head = gguf_with_head(architecture, head, false),
                    alone = gguf_with_head(architecture, head, true);
  std::ifstream file(fixtures_dir() + "/gguf/" + architecture + ".gguf", std::ios::binary);
  const std::string plain{std::istreambuf_iterator<char>(file), {}};
  if (has_own_file) source.files = {as_file("m.gguf", plain), as_file("mtp-m.gguf", alone)};
  else source.files = {as_file("m.gguf", with_head)};
  const Golden golden = drafts_of(source);
  REQUIRE(!wanted.logits.empty() && wanted.logits.size() == golden.logits.size());
  CHECK(wanted.next == golden.next && wanted.drafts == golden.drafts);
  double worst = 0;
  for (size_t i = 0; i < wanted.logits.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(wanted.logits[i] - golden.logits[i])));
  note(architecture + ": largest difference " + std::to_string(worst));
  CHECK(worst <= 1e-5);
}

}  // namespace

PAGODA_TEST(mtp_a_head_in_a_gguf_file_drafts_as_in_safetensors) {
  for (const char* architecture : {"qwen35", "qwen35moe"}) check_gguf(architecture, false);
}

PAGODA_TEST(mtp_a_head_in_a_gguf_file_of_its_own_drafts_as_in_safetensors) {
  for (const char* architecture : {"qwen35", "qwen35moe"}) check_gguf(architecture, true);
}

PAGODA_TEST(mtp_a_gguf_head_alone_is_no_model) {
  const std::string bytes =
      gguf_with_head("qwen35", make_head(CheckpointEditor(fixtures_dir() + "/gguf/qwen35")), true);
  const ModelFile file{"other.gguf", reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  const Status status = engine::load({.directory = "", .files = {file}}, {}, nullptr).status;
  CHECK(status.message.find("only an MTP head") != std::string::npos);
}

PAGODA_TEST(mtp_drafts_of_a_dense_head_are_those_of_transformers) { check_model("qwen3_5_vision", "mtp."); }
PAGODA_TEST(mtp_drafts_of_a_head_with_experts_are_those_of_transformers) { check_model("qwen3_5_moe", "mtp."); }
PAGODA_TEST(mtp_a_head_is_found_under_its_other_name) { check_model("qwen3_5_moe", "model.mtp."); }

namespace {

// As mlx-lm stores a model: convolutions as [channels, kernel, 1], norms with 1 added, names within language_model.
void store_as_mlx(CheckpointEditor& editor) {
  std::map<std::string, CheckpointEditor::Tensor> stored;
  for (auto& [name, tensor] : editor.tensors) {
    const bool is_norm = tensor.shape.size() == 1 && name.find("norm") != std::string::npos;
    if (is_norm && !name.ends_with("linear_attn.norm.weight")) {
      std::vector<float> values(tensor.bytes.size() / sizeof(float));
      REQUIRE(tensor.dtype == "F32");
      std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      for (float& value : values) value += 1.0f;
      std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    }
    if (name.ends_with("conv1d.weight") && tensor.shape.size() == 3) std::swap(tensor.shape[1], tensor.shape[2]);
    stored["language_model." + name] = std::move(tensor);
  }
  editor.tensors = std::move(stored);
}

}  // namespace

PAGODA_TEST(mtp_a_head_as_mlx_stores_it_gives_the_same_drafts) {
  const std::string path = fixtures_dir() + "/model/qwen3_5_moe";
  CheckpointEditor editor(path), expected(path, path + "/mtp");
  const Golden golden = read_golden(expected);
  REQUIRE(!golden.drafts.empty());
  for (const auto& [key, tensor] : expected.tensors)
    if (key.starts_with("mtp.")) editor.tensors[key] = tensor;
  store_as_mlx(editor);
  check_drafts(editor.write(), golden, "cpu", 100);
}

namespace {

CheckpointEditor with_draft_vocab(int32_t size) {
  CheckpointEditor editor(fixtures_dir() + "/model/qwen3_5_vision");
  const size_t at = editor.config().find("\"vocab_size\"");
  CHECK(at != std::string::npos);
  editor.config().insert(at, "\"draft_vocab_size\": " + std::to_string(size) + ", ");
  return editor;
}

}  // namespace

// The same numbers, of fewer tokens.
PAGODA_TEST(mtp_a_cut_head_gives_the_first_logits_of_the_whole_one) {
  for (const char* device : {"cpu", "reference", "software"}) {
    std::vector<float> whole;
    for (const int32_t size : {1 << 20, 41}) {
      CheckpointEditor editor = with_draft_vocab(size);
      auto opened = Runner::open(editor.write(), device);
      REQUIRE_OK(opened);
      Runner& runner = **opened;
      runner.sequence.tokens = {5, 9, 14, 3, 8, 2, 11};
      runner.feed(7);
      runner.sequence.tokens.push_back(4);
      const std::vector<float> logits = runner.draft(4, 0);
      if (size > 41) {
        whole = logits;
        CHECK_EQ(static_cast<int32_t>(whole.size()), runner.loaded.core.vocab_size);
        continue;
      }
      REQUIRE(logits.size() == 41 && whole.size() > 41);
      CHECK(std::memcmp(logits.data(), whole.data(), 41 * sizeof(float)) == 0);
    }
  }
}

namespace {

struct Answer {
  std::vector<int32_t> tokens;
  static void on_event(void* context, const Event* event) {
    if (event->kind == EventKind::token) static_cast<Answer*>(context)->tokens.push_back(event->token_id);
  }
};

// The tokens of a request, and how many drafts there were.
std::vector<int32_t> answer_of(engine::LoadedModel& loaded, const SamplingParams& sampling, bool drafts,
                               int64_t& num_drafted) {
  engine::CoreConfig config = loaded.core;
  config.prefix_cache = false;
  config.uses_head = drafts;
  config.takes_all_drafts = true;
  if (!drafts) config.max_drafts = 0;
  engine::EngineCore core(*loaded.model, config);
  Request request;
  for (int32_t i = 0; i < 20; ++i) request.prompt_ids.push_back((i * 31 + 5) % loaded.core.vocab_size);
  request.sampling = sampling;
  request.sampling.ignore_eos = true;
  Answer answer;
  auto prepared = core.prepare(request, 1, &Answer::on_event, &answer);
  CHECK_OK(prepared);
  if (!prepared.is_ok()) return {};
  core.add(std::move(*prepared));
  while (core.has_work()) core.step();
  num_drafted = core.stats().speculation.num_drafted_tokens;
  return answer.tokens;
}

}  // namespace

PAGODA_TEST(mtp_a_cut_head_changes_no_answer) {
  SamplingParams greedy, drawn, penalised;
  greedy.temperature = 0;
  drawn.temperature = penalised.temperature = 1.0f;
  drawn.has_seed = penalised.has_seed = true;
  drawn.seed = penalised.seed = 5;
  drawn.top_k = 20;
  penalised.repetition_penalty = 1.3f;
  penalised.frequency_penalty = 0.4f;
  penalised.logit_bias = {{50, 3.0f}};  // a token that is never drafted
  for (const std::string device : {"cpu", "software"}) {
    CheckpointEditor editor = with_draft_vocab(41);
    auto opened = Runner::open(editor.write(), device);
    REQUIRE_OK(opened);
    for (SamplingParams sampling : {greedy, drawn, penalised}) {
      if (device == "software" && sampling.top_k == 0) continue;  // it takes its time
      sampling.max_tokens = device == "software" ? 8 : 40;
      int64_t num_drafted = 0, none = 0;
      const std::vector<int32_t> wanted = answer_of((*opened)->loaded, sampling, false, none);
      CHECK_EQ(static_cast<int32_t>(wanted.size()), sampling.max_tokens);
      CHECK(answer_of((*opened)->loaded, sampling, true, num_drafted) == wanted);
      CHECK(num_drafted > 0 && none == 0);
    }
  }
}

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
