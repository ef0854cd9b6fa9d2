// model: a scaling given with a plain checkpoint, or by a GGUF file, is the same as one in config.json.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "engine/load/loader.h"
#include "io/config/rope.h"
#include "io/gguf/gguf_file.h"
#include "model/checkpoint_editor.h"

namespace pagoda::test {
namespace {

std::string model_path(const std::string& name) { return fixtures_dir() + "/model/" + name; }

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A GGUF file with additional keys: they come first, and the data still starts at a multiple of 32.
std::string with_keys(const std::string& bytes, const std::string& keys, uint64_t count) {
  uint64_t num_keys;
  constexpr size_t kCountAt = 16, kKeysAt = 24;  // after magic, version and the number of tensors
  std::memcpy(&num_keys, bytes.data() + kCountAt, sizeof num_keys);
  CHECK(keys.size() % 32 == 0);  // so that everything stays aligned
  return bytes.substr(0, kCountAt) + raw(num_keys + count) + keys + bytes.substr(kKeysAt);
}

std::string gguf_f32(const std::string& key, float value) { return gguf_string(key) + raw(uint32_t{6}) + raw(value); }

std::string padded(std::string keys) {  // with a text key of the missing length
  const std::string name = "x.note";
  const size_t fixed = gguf_text(name, "").size();
  const size_t missing = 32 - (keys.size() + fixed) % 32;
  return keys + gguf_text(name, std::string(missing, ' '));
}

}  // namespace

PAGODA_TEST(model_rope_scaling_of_the_options_is_that_of_the_file) {
  CheckpointEditor editor(model_path("qwen2_yarn"));
  const std::string scaled = editor.config();
  const size_t begin = scaled.find("\"rope_scaling\""), end = scaled.find('}', begin);
  REQUIRE(begin != std::string::npos && end != std::string::npos);
  std::string plain = scaled;
  plain.replace(begin, end + 1 - begin, "\"rope_scaling\": null");
  const auto wanted = io::parse_model_config(scaled, "config.json");
  auto given = io::parse_model_config(plain, "config.json");
  REQUIRE_OK(wanted);
  REQUIRE_OK(given);
  CHECK(wanted->rope != given->rope);
  REQUIRE_OK(io::set_rope_scaling("yarn:4:128", *given));
  CHECK(wanted->rope == given->rope && wanted->context_length == given->context_length);
}

PAGODA_TEST(model_rope_scaling_of_the_engine_options_reaches_the_model) {
  EngineOptions options;
  const ModelSource source = folder(model_path("qwen3"));
  const auto plain = engine::inspect(source, options);
  options.rope_scaling = "yarn:4";
  const auto scaled = engine::inspect(source, options);
  REQUIRE_OK(plain);
  REQUIRE_OK(scaled);
  CHECK_EQ(scaled->context_length, 4 * plain->context_length);
  options.rope_scaling = "yarn";
  CHECK(engine::inspect(source, options).status.code == StatusCode::invalid_argument);
}

PAGODA_TEST(model_rope_scaling_of_a_gguf_file_is_yarn) {
  const std::string bytes = read_bytes(fixtures_dir() + "/gguf/qwen2.gguf");
  const std::string keys = gguf_text("qwen2.rope.scaling.type", "yarn") + gguf_f32("qwen2.rope.scaling.factor", 4.0f) +
                           gguf_u32("qwen2.rope.scaling.original_context_length", 24);
  const std::string file = with_keys(bytes, padded(keys), 4);
  const ModelSource source{.directory = "",
                           .files = {{"m.gguf", reinterpret_cast<const uint8_t*>(file.data()), file.size()}}};
  const auto opened = open_model(source);
  REQUIRE_OK(opened);
  const io::RopeConfig& rope = opened->config.rope;
  CHECK(rope.scaling == io::RopeConfig::Scaling::yarn && rope.factor == 4.0 && rope.original_context == 24);
  CHECK(std::abs(rope.attention_factor - (0.1 * std::log(4.0) + 1.0)) < 1e-12);
  // The same numbers as its original with the same scaling.
  CheckpointEditor editor(fixtures_dir() + "/gguf/qwen2");
  const RunnerOptions options{.dtype = "float32", .max_tokens = 64, .max_context = 64};
  const std::vector<int32_t> prompt(40, 17);
  auto plain = ModelRunner::load(editor.write(), options);
  std::string& config = editor.config();
  REQUIRE(config.find("\"rope_scaling\"") == std::string::npos);
  config.insert(config.find('{') + 1, R"("rope_scaling": {"rope_type": "yarn", "factor": 4.0, )"
                                      R"("original_max_position_embeddings": 24, "rope_theta": )" +
                                          std::to_string(rope.theta) + "},");
  auto original = ModelRunner::load(editor.write(), options);
  auto converted = ModelRunner::load(source, options);
  REQUIRE_OK(plain);
  REQUIRE_OK(original);
  REQUIRE_OK(converted);
  CHECK(logits_of(**original, prompt, 40) == logits_of(**converted, prompt, 40));
  CHECK(logits_of(**original, prompt, 40) != logits_of(**plain, prompt, 40));
}

}  // namespace pagoda::test
