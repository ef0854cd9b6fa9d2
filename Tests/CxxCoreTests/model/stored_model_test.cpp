// model: files with quantised matrices run as they are stored: the logits of their dequantised matrices, the memory of
// the file, and errors that name the tensor.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/quant/stored_row.h"
#include "engine/load/loader.h"
#include "io/gguf/gguf_file.h"
#include "model/checkpoint_editor.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

std::string path_of(const std::string& name) { return fixtures_dir() + "/gguf/stored/" + name; }

RunnerOptions options(const std::string& device, const std::string& quantize = "auto") {
  return {.device = device, .dtype = "float32", .quantize = quantize, .max_tokens = 128, .max_context = 128};
}

std::vector<int32_t> read_ids(const io::Checkpoint& checkpoint, const std::string& name) {
  const io::TensorEntry* tensor = checkpoint.find(name);
  if (tensor == nullptr) return {};
  std::vector<int32_t> ids(tensor->size_bytes / 4);
  CHECK_OK(checkpoint.read(*tensor, 0, std::as_writable_bytes(std::span(ids))));
  return ids;
}

// The root of the mean square of the differences, relative to that of `wanted`.
double error_of(const std::vector<float>& got, const std::vector<float>& wanted) {
  CHECK_EQ(got.size(), wanted.size());
  double error = 0, squares = 0;
  for (size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    error += std::pow(got[i] - wanted[i], 2);
    squares += std::pow(wanted[i], 2);
  }
  return std::sqrt(error / squares);
}

// `model`: a file or a folder; `expected`: a file with prompts, logits and greedy tokens.
void check_model(const std::string& name, const std::string& model, const std::string& expected_path,
                 const std::string& device, double most) {
  std::ifstream file(expected_path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  auto files = io::open_model_files({.directory = "", .files = {{"model.safetensors", data, bytes.size()}}});
  REQUIRE_OK(files);
  const auto expected = io::Checkpoint::open(**files);
  REQUIRE_OK(expected);
  auto runner = ModelRunner::load(folder(model), options(device));
  REQUIRE_OK(runner);
  for (const char* length : {"1", "9", "40"}) {
    const std::vector<int32_t> prompt = read_ids(*expected, std::string("prompt.") + length),
                               tokens = read_ids(*expected, std::string("greedy.") + length),
                               raw_logits = read_ids(*expected, std::string("logits.") + length);
    REQUIRE(!prompt.empty() && tokens.size() == 48 && !raw_logits.empty());
    std::vector<float> logits(raw_logits.size());
    std::memcpy(logits.data(), raw_logits.data(), raw_logits.size() * 4);
    const double error = error_of(logits_of(**runner, prompt, 16), logits);
    note(name + " on " + device + ", prompt of " + length + ": error " + std::to_string(error));
    CHECK(error <= most);
    CHECK(greedy(**runner, {prompt}, tokens.size(), 64).front() == tokens);
  }
}

}  // namespace

// Expected values are computed in float64 from the dequantised matrices.
PAGODA_TEST(model_stored_llama_matches_its_dequantised_matrices) {
  for (const char* name : {"k_mix", "blocks"}) {
    const std::string path = path_of(name);
    check_model(name, path + ".gguf", path + ".safetensors", "reference", 1e-5);
    check_model(name, path + ".gguf", path + ".safetensors", "cpu", 0.03);
  }
}

// Expected values are those of transformers in float64 with the dequantised matrices.
PAGODA_TEST(model_stored_integers_match_their_dequantised_matrices) {
  for (const char* name : {"gptq", "gptq_zeros", "gptq_rows", "awq", "packed", "packed_zeros", "bytes"}) {
    const std::string path = fixtures_dir() + "/integers/" + name;
    check_model(name, path, path + "/expected.safetensors", "reference", 1e-5);
    check_model(name, path, path + "/expected.safetensors", "cpu", 0.03);
  }
}

// Rows are rounded to bf16 instead of 8 bits.
PAGODA_TEST(model_stored_float8_matches_its_dequantised_matrices) {
  const std::string path = fixtures_dir() + "/float8";
  check_model("float8", path, path + "/expected.safetensors", "reference", 1e-5);
  check_model("float8", path, path + "/expected.safetensors", "cpu", 0.006);
  auto runner = ModelRunner::load(folder(path), options("cpu"));
  REQUIRE_OK(runner);
  std::vector<int32_t> prompt;
  for (int32_t i = 0; i < 50; ++i) prompt.push_back(i * 7 % 64);
  const std::vector<float> one = logits_of(**runner, prompt, 1);
  for (const size_t chunk : {3, 16, 50}) CHECK(logits_of(**runner, prompt, chunk) == one);
}

PAGODA_TEST(model_stored_float8_with_nan_is_refused_by_name) {
  CheckpointEditor editor(fixtures_dir() + "/float8");
  editor.tensors.at("model.layers.0.mlp.down_proj.weight").bytes[300] = std::byte{0xff};
  const auto refused = ModelRunner::load(editor.write(), options("cpu"));
  CHECK(refused.status.code == StatusCode::bad_file);
  CHECK(refused.status.message.find("down_proj") != std::string::npos);
  CHECK(refused.status.message.find("NaN") != std::string::npos);
}

