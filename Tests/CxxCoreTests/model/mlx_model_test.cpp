// model: mixtures of experts as mlx-lm writes them give its logits and its text; unsupported ones are refused by
// name.
#include <cmath>

#include "model/checkpoint_editor.h"

namespace pagoda::test {
namespace {

constexpr double kTolerance = 2e-4;
constexpr const char* kModels[] = {"qwen3_next", "qwen3_next_bf16", "qwen3_5_moe", "qwen3_moe"};

std::string path_of(const std::string& name) { return fixtures_dir() + "/mlx/" + name; }

template <class T>
std::vector<T> read_tensor(const io::Checkpoint& checkpoint, const std::string& name) {
  const io::TensorEntry* tensor = checkpoint.find(name);
  if (tensor == nullptr) return {};
  std::vector<T> values(tensor->size_bytes / sizeof(T));
  CHECK_OK(checkpoint.read(*tensor, 0, std::as_writable_bytes(std::span(values))));
  return values;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  CHECK_EQ(a.size(), b.size());
  double worst = a.empty() || a.size() != b.size() ? NAN : 0.0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (const double d = std::abs(a[i] - b[i]); !(d <= worst)) worst = d;  // NaN is worst
  return worst;
}

void check_model(const std::string& name, const std::string& device) {
  auto files = io::open_model_files(folder(path_of(name) + "/expected"));
  REQUIRE_OK(files);
  const auto expected = io::Checkpoint::open(**files);
  REQUIRE_OK(expected);
  auto runner = ModelRunner::load(folder(path_of(name)),
                                  {.device = device, .dtype = "float32", .max_tokens = 128, .max_context = 128});
  REQUIRE_OK(runner);
  for (const char* length : {"1", "9", "30"}) {
    const auto prompt = read_tensor<int32_t>(*expected, std::string("prompt.") + length);
    const auto tokens = read_tensor<int32_t>(*expected, std::string("greedy.") + length);
    const auto logits = read_tensor<float>(*expected, std::string("logits.") + length);
    REQUIRE(!prompt.empty() && !tokens.empty());
    const double worst = distance(logits_of(**runner, prompt, 16), logits);
    note(name + " on " + device + ", prompt of " + length + ": largest difference " + std::to_string(worst));
    CHECK(worst <= kTolerance);
    CHECK(greedy(**runner, {prompt}, tokens.size(), 64).front() == tokens);
  }
}

std::vector<float> read_floats(const io::Checkpoint& checkpoint, const io::TensorEntry& entry) {
  size_t count = 1;
  for (int64_t size : entry.shape) count *= static_cast<size_t>(size);
  std::vector<float> values(count);
  if (entry.decoder) {
    CHECK_OK(entry.decoder->read(0, values));
    return values;
  }
  std::vector<std::byte> raw(entry.size_bytes);
  CHECK_OK(checkpoint.read(entry, 0, raw));
  for (size_t i = 0; i < count; ++i) {
    if (entry.dtype == DType::f32) std::memcpy(&values[i], raw.data() + 4 * i, 4);
    else
      values[i] = bf16_to_f32(
          static_cast<uint16_t>(std::to_integer<int>(raw[2 * i]) | std::to_integer<int>(raw[2 * i + 1]) << 8));
  }
  return values;
}

// The numbers of a fixture in float32, in Hugging Face's layout: each expert separately, nothing packed.
void unpack(CheckpointEditor& editor, const std::string& path) {
  const auto opened = open_model(folder(path));
  REQUIRE_OK(opened);
  editor.tensors.clear();
  const auto add = [&](const std::string& name, std::vector<int64_t> shape, std::span<const float> values) {
    const auto bytes = std::as_bytes(values);
    editor.tensors[name] = {"F32", std::move(shape), {bytes.begin(), bytes.end()}};
  };
  for (const auto& [name, entry] : opened->checkpoint->tensors()) {
    const std::vector<float> values = read_floats(*opened->checkpoint, entry);
    const size_t at = name.find("switch_mlp.");
    if (at == name.npos) {
      add(name, entry.shape, values);
      continue;
    }
    REQUIRE(entry.shape.size() == 3);
    const size_t size = static_cast<size_t>(entry.shape[1] * entry.shape[2]);
    for (size_t i = 0; i < values.size() / size; ++i)
      add(name.substr(0, at) + "experts." + std::to_string(i) + "." + name.substr(at + 11),
          {entry.shape[1], entry.shape[2]}, std::span(values).subspan(i * size, size));
  }
  for (size_t at; (at = editor.config().find("\"quantization")) != std::string::npos;)
    editor.config().replace(at, 2, "\"_");
}

// However the weights are packed, they equal the same numbers in Hugging Face's layout.
void check_packed(const std::string& name) {
  const std::vector<int32_t> prompt{3, 1, 4, 1, 5, 9, 2, 6};
  CheckpointEditor original(path_of(name));
  unpack(original, path_of(name));
  for (const char* quantize : {"none", "8bit", "4bit"}) {
    const RunnerOptions options{.dtype = "float32", .quantize = quantize, .max_tokens = 32, .max_context = 32};
    auto mlx = ModelRunner::load(folder(path_of(name)), options);
    auto unpacked = ModelRunner::load(original.write(), options);
    REQUIRE_OK(mlx);
    REQUIRE_OK(unpacked);
    CHECK(logits_of(**mlx, prompt, prompt.size()) == logits_of(**unpacked, prompt, prompt.size()));
  }
}

void check_refused(const ModelSource& source, const std::vector<std::string>& words) {
  const Status status = ModelRunner::load(source, {.device = "reference"}).status;
  CHECK(status.code == StatusCode::bad_file);
  note(status.message);
  for (const std::string& word : words) CHECK(status.message.find(word) != std::string::npos);
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
}

}  // namespace

PAGODA_TEST(model_mlx_experts_match_mlx_lm) {
  for (const char* name : kModels)
    for (const char* device : {"cpu", "reference", "software"}) check_model(name, device);
}

PAGODA_TEST(model_mlx_experts_are_packed_like_others) {
  for (const char* name : kModels) check_packed(name);
}

PAGODA_TEST(model_mlx_experts_that_do_not_fit_are_refused) {
  const std::string layer = "model.layers.0.mlp.";
  CheckpointEditor count(path_of("qwen3_next_bf16"));
  replace(count.config(), "\"num_experts\": 4", "\"num_experts\": 5");
  check_refused(count.write(), {layer + "gate.weight", "[4, 32]", "[5, 32]"});
  CheckpointEditor stacks(path_of("qwen3_next_bf16"));
  stacks.tensors[layer + "switch_mlp.up_proj.weight"].shape = {1, 32, 32};
  check_refused(stacks.write(), {layer + "switch_mlp.up_proj.weight", "[1, 32, 32]", "[4, 8, 32]"});
  CheckpointEditor flat(path_of("qwen3_next_bf16"));
  flat.tensors[layer + "switch_mlp.down_proj.weight"].shape = {128, 8};
  check_refused(flat.write(), {layer + "switch_mlp.down_proj.weight", "[128, 8]", "[4, 32, 8]"});
  for (const char* name :
       {"shared_expert.up_proj.weight", "shared_expert_gate.weight", "switch_mlp.gate_proj.weight"}) {
    CheckpointEditor editor(path_of("qwen3_next_bf16"));
    CHECK_EQ(editor.tensors.erase(layer + name), size_t{1});
    check_refused(editor.write(), {layer + name, "missing"});
  }
}

// Packed tensors, by their names in the file.
PAGODA_TEST(model_mlx_quantized_experts_that_do_not_fit_are_refused) {
  const std::string name = "language_model.model.layers.1.mlp.switch_mlp.down_proj";
  CheckpointEditor none(path_of("qwen3_5_moe"));
  CHECK_OK(ModelRunner::load(none.write(), {.device = "reference"}));
  CheckpointEditor flat(path_of("qwen3_5_moe"));
  flat.tensors[name + ".weight"].shape = {192, 4};
  check_refused(flat.write(), {name, "odd form"});
  flat.tensors[name + ".scales"].shape = {192, 1};
  check_refused(flat.write(), {"layers.1.mlp.switch_mlp.down_proj.weight", "[192, 32]", "[3, 64, 32]"});
  CheckpointEditor fewer(path_of("qwen3_5_moe"));
  fewer.tensors[name + ".scales"].shape = {2, 96, 1};
  check_refused(fewer.write(), {name, "do not fit"});
  CheckpointEditor twice(path_of("qwen3_5_moe"));
  twice.tensors["model.language_model.norm.weight"] = twice.tensors["language_model.model.norm.weight"];
  check_refused(twice.write(), {"language_model.model.norm.weight", "another name"});
}

}  // namespace pagoda::test
