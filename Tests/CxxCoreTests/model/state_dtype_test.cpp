// model: recurrent states of bfloat16 change the next tokens little, and sizes that they cannot have are refused.
#include <cmath>
#include <random>
#include <vector>

#include "model/model_runner.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

// Mean KL from p to q, rows of logits, in nats.
double mean_kl(const std::vector<float>& p, const std::vector<float>& q, size_t vocab) {
  const auto log_sum = [&](const float* row) {
    double sum = 0;
    for (size_t i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(row[i]));
    return std::log(sum);
  };
  double kl = 0;
  for (size_t row = 0; row < p.size(); row += vocab) {
    const double of_p = log_sum(&p[row]), of_q = log_sum(&q[row]);
    for (size_t i = row; i < row + vocab; ++i) kl += std::exp(p[i] - of_p) * ((p[i] - of_p) - (q[i] - of_q));
  }
  return kl / static_cast<double>(p.size() / vocab);
}

}  // namespace

PAGODA_TEST(model_bf16_states_stay_near_float32) {
  for (const char* name : {"qwen3_5_real_heads", "kimi_linear_real_heads", "olmo_hybrid"}) {
    std::vector<float> logits[2];
    size_t vocab = 0;
    for (const bool is_short : {false, true}) {
      auto runner = ModelRunner::load(folder(fixtures_dir() + "/model/" + name),
                                      {.kv_dtype = "float32",
                                       .state_dtype = is_short ? "bfloat16" : "float32",
                                       .max_tokens = 256,
                                       .max_seqs = 1,
                                       .max_context = 256});
      REQUIRE_OK(runner);
      vocab = static_cast<size_t>((*runner)->config().vocab_size);
      std::mt19937 random(7);
      std::vector<int32_t> prompt(200);
      for (int32_t& token : prompt) token = static_cast<int32_t>(random() % vocab);
      logits[is_short] = logits_of(**runner, prompt, prompt.size());
    }
    REQUIRE(logits[0].size() == 200 * vocab && logits[1].size() == logits[0].size());
    const size_t block = 16 * vocab;  // states are rounded for the first time at its end
    CHECK(same_bits(std::span(logits[0]).first(block), std::span(logits[1]).first(block)));
    const double kl = mean_kl(logits[0], logits[1], vocab);
    note(std::string(name) + ": mean KL " + std::to_string(kl * 1e6) + "e-6");
    CHECK(kl > 0 && kl < 1e-4);
  }
}

// What follows the states in memory is float, and would be misaligned.
PAGODA_TEST(model_refuses_bf16_states_of_an_odd_size) {
  auto opened = open_model(folder(fixtures_dir() + "/model/qwen3_5"));
  REQUIRE_OK(opened);
  opened->config.linear_num_v_heads = 1;
  opened->config.linear_k_head_dim = 3;
  opened->config.linear_v_head_dim = 5;
  auto device = device::make_device("cpu", 1);
  REQUIRE_OK(device);
  const auto message = [&](cache::CacheTypes types) {
    return model::load_model(opened->config, *opened->checkpoint, **device, WeightFormat::f32, types, 16, nullptr)
        .status.message;
  };
  CHECK(message({DType::f32, DType::bf16}).find("state_dtype bfloat16") != std::string::npos);
  CHECK(message({DType::f32, DType::f32}).find("state_dtype") == std::string::npos);
}

}  // namespace pagoda::test