// Heads in another order than the file's, and floats beside Q4_K in one product: stored rows are the decoded ones.
PAGODA_TEST(model_stored_hybrid_matches_its_floats) {
  const std::vector<int32_t> prompt{3, 1, 4, 1, 5, 9, 2, 6, 53, 58, 9, 7, 9, 32, 38, 46, 26, 43};
  auto floats = ModelRunner::load(folder(path_of("hybrid.gguf")), options("reference", "none"));
  REQUIRE_OK(floats);
  const std::vector<float> wanted = logits_of(**floats, prompt, 16);
  for (const auto& [device, most] : {std::pair("reference", 0.0), {"cpu", 0.03}}) {
    auto stored = ModelRunner::load(folder(path_of("hybrid.gguf")), options(device));
    REQUIRE_OK(stored);
    const double error = error_of(logits_of(**stored, prompt, 16), wanted);
    note(std::string("hybrid on ") + device + ": error " + std::to_string(error));
    CHECK(error <= most);
  }
}

// Mixtures of experts in affine formats and mxfp4, from mlx-lm. Their scales are float32, so that the decoded numbers
// are those stored.
PAGODA_TEST(model_stored_mlx_experts_match_their_floats) {
  const std::vector<int32_t> prompt{3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 9, 7, 9, 32, 38};
  for (const char* name : {"qwen3_next", "qwen3_5_moe", "qwen3_moe"}) {
    const ModelSource source = folder(fixtures_dir() + "/mlx/" + name);
    auto floats = ModelRunner::load(source, options("reference", "none"));
    REQUIRE_OK(floats);
    const std::vector<float> wanted = logits_of(**floats, prompt, 16);
    for (const auto& [device, most] : {std::pair("reference", 0.0), {"cpu", 0.06}}) {
      auto stored = ModelRunner::load(source, options(device));
      REQUIRE_OK(stored);
      const double error = error_of(logits_of(**stored, prompt, 16), wanted);
      note(std::string(name) + " on " + device + ": error " + std::to_string(error));
      CHECK(error <= most);
    }
  }
}

// Any chunk of a prompt gives the same bits.
PAGODA_TEST(model_stored_logits_do_not_depend_on_chunks) {
  std::vector<int32_t> prompt;
  for (int32_t i = 0; i < 50; ++i) prompt.push_back(i * 7 % 64);
  for (const char* name : {"k_mix", "blocks", "hybrid"}) {
    auto runner = ModelRunner::load(folder(path_of(std::string(name) + ".gguf")), options("cpu"));
    REQUIRE_OK(runner);
    const std::vector<float> one = logits_of(**runner, prompt, 1);
    for (const size_t chunk : {3, 16, 50}) CHECK(logits_of(**runner, prompt, chunk) == one);
  }
}

// What the trials of a device multiply: matrices that are joined from several formats count as their pieces.
PAGODA_TEST(model_stored_products_have_the_formats_of_their_pieces) {
  auto device = device::make_device("software", 1);
  if (!device.is_ok()) return note("not run: this program has no software device");
  for (const char* name : {"k_mix.gguf", "hybrid.gguf"}) {
    const auto opened = open_model(folder(path_of(name)));
    REQUIRE_OK(opened);
    const auto summary = model::check_weights(opened->config, *opened->checkpoint, **device, WeightFormat::stored);
    REQUIRE_OK(summary);
    bool has_stored = false;
    for (const device::ProductShape& product : summary->products) {
      CHECK(product.format != WeightFormat::stored && product.rows > 0);
      has_stored |= is_stored(product.format);
    }
    CHECK(has_stored);
  }
}

PAGODA_TEST(model_stored_matrices_take_the_bytes_of_the_file) {
  EngineOptions engine_options;
  engine_options.max_model_len = 64;
  engine_options.device = "cpu";
  for (const char* name : {"k_mix", "blocks", "hybrid"}) {
    const std::string path = path_of(std::string(name) + ".gguf");
    const auto info = engine::inspect(folder(path), engine_options);
    REQUIRE_OK(info);
    const auto opened = open_model(folder(path));
    REQUIRE_OK(opened);
    double in_file = 0;
    for (const auto& [tensor_name, tensor] : opened->checkpoint->tensors())
      if (tensor.bits != 0 && tensor.bits <= 8) in_file += static_cast<double>(tensor.size_bytes);
    const auto planned = static_cast<double>(info->plan.weights_bytes);
    note(std::string(name) + ": " + info->weight_dtype + ", " + std::to_string(planned / in_file) +
         " of the file's bytes");
    CHECK(planned >= in_file && planned <= in_file * 1.15);  // norms and frequencies weigh more than in real models
  }
  const auto info = engine::inspect(folder(path_of("k_mix.gguf")), engine_options);
  REQUIRE_OK(info);
  CHECK_EQ(info->weight_dtype, std::string("Q4_K, Q6_K, Q8_0"));
}

// The pieces of a matrix are cached one by one, and give the same bits.
PAGODA_TEST(model_stored_matrices_are_cached) {
  EngineOptions engine_options;
  engine_options.max_model_len = 64;
  engine_options.device = "cpu";
  engine_options.weight_cache = temporary_dir();
  engine_options.identify = true;
  std::vector<std::string> fingerprints;
  for (const char* words : {"written", "read from"}) {
    const auto loaded = engine::load(folder(path_of("k_mix.gguf")), engine_options, nullptr);
    REQUIRE_OK(loaded);
    note(loaded->info.weight_cache_note);
    CHECK(loaded->info.weight_cache_note.find(words) != std::string::npos);
    fingerprints.push_back(loaded->info.fingerprint);
  }
  CHECK(!fingerprints.front().empty() && fingerprints.front() == fingerprints.back());
}

}  // namespace pagoda::test
