// Prompts with images for the tiny checkpoints with a vision tower, from Tests/Fixtures/vision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model_harness.h"
#include "model/vision_fixtures.h"

namespace pagoda::test {

inline std::string vision_model() { return fixtures_dir() + "/model/qwen3_5_vision"; }

// Qwen3-VL's features for the first text layers (DeepStack), without and with experts.
inline const std::vector<std::string> kQwen3Vl = {"qwen3_vl", "qwen3_vl_moe"};

struct VisionAnswers {
  std::string path;
  OpenedModel model;
  std::optional<io::Checkpoint> tensors;

  // Qwen3.5's, or those of a model of Tests/Fixtures/vision.
  static std::optional<VisionAnswers> open(const std::string& name = "") {
    VisionAnswers answers;
    answers.path = name.empty() ? vision_model() : fixtures_dir() + "/vision/" + name;
    auto model = open_model(folder(answers.path));
    auto tensors = open_tensors(name.empty() ? fixtures_dir() + "/vision/answers" : answers.path + "/answers");
    CHECK_OK(model);
    CHECK_OK(tensors);
    if (!model.is_ok() || !tensors.is_ok()) return std::nullopt;
    answers.model = std::move(*model);
    answers.tensors.emplace(std::move(*tensors));
    return answers;
  }

  PreparedImage image(int count, int index) const {
    return image_of(*tensors, "pixels." + std::to_string(count) + "." + std::to_string(index), model.config.vision);
  }

  // The prompt with `count` images: 0, 1 or 3. Greedy, 48 tokens.
  Request request(int count) const {
    Request request;
    request.prompt_ids = tensor_values<int32_t>(*tensors, "prompt." + std::to_string(count));
    const auto first = tensor_values<int32_t>(*tensors, "first." + std::to_string(count));
    for (int i = 0; i < count; ++i) request.images.push_back({first[static_cast<size_t>(i)], image(count, i)});
    request.sampling.max_tokens = 48;
    request.sampling.temperature = 0;
    request.sampling.ignore_eos = true;
    request.sampling.num_top_logprobs = 2;
    return request;
  }
  std::vector<int32_t> greedy(int count) const {
    return tensor_values<int32_t>(*tensors, "greedy." + std::to_string(count));
  }
  std::vector<float> logits(int count) const {
    return tensor_values<float>(*tensors, "logits." + std::to_string(count));
  }
};

inline void run(ModelHarness& harness, const Request& request, uint64_t id, Recorder& recorder) {
  CHECK(harness.add(request, id, recorder));
  while (harness.core->has_work()) harness.core->step();
}

}  // namespace pagoda::test
