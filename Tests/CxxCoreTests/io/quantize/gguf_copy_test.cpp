// io/quantize_files on GGUF files: a copy in MLX's format has the weights of the file, under the usual names.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "io/checkpoint.h"
#include "io/quantize/files.h"
#include "io/tensor_decoder.h"
#include "model/model_runner.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

using Tensors = std::map<std::string, std::vector<float>>;

Tensors values_in(const std::string& path) {
  Tensors all;
  const auto files = open_model_files(test::folder(path));
  CHECK_OK(files);
  if (!files.is_ok()) return all;
  const auto checkpoint = Checkpoint::open(**files);
  CHECK_OK(checkpoint);
  if (!checkpoint.is_ok()) return all;
  for (const auto& [name, entry] : checkpoint->tensors()) {
    size_t count = 1;
    for (const int64_t size : entry.shape) count *= static_cast<size_t>(size);
    std::vector<float>& values = all[name];
    values.resize(count);
    if (entry.decoder) {
      CHECK_OK(entry.decoder->read(0, values));
      continue;
    }
    std::vector<std::byte> bytes(entry.size_bytes);
    CHECK_OK(checkpoint->read(entry, 0, bytes));
    for (size_t i = 0; i < count; ++i) {
      uint16_t half;
      if (entry.dtype == DType::f32) std::memcpy(&values[i], bytes.data() + 4 * i, 4);
      else std::memcpy(&half, bytes.data() + 2 * i, 2), values[i] = f16_to_f32(half);
    }
  }
  return all;
}

QuantizeResult copy_of(const std::string& name, const std::string& out) {
  const auto files = open_model_files(test::folder(test::fixtures_dir() + "/gguf/" + name));
  return quantize_files(**files, out, {.bits = 8, .group_size = 32, .num_threads = 2}, [](double) { return true; });
}

// The largest difference, relative to the largest value.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0, most = 0;
  CHECK_EQ(a.size(), b.size());
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max<double>(worst, std::abs(a[i] - b[i]));
    most = std::max<double>(most, std::abs(a[i]));
  }
  return most > 0 ? worst / most : worst;
}

}  // namespace

PAGODA_TEST(quantize_gguf_copies_have_the_weights_of_the_file) {
  for (const std::string name : {"qwen35", "llama", "qwen2"}) {
    test::note(name);
    const std::string out = test::temporary_dir() + "/" + name, path = test::fixtures_dir() + "/gguf/" + name + ".gguf";
    const QuantizeResult result = copy_of(name + ".gguf", out);
    REQUIRE_OK(result.status);
    CHECK(result.num_quantized > 0);
    const Tensors wanted = values_in(path), found = values_in(out);
    double worst = 0;
    for (const auto& [tensor, values] : wanted) {
      if (!tensor.starts_with("model.") && !tensor.starts_with("lm_head.")) continue;
      const auto copy = found.find(tensor);
      REQUIRE(copy != found.end());
      worst = std::max(worst, distance(values, copy->second));
    }
    test::note("largest relative difference " + std::to_string(worst));
    CHECK(worst < 0.02);  // a step of 8 bits is at most 2 / 255 of the largest value
    for (const auto& [tensor, values] : found) CHECK(wanted.contains(tensor));
  }
}

// All tensors have their shapes, the configuration its values, and the tokenizer is that of the file.
PAGODA_TEST(quantize_gguf_copies_answer_like_the_file) {
  const std::string out = test::temporary_dir() + "/copy";
  REQUIRE_OK(copy_of("qwen35.gguf", out).status);
  const test::RunnerOptions options{.dtype = "float32", .max_tokens = 128, .max_context = 128};
  auto original = test::ModelRunner::load(test::folder(test::fixtures_dir() + "/gguf/qwen35.gguf"), options);
  auto copy = test::ModelRunner::load(test::folder(out), options);
  REQUIRE_OK(original);
  REQUIRE_OK(copy);
  const std::vector<int32_t> prompt = {5, 9, 31, 7};
  const double worst = distance(test::logits_of(**original, prompt, 64), test::logits_of(**copy, prompt, 64));
  test::note("logits differ by " + std::to_string(worst));
  CHECK(worst > 0 && worst < 0.1);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "config.json"})
    CHECK(std::filesystem::file_size(out + "/" + name) > 0);
}

}  // namespace pagoda::io
