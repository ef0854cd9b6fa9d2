// model: a checkpoint that does not match its configuration is refused by name, and one that does is read with any
// types.
#include <functional>

#include "model/checkpoint_editor.h"
#include "model/weights/groups.h"

namespace pagoda::test {
namespace {

std::string fixture(const char* name) { return fixtures_dir() + "/model/" + name; }

Result<model::WeightsSummary> check(const ModelSource& source, WeightFormat format = WeightFormat::f32) {
  auto opened = open_model(source);
  if (!opened.is_ok()) return opened.status;
  auto device = device::make_device("reference", 1);
  if (!device.is_ok()) return device.status;
  return model::check_weights(opened->config, *opened->checkpoint, **device, format);
}

// Both the check and the load refuse, and the message contains every one of `words`.
void check_refused(const ModelSource& source, StatusCode code, const std::vector<std::string>& words) {
  for (const Status& status : {check(source).status, ModelRunner::load(source, {.device = "reference"}).status}) {
    CHECK(status.code == code);
    for (const std::string& word : words) {
      if (status.message.find(word) == std::string::npos) note(status.message);
      CHECK(status.message.find(word) != std::string::npos);
    }
  }
}

std::vector<float> logits(const ModelSource& source) {
  auto runner =
      ModelRunner::load(source, {.device = "reference", .dtype = "float32", .max_tokens = 32, .max_context = 32});
  CHECK_OK(runner);
  if (!runner.is_ok()) return {};
  const std::vector<int32_t> prompt{5, 4, 3, 2, 1, 90, 91, 17, 17};
  return logits_of(**runner, prompt, prompt.size());
}

}  // namespace

PAGODA_TEST(model_refuses_a_missing_tensor) {
  for (const char* name : {"model.norm.weight", "model.embed_tokens.weight", "lm_head.weight",
                           "model.layers.1.linear_attn.A_log", "model.layers.3.self_attn.q_norm.weight"}) {
    CheckpointEditor editor(fixture("qwen3_5"));
    CHECK_EQ(editor.tensors.erase(name), size_t{1});
    check_refused(editor.write(), StatusCode::bad_file, {name, "missing", "model.safetensors", "["});
  }
  CheckpointEditor editor(fixture("qwen2"));
  editor.tensors.erase("model.layers.2.self_attn.k_proj.bias");
  check_refused(editor.write(), StatusCode::bad_file, {"model.layers.2.self_attn.k_proj.bias", "missing", "[32]"});
}

PAGODA_TEST(model_refuses_a_wrong_shape) {
  CheckpointEditor editor(fixture("qwen3_5"));
  editor.tensors["model.layers.0.mlp.up_proj.weight"].shape = {48, 80};
  check_refused(editor.write(), StatusCode::bad_file,
                {"model.layers.0.mlp.up_proj.weight", "[48, 80]", "[80, 48]", "model.safetensors"});
  CheckpointEditor flat(fixture("qwen3_5"));
  flat.tensors["model.layers.0.linear_attn.conv1d.weight"].shape = {160, 4};
  check_refused(flat.write(), StatusCode::bad_file, {"conv1d.weight", "[160, 4]", "[160, 1, 4]"});
}

PAGODA_TEST(model_refuses_integer_weights) {
  CheckpointEditor editor(fixture("qwen3_5"));
  auto& tensor = editor.tensors["model.layers.0.mlp.up_proj.weight"];
  tensor.dtype = "I8";
  tensor.bytes.resize(tensor.bytes.size() / 4);
  check_refused(editor.write(), StatusCode::bad_file, {"model.layers.0.mlp.up_proj.weight", "int8", "bfloat16"});
}

// Scales that are missing, cut or of other groups, and bits that are not those of the words: refused by name, by the
// check before a load too, which has no memory for weights.
PAGODA_TEST(model_refuses_packed_matrices_that_do_not_fit) {
  const std::string folder = fixtures_dir() + "/mlx/qwen3_moe", name = "model.layers.0.self_attn.v_proj";
  const auto refused = [&](const std::function<void(CheckpointEditor&)>& edit, const std::string& word) {
    CheckpointEditor editor(folder);
    edit(editor);
    check_refused(editor.write(), StatusCode::bad_file, {name, word});
  };
  refused([&](CheckpointEditor& e) { e.tensors.erase(name + ".scales"); }, "[16, 8]");
  refused([&](CheckpointEditor& e) { e.tensors.erase(name + ".biases"); }, "no biases");
  refused([&](CheckpointEditor& e) { e.tensors.erase(name + ".weight"); }, "no weight");
  const auto cut = [&](CheckpointEditor& e, const char* end, int64_t rows) {  // to half of its columns, or some rows
    CheckpointEditor::Tensor& tensor = e.tensors[name + end];
    tensor.shape = {rows, rows < 16 ? tensor.shape[1] : tensor.shape[1] / 2};
    tensor.bytes.resize(static_cast<size_t>(tensor.shape[0] * tensor.shape[1]) * 4);
  };
  refused([&](CheckpointEditor& e) { cut(e, ".scales", 16); }, "do not fit");
  refused([&](CheckpointEditor& e) { cut(e, ".scales", 8); }, "do not fit");
  refused([&](CheckpointEditor& e) { cut(e, ".biases", 16); }, "biases");
  refused([&](CheckpointEditor& e) { cut(e, ".weight", 16); }, "do not fit");
  const auto own = [&](CheckpointEditor& e, const std::string& fields) {
    e.config().replace(e.config().find("\"quantization\": {"), 17,
                       "\"quantization\": {\"" + name + "\": {" + fields + "},");
  };
  refused([&](CheckpointEditor& e) { own(e, R"("bits": 8, "group_size": 32)"); }, "do not fit");
  refused([&](CheckpointEditor& e) { own(e, R"("bits": 4, "group_size": 64)"); }, "do not fit");
  refused([&](CheckpointEditor& e) { own(e, R"("bits": 7, "group_size": 32)"); }, "bits");
  refused([&](CheckpointEditor& e) { own(e, R"("bits": 4, "group_size": 48)"); }, "group_size");
}

PAGODA_TEST(model_refuses_heads_larger_than_the_ops_take) {
  CheckpointEditor editor(fixture("qwen3_5"));
  const std::string key = "\"head_dim\": 16";
  REQUIRE(editor.config().find(key) != std::string::npos);
  editor.config().replace(editor.config().find(key), key.size(), "\"head_dim\": 1024");
  check_refused(editor.write(), StatusCode::unsupported, {"head_dim", "1024", "512"});
}

PAGODA_TEST(model_reads_stacked_tensors_of_different_types) {
  // k_proj in bf16 between q_proj and v_proj in f32, a bf16 norm: the same numbers as when all are f32.
  CheckpointEditor editor(fixture("qwen3_5"));
  const char* names[] = {"model.layers.3.self_attn.k_proj.weight", "model.layers.0.linear_attn.in_proj_b.weight",
                         "model.layers.2.input_layernorm.weight", "model.layers.1.linear_attn.conv1d.weight"};
  for (const char* name : names) to_bf16(editor.tensors[name]);
  const std::vector<float> mixed = logits(editor.write());
  for (const char* name : names) to_f32(editor.tensors[name]);
  const std::vector<float> wide = logits(editor.write());
  CHECK(!wide.empty() && mixed == wide);
}

PAGODA_TEST(model_lists_tensors_it_does_not_use) {
  auto vision = check(folder(fixture("qwen3_5_vision")));
  REQUIRE_OK(vision);
  size_t num_mtp = 0, num_visual = 0;
  for (const std::string& name : vision->skipped_tensors) {
    if (name.starts_with("mtp.")) ++num_mtp;
    else if (name.starts_with("model.visual.")) ++num_visual;
    else fail(__FILE__, __LINE__, "skipped " + name);
  }
  CHECK_EQ(num_mtp, size_t{15});
  CHECK(num_visual > 0);

  CheckpointEditor editor(fixture("qwen3_5_tied"));
  editor.tensors["model.rotary_emb.inv_freq"] = {"F32", {1}, std::vector<std::byte>(4)};
  editor.tensors["lm_head.weight"] = editor.tensors["model.embed_tokens.weight"];  // tied: the embedding is used
  auto extra = check(editor.write());
  REQUIRE_OK(extra);
  CHECK(extra->skipped_tensors == (std::vector<std::string>{"lm_head.weight", "model.rotary_emb.inv_freq"}));
}

PAGODA_TEST(model_counts_the_parameters_it_uses) {
  auto opened = open_model(folder(fixture("qwen2")));
  REQUIRE_OK(opened);
  int64_t count = 0;
  for (const auto& [name, tensor] : opened->checkpoint->tensors()) count += static_cast<int64_t>(tensor.size_bytes / 4);
  auto summary = check(folder(fixture("qwen2")));
  REQUIRE_OK(summary);
  CHECK_EQ(summary->num_parameters, count);
  CHECK(summary->skipped_tensors.empty());
}

PAGODA_TEST(model_dtype_is_the_stated_one_or_that_of_the_files) {
  auto tiny = open_model(folder(fixture("qwen3_5")));
  auto mini = open_model(folder(mini_model_dir()));  // config.json says "dtype": null, the tensors are bf16
  REQUIRE_OK(tiny);
  REQUIRE_OK(mini);
  const auto choose = [](const char* choice, const OpenedModel& opened) {
    auto dtype = model::choose_dtype(choice, opened.config, *opened.checkpoint);
    CHECK_OK(dtype);
    return dtype.is_ok() ? *dtype : DType::boolean;
  };
  CHECK(choose("auto", *tiny) == DType::f32);
  CHECK(choose("auto", *mini) == DType::bf16);
  CHECK(choose("float32", *mini) == DType::f32);
  CHECK(choose("float16", *mini) == DType::f16);
  CHECK(choose("bfloat16", *tiny) == DType::bf16);
  const Status refused = model::choose_dtype("int4", tiny->config, *tiny->checkpoint).status;
  CHECK(refused.code == StatusCode::invalid_argument && refused.message.find("int4") != std::string::npos);
}

// Rows reach a device in the type that the file stores, so that bf16 weights of bf16 files are copied.
PAGODA_TEST(model_reads_rows_in_the_type_of_the_file) {
  for (const auto& [name, wanted] : {std::pair(mini_model_dir(), DType::bf16),
                                     {fixtures_dir() + "/gguf/llama.gguf", DType::f16},
                                     {fixtures_dir() + "/gguf/qwen35.gguf", DType::f16},
                                     {fixtures_dir() + "/gguf/stored/blocks.gguf", DType::f32}}) {
    const auto opened = open_model(folder(name));
    REQUIRE_OK(opened);
    const auto groups = model::group_weights(opened->config, *opened->checkpoint);
    REQUIRE_OK(groups);
    for (const model::WeightGroup& group : *groups)
      if (group.is_matrix) CHECK(model::source_dtype(group) == wanted);
  }
}

}  // namespace pagoda::test
