// Vision towers that llama.cpp's own converter wrote (Tools/fixtures/gguf_files/llama_cpp_towers.py).
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/vision_answers.h"
#include "support/test.h"

namespace pagoda::engine {

using test::ModelHarness;
using test::VisionAnswers;

namespace {

std::unique_ptr<ModelHarness> open_tower(const std::string& path, const std::string& tower) {
  EngineOptions options;
  options.device = "cpu";
  options.quantize = "none";
  options.dtype = "float32";
  options.num_threads = 2;
  options.max_model_len = 256;
  if (!tower.empty()) options.vision_file = test::fixtures_dir() + "/vision/llama_cpp/" + tower + ".gguf";
  auto harness = ModelHarness::open(ModelSource{path, {}}, options);
  CHECK(harness != nullptr && harness->loaded.core.tower != nullptr);
  return harness != nullptr && harness->loaded.core.tower != nullptr ? std::move(harness) : nullptr;
}

// Rows of the three images of `answers`, one after the other.
std::vector<float> rows_of_images(const VisionAnswers& answers, const std::string& path, const std::string& tower) {
  const auto harness = open_tower(path, tower);
  std::vector<float> all;
  for (int i = 0; harness != nullptr && i < 3; ++i) {
    model::VisionTower& on = *harness->loaded.core.tower;
    const PreparedImage image = answers.image(3, i);
    std::vector<float> rows(static_cast<size_t>(image.num_tokens()) * static_cast<size_t>(on.config().row_size()));
    CHECK_OK(on.begin(image, rows));
    Result<bool> done = false;
    while (done.is_ok() && !*done) done = on.advance();
    CHECK_OK(done);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

std::string text_model() { return test::fixtures_dir() + "/vision/gguf/qwen3vl.gguf"; }

}  // namespace

// Any text model of the same width can carry the tower of Qwen3.5: its text is not used.
PAGODA_TEST(vision_towers_of_llama_cpp_give_the_rows_of_their_originals) {
  for (const auto& [name, tower] : {std::pair("", "qwen3_5_vision-f32"), {"qwen3_vl", "qwen3_vl-f32"}}) {
    const auto answers = VisionAnswers::open(name);
    REQUIRE(answers.has_value());
    const std::vector<float> wanted = rows_of_images(*answers, answers->path, "");
    CHECK(!wanted.empty() && wanted == rows_of_images(*answers, text_model(), tower));
  }
}

// Rows are of order 1, and weights have 11 and 8 bits of precision.
PAGODA_TEST(vision_towers_of_llama_cpp_in_fewer_bits_stay_near_their_originals) {
  const auto answers = VisionAnswers::open("qwen3_vl");
  REQUIRE(answers.has_value());
  const std::vector<float> wanted = rows_of_images(*answers, answers->path, "");
  for (const auto& [tower, limit] : {std::pair("qwen3_vl-f16", 0.01), {"qwen3_vl-q8_0", 0.1}}) {
    const std::vector<float> found = rows_of_images(*answers, text_model(), tower);
    REQUIRE(found.size() == wanted.size() && found != wanted);
    double worst = 0;
    for (size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(double{found[i]} - wanted[i]));
    test::note(std::string(tower) + ": " + std::to_string(worst));
    CHECK(worst <= limit);
  }
}

PAGODA_TEST(vision_tower_of_llama_cpp_gives_the_answers_of_transformers) {
  const auto answers = VisionAnswers::open("qwen3_vl");
  REQUIRE(answers.has_value());
  const auto harness = open_tower(text_model(), "qwen3_vl-f32");
  REQUIRE(harness != nullptr);
  uint64_t id = 0;
  for (const int count : {0, 1, 3}) {
    test::Recorder recorder;
    test::run(*harness, answers->request(count), ++id, recorder);
    CHECK_OK(recorder.status);
    CHECK(recorder.tokens == answers->greedy(count));
  }
}

}  // namespace pagoda::engine
