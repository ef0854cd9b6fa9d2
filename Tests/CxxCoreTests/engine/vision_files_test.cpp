// The forms of checkpoints with a vision tower: GGUF with the tower in a file of its own, and MLX.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/vision_answers.h"
#include "model/checkpoint_editor.h"
#include "support/test.h"

namespace pagoda::engine {

using test::ModelHarness;
using test::Recorder;
using test::VisionAnswers;

namespace {

EngineOptions plain_options() {
  EngineOptions options;
  options.device = "cpu";
  options.quantize = "none";
  options.dtype = "float32";
  options.num_threads = 2;
  options.max_model_len = 256;
  return options;
}

std::string gguf_file(const char* name) { return test::fixtures_dir() + "/vision/gguf/" + name; }

void check_answers(const VisionAnswers& answers, const ModelSource& source, const EngineOptions& options) {
  auto harness = ModelHarness::open(source, options);
  REQUIRE(harness != nullptr);
  CHECK_EQ(harness->loaded.info.vision_refusal, std::string());
  CHECK_EQ(harness->loaded.info.skipped_tensors.size(), size_t{0});
  uint64_t id = 0;
  for (const int count : {0, 1, 3}) {
    Recorder recorder;
    test::run(*harness, answers.request(count), ++id, recorder);
    CHECK_OK(recorder.status);
    CHECK(recorder.tokens == answers.greedy(count));
  }
}

// A patch [channel][frame][y][x] as MLX stores it, [frame][y][x][channel].
void put_channels_last(test::CheckpointEditor::Tensor& patch) {
  const std::vector<int64_t> from = patch.shape;
  const auto pixels = static_cast<size_t>(from[2] * from[3] * from[4]), channels = static_cast<size_t>(from[1]);
  const std::vector<std::byte> bytes = patch.bytes;
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    const size_t row = i / (pixels * channels), channel = i / pixels % channels, pixel = i % pixels;
    std::memcpy(patch.bytes.data() + ((row * pixels + pixel) * channels + channel) * sizeof(float),
                bytes.data() + i * sizeof(float), sizeof(float));
  }
  patch.shape = {from[0], from[2], from[3], from[4], from[1]};
}

void add_one(test::CheckpointEditor::Tensor& tensor) {
  for (size_t at = 0; at < tensor.bytes.size(); at += sizeof(float)) {
    float value;
    std::memcpy(&value, tensor.bytes.data() + at, sizeof value);
    value += 1.0f;
    std::memcpy(tensor.bytes.data() + at, &value, sizeof value);
  }
}

// As mlx-vlm saves a model: other prefixes, channels last, and in Qwen3.5 norms of the text with 1 added.
void to_mlx(bool is_hybrid, test::CheckpointEditor& editor) {
  std::map<std::string, test::CheckpointEditor::Tensor> renamed;
  for (auto& [name, tensor] : editor.tensors) {
    constexpr std::string_view kVisual = "model.visual.", kText = "model.language_model.";
    if (name.ends_with("patch_embed.proj.weight")) put_channels_last(tensor);
    const bool is_text = !name.starts_with(kVisual);
    if (is_hybrid && name.ends_with("conv1d.weight")) std::swap(tensor.shape[1], tensor.shape[2]);
    if (is_hybrid && is_text && name.ends_with("norm.weight") && !name.ends_with("linear_attn.norm.weight"))
      add_one(tensor);
    const std::string name_there = name.starts_with(kVisual) ? "vision_tower." + name.substr(kVisual.size())
                                   : name.starts_with(kText) ? "language_model.model." + name.substr(kText.size())
                                                             : "language_model." + name;
    if (!name.starts_with("mtp.")) renamed[name_there] = std::move(tensor);
  }
  editor.tensors = std::move(renamed);
}

}  // namespace

PAGODA_TEST(vision_tower_beside_a_gguf_file_gives_the_answers_of_transformers) {
  const auto answers = VisionAnswers::open("qwen3_vl");
  REQUIRE(answers.has_value());
  check_answers(*answers, ModelSource{gguf_file("qwen3vl.gguf"), {}}, plain_options());
  check_answers(*answers, ModelSource{test::fixtures_dir() + "/vision/gguf", {}}, plain_options());
}

PAGODA_TEST(vision_tower_of_a_gguf_file_can_be_named) {
  const auto answers = VisionAnswers::open("qwen3_vl");
  REQUIRE(answers.has_value());
  const std::string folder = (std::filesystem::temp_directory_path() / "pagoda-vision-XXXXXX").string();
  std::string path = folder;
  REQUIRE(mkdtemp(path.data()) != nullptr);
  const std::string model = path + "/text.gguf";
  std::filesystem::copy_file(gguf_file("qwen3vl.gguf"), model);
  EngineOptions options = plain_options();
  auto blind = inspect(ModelSource{model, {}}, options);
  REQUIRE_OK(blind);
  CHECK(!blind->has_vision && blind->vision_refusal.find("has no vision tower") != std::string::npos);
  options.vision_file = gguf_file("mmproj-qwen3vl.gguf");
  check_answers(*answers, ModelSource{model, {}}, options);
  for (const auto& [source, file, words] :
       {std::tuple{model, model, "is not a vision tower"},
        {model, path + "/none.gguf", "none.gguf"},
        {answers->path, options.vision_file, "only GGUF models"},
        {gguf_file("mmproj-qwen3vl.gguf"), std::string(), "has only a vision tower"}}) {
    options.vision_file = file;
    const Status refused = inspect(ModelSource{source, {}}, options).status;
    test::note(refused.message);
    CHECK(!refused.is_ok() && refused.message.find(words) != std::string::npos);
  }
  std::filesystem::remove_all(path);
}

// The text of such a model can still be used.
PAGODA_TEST(vision_towers_of_other_kinds_are_refused_by_name) {
  for (const auto& [from, to, words] :
       {std::tuple{"\"depth\"", "\"projector_type\": \"gemma3\", \"depth\"", "gemma3"},
        {"\"depth\": 3", "\"depth\": 1", "deepstack_visual_indexes"},
        {"gelu_pytorch_tanh", "quick_gelu", "quick_gelu"},
        {"\"mrope_interleaved\": true", "\"mrope_interleaved\": false", "mrope_interleaved"}}) {
    test::CheckpointEditor editor(test::fixtures_dir() + "/vision/qwen3_vl");
    const size_t at = editor.config().find(from);
    REQUIRE(at != std::string::npos);
    editor.config().replace(at, std::string(from).size(), to);
    const auto info = inspect(editor.write(), plain_options());
    REQUIRE_OK(info);
    test::note(info->vision_refusal);
    CHECK(!info->has_vision && info->vision_refusal.find(words) != std::string::npos);
  }
}

PAGODA_TEST(vision_models_in_mlx_form_give_the_answers_of_transformers) {
  for (const char* name : {"", "qwen3_vl"}) {
    const auto answers = VisionAnswers::open(name);
    REQUIRE(answers.has_value());
    test::CheckpointEditor editor(answers->path);
    to_mlx(std::string(name).empty(), editor);
    check_answers(*answers, editor.write(), plain_options());
  }
}

}  // namespace pagoda::engine
