// MTP heads compared with those built from the parts of transformers: the same drafts, and logits within rounding.
#include <cmath>
#include <cstring>
#include <map>

#include "engine/load/loader.h"
#include "model/checkpoint_editor.h"
#include "model/mtp_runner.h"

namespace pagoda::test {
namespace {

constexpr double kTolerance = 2e-5;

template <class T>
std::vector<T> read_tensor(const CheckpointEditor& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) return {};
  std::vector<T> values(found->second.bytes.size() / sizeof(T));
  std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
  return values;
}

// With the prompt fed in chunks of `chunk` tokens.
void check_drafts(const ModelSource& source, const MtpGolden& golden, const std::string& device, int32_t chunk) {
  auto opened = MtpRunner::open(source, device);
  REQUIRE_OK(opened);
  MtpRunner& runner = **opened;
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

MtpGolden read_golden(const CheckpointEditor& file) {
  return {read_tensor<int32_t>(file, "prompt"), read_tensor<int32_t>(file, "next"),
          read_tensor<int32_t>(file, "drafts"), read_tensor<float>(file, "logits")};
}

// The folder's own head, or the one next to the golden drafts; under names with another prefix if requested.
void check_model(const std::string& name, const std::string& prefix,
                 std::initializer_list<const char*> devices = {"cpu", "reference", "software"}) {
  const std::string path = fixtures_dir() + "/model/" + name;
  CheckpointEditor editor(path), expected(path, path + "/mtp");
  const MtpGolden golden = read_golden(expected);
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
  for (const char* device : devices)
    for (const int32_t chunk : {100, 5, 1}) check_drafts(source, golden, device, chunk);
}

}  // namespace

PAGODA_TEST(mtp_drafts_of_a_dense_head_are_those_of_transformers) { check_model("qwen3_5_vision", "mtp."); }
PAGODA_TEST(mtp_drafts_of_a_head_with_experts_are_those_of_transformers) { check_model("qwen3_5_moe", "mtp."); }
PAGODA_TEST(mtp_a_head_is_found_under_its_other_name) { check_model("qwen3_5_moe", "model.mtp."); }
PAGODA_TEST(mtp_drafts_of_a_head_that_reads_all_streams_are_those_of_transformers) {
  check_model("qwen4_exp", "mtp.", {"cpu", "reference"});
  check_model("qwen4_exp", "model.mtp.", {"cpu"});
}

namespace {

// As mlx-lm stores a model: convolutions as [channels, kernel, 1], norms with 1 added unless the family has others,
// names within language_model.
void store_as_mlx(CheckpointEditor& editor, bool adds_one) {
  std::map<std::string, CheckpointEditor::Tensor> stored;
  for (auto& [name, tensor] : editor.tensors) {
    const bool is_norm = adds_one && tensor.shape.size() == 1 && name.find("norm") != std::string::npos;
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
  for (const std::string name : {"qwen3_5_moe", "qwen4_exp"}) {
    const std::string path = fixtures_dir() + "/model/" + name;
    CheckpointEditor editor(path), expected(path, path + "/mtp");
    const MtpGolden golden = read_golden(expected);
    REQUIRE(!golden.drafts.empty());
    for (const auto& [key, tensor] : expected.tensors)
      if (key.starts_with("mtp.")) editor.tensors[key] = tensor;
    store_as_mlx(editor, name != "qwen4_exp");
    check_drafts(editor.write(), golden, "cpu", 100);
  }
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

// The same logits, for fewer tokens.
PAGODA_TEST(mtp_a_cut_head_gives_the_first_logits_of_the_whole_one) {
  for (const char* device : {"cpu", "reference", "software"}) {
    std::vector<float> whole;
    for (const int32_t size : {1 << 20, 41}) {
      CheckpointEditor editor = with_draft_vocab(size);
      auto opened = MtpRunner::open(editor.write(), device);
      REQUIRE_OK(opened);
      MtpRunner& runner = **opened;
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
                               int64_t& num_drafted, const GrammarSpec& grammar = {}) {
  engine::CoreConfig config = loaded.core;
  config.prefix_cache = false;
  config.uses_head = drafts;
  config.has_mask_thread = false;  // no mask is late, so that no draft is lost
  if (!drafts) config.max_drafts = 0;
  engine::TestHooks hooks;
  hooks.takes_all_drafts = true;
  engine::EngineCore core(*loaded.model, config, std::move(hooks));
  Request request;
  for (int32_t i = 0; i < 20; ++i) request.prompt_ids.push_back((i * 31 + 5) % loaded.core.vocab_size);
  request.sampling = sampling;
  request.grammar = grammar;
  request.sampling.ignore_eos = grammar.kind == GrammarKind::none;
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

// Greedy and drawn answers with drafts of a head that reads all streams, also in 8 bits and with experts in files.
PAGODA_TEST(mtp_a_head_of_streams_changes_no_answer) {
  const std::string path = fixtures_dir() + "/model/qwen4_exp";
  CheckpointEditor editor(path), expected(path, path + "/mtp");
  for (const auto& [key, tensor] : expected.tensors)
    if (key.starts_with("mtp.")) editor.tensors[key] = tensor;
  const ModelSource source = editor.write();
  for (const auto& [quantize, expert_bytes] : {std::pair("none", 0), {"8bit", 0}, {"none", 60 << 10}}) {
    EngineOptions options;
    options.quantize = quantize;
    options.speculation = "mtp";
    options.max_model_len = 128;
    options.expert_memory_bytes = expert_bytes;
    auto loaded = engine::load(source, options, nullptr);
    REQUIRE_OK(loaded);
    CHECK(loaded->model->has_head());
    for (const float temperature : {0.0f, 1.0f}) {
      SamplingParams sampling;
      sampling.temperature = temperature;
      sampling.has_seed = true;
      sampling.seed = 9;
      sampling.max_tokens = 60;
      int64_t num_drafted = 0, none = 0;
      const std::vector<int32_t> wanted = answer_of(*loaded, sampling, false, none);
      CHECK_EQ(wanted.size(), size_t{60});
      CHECK(answer_of(*loaded, sampling, true, num_drafted) == wanted);
      CHECK(num_drafted > 0 && none == 0);
    }
  }
}

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
    auto opened = MtpRunner::open(editor.write(), device);
    REQUIRE_OK(opened);
    for (SamplingParams sampling : {greedy, drawn, penalised}) {
      if (device == "software" && sampling.top_k == 0) continue;  // the software device is slow
      sampling.max_tokens = device == "software" ? 8 : 40;
      int64_t num_drafted = 0, none = 0;
      const std::vector<int32_t> wanted = answer_of((*opened)->loaded, sampling, false, none);
      CHECK_EQ(static_cast<int32_t>(wanted.size()), sampling.max_tokens);
      CHECK(answer_of((*opened)->loaded, sampling, true, num_drafted) == wanted);
      CHECK(num_drafted > 0 && none == 0);
    }
  }
}

// No token of this text is forced, so its drafts are the head's.
PAGODA_TEST(mtp_answers_of_a_grammar_are_drafted_too) {
  auto opened = MtpRunner::open(ModelSource{mini_model_dir(), {}}, "cpu");
  REQUIRE_OK(opened);
  SamplingParams sampling;
  sampling.temperature = 0;
  sampling.max_tokens = 40;
  const GrammarSpec text{GrammarKind::regex, "[A-Za-z ,.\n]{200,}"};
  int64_t num_drafted = 0, none = 0;
  const std::vector<int32_t> wanted = answer_of((*opened)->loaded, sampling, false, none, text);
  CHECK_EQ(static_cast<int32_t>(wanted.size()), sampling.max_tokens);
  CHECK(answer_of((*opened)->loaded, sampling, true, num_drafted, text) == wanted);
  CHECK(num_drafted > 0 && none == 0);
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

// The rows of a head in a block, the last layer's, as stored in a prefix file.
static std::vector<std::byte> head_rows_of(MtpRunner& runner, int32_t block) {
  const MemoryPlan& memory = runner.loaded.info.plan;
  std::vector<std::byte> bytes(static_cast<size_t>(memory.kv_block_bytes));
  CHECK_OK(runner.loaded.model->read_block(block, runner.loaded.core.limits.block_size, bytes));
  return {bytes.end() - memory.head_kv_block_bytes, bytes.end()};
}

static bool is_zero(const std::vector<std::byte>& bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

// The source that it writes lives as long as the editor.
static CheckpointEditor add_head(const std::string& name) {
  const std::string path = fixtures_dir() + "/model/" + name;
  CheckpointEditor editor(path), expected(path, path + "/mtp");
  for (const auto& [key, tensor] : expected.tensors)
    if (key.starts_with("mtp.")) editor.tensors[key] = tensor;
  return editor;
}

// Blocks of 16 tokens: all rows of the first, those of the second with a gap, all of the third.
PAGODA_TEST(mtp_rows_that_are_skipped_are_zeros_in_a_prefix_and_later_ones_are_the_same) {
  CheckpointEditor dense = add_head("qwen3_5_vision"), streams = add_head("qwen4_exp");
  const ModelSource of_dense = dense.write(), of_streams = streams.write();
  for (const auto& [device, source] : {std::pair("cpu", of_dense),
                                       {"reference", of_dense},
                                       {"cpu", of_streams},
                                       {"reference", of_streams},
                                       {"software", of_dense}}) {
    auto fed = MtpRunner::open(source, device), skipped = MtpRunner::open(source, device);
    REQUIRE_OK(fed);
    REQUIRE_OK(skipped);
    for (MtpRunner* runner : {fed->get(), skipped->get()}) {
      for (int32_t i = 0; i < 48; ++i) runner->sequence.tokens.push_back(3 + i * 5 % 40);
      for (int32_t i = 0; i < 48; i += 4) runner->feed(4, runner == skipped->get() && i >= 20 && i < 28);
    }
    CHECK_EQ((*fed)->loaded.core.limits.block_size, 16);
    const std::vector<int32_t>& blocks = (*fed)->sequence.block_table;
    CHECK(head_rows_of(**fed, blocks[0]) == head_rows_of(**skipped, blocks[0]));
    CHECK(!is_zero(head_rows_of(**fed, blocks[1])));
    CHECK(is_zero(head_rows_of(**skipped, blocks[1])));
    CHECK(!is_zero(head_rows_of(**skipped, blocks[2])));
    CHECK(head_rows_of(**fed, blocks[2]) == head_rows_of(**skipped, blocks[2]));
  }
}

// The head's states, the last bytes of a slot, as stored in a prefix file.
static std::vector<std::byte> head_states_of(MtpRunner& runner) {
  const MemoryPlan& memory = runner.loaded.info.plan;
  std::vector<std::byte> bytes(static_cast<size_t>(memory.state_slot_bytes));
  CHECK_OK(runner.loaded.model->read_slot(runner.sequence.state_slot, bytes));
  return {bytes.end() - memory.head_state_slot_bytes, bytes.end()};
}

// A pause up to the end of a block, without states: the first row after it is computed from none.
PAGODA_TEST(mtp_states_that_are_skipped_are_zeros_in_a_prefix_and_so_are_the_rows_after_them) {
  CheckpointEditor editor = add_head("qwen3_5_vision");
  const ModelSource source = editor.write();
  auto opened = MtpRunner::open(source, "cpu");
  REQUIRE_OK(opened);
  MtpRunner& runner = **opened;
  for (int32_t i = 0; i < 64; ++i) runner.sequence.tokens.push_back(3 + i * 5 % 40);
  for (int32_t i = 0; i < 64; i += 4) {
    const bool is_pause = i >= 24 && i < 32;
    runner.feed(4, is_pause, is_pause);
    CHECK_EQ(is_zero(head_states_of(runner)), is_pause);
  }
  const std::vector<int32_t>& blocks = runner.sequence.block_table;
  for (size_t block = 0; block < 4; ++block)
    CHECK_EQ(is_zero(head_rows_of(runner, blocks[block])), block == 1 || block == 2);
}

}  // namespace pagoda::test
