// Out-of-range fields of SamplingParams are rejected with a message that names them; boundary values are accepted.
#include <cmath>
#include <functional>
#include <limits>

#include "sampler/sampler.h"
#include "support/test.h"

using namespace pagoda;

namespace {

constexpr int32_t kVocab = 100;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Row {
  const char* field;  // the message must start with it; without a place such as "[1]" it is Status::field
  std::function<void(SamplingParams&)> change;
};

Status check(const std::function<void(SamplingParams&)>& change) {
  SamplingParams params;
  change(params);
  return sampler::check_sampling_params(params, kVocab);
}

}  // namespace

PAGODA_TEST(sampling_params_out_of_range_are_named) {
  const Row rows[] = {
      {"temperature", [](auto& p) { p.temperature = -0.1f; }},
      {"temperature", [](auto& p) { p.temperature = 100.5f; }},
      {"temperature", [](auto& p) { p.temperature = kNan; }},
      {"temperature", [](auto& p) { p.temperature = kInfinity; }},
      {"top_k", [](auto& p) { p.top_k = -1; }},
      {"bad_words[1]", [](auto& p) { p.banned = {{{5}}, {{}}}; }},
      {"bad_words[0]", [](auto& p) { p.banned = {{{5, kVocab}}}; }},
      {"bad_words[0]", [](auto& p) { p.banned = {{std::vector<int32_t>(257, 1)}}; }},
      {"bad_words", [](auto& p) { p.banned.resize(4097, {{1}}); }},
      {"top_p", [](auto& p) { p.top_p = 0; }},
      {"top_p", [](auto& p) { p.top_p = 1.01f; }},
      {"top_p", [](auto& p) { p.top_p = kNan; }},
      {"min_p", [](auto& p) { p.min_p = -0.1f; }},
      {"min_p", [](auto& p) { p.min_p = 1; }},
      {"min_p", [](auto& p) { p.min_p = kNan; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = 0; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = 10.5f; }},
      {"presence_penalty", [](auto& p) { p.presence_penalty = 2.1f; }},
      {"presence_penalty", [](auto& p) { p.presence_penalty = -2.1f; }},
      {"frequency_penalty", [](auto& p) { p.frequency_penalty = 2.1f; }},
      {"frequency_penalty", [](auto& p) { p.frequency_penalty = kNan; }},
      {"max_tokens", [](auto& p) { p.max_tokens = -1; }},
      {"min_tokens", [](auto& p) { p.min_tokens = -1; }},
      {"min_tokens", [](auto& p) { p.max_tokens = 4, p.min_tokens = 5; }},
      {"num_top_logprobs", [](auto& p) { p.num_top_logprobs = -2; }},
      {"num_top_logprobs", [](auto& p) { p.num_top_logprobs = 21; }},
      {"stop must be at most 64", [](auto& p) { p.stop.assign(65, "x"); }},
      {"stop[1]", [](auto& p) { p.stop = {"x", ""}; }},
      {"top_n_sigma", [](auto& p) { p.top_n_sigma = -1; }},
      {"xtc_probability", [](auto& p) { p.xtc_probability = 1.5f; }},
      {"xtc_threshold", [](auto& p) { p.xtc_threshold = 0; }},
      {"dynatemp_range", [](auto& p) { p.dynatemp_range = kNan; }},
      {"dynatemp_exponent", [](auto& p) { p.dynatemp_exponent = 0; }},
      {"dry_multiplier", [](auto& p) { p.dry.multiplier = kInfinity; }},
      {"dry_base", [](auto& p) { p.dry.base = 0.5f; }},
      {"dry_allowed_length", [](auto& p) { p.dry.allowed_length = 0; }},
      {"dry_penalty_last_n", [](auto& p) { p.dry.window = -2; }},
      {"dry_sequence_breakers", [](auto& p) { p.dry.breakers.resize(65, "x"); }},
      {"dry_sequence_breakers", [](auto& p) { p.dry.breakers = {""}; }},
      {"stop[0]", [](auto& p) { p.stop = {std::string(4097, 'x')}; }},
      {"stop_ids must be at most 1024", [](auto& p) { p.stop_ids.assign(1025, 1); }},
      {"stop_ids[0]", [](auto& p) { p.stop_ids = {-1}; }},
      {"stop_ids[1]", [](auto& p) { p.stop_ids = {1, kVocab}; }},
      {"logit_bias must be at most 65536", [](auto& p) { p.logit_bias.resize(65537); }},
      {"logit_bias[0].token_id", [](auto& p) { p.logit_bias = {{kVocab, 1.0f}}; }},
      {"logit_bias[0].bias", [](auto& p) { p.logit_bias = {{1, kNan}}; }},
      {"logit_bias[1].bias", [](auto& p) { p.logit_bias = {{1, 0.0f}, {1, kInfinity}}; }},
  };
  for (const Row& row : rows) {
    const Status status = check(row.change);
    CHECK(status.code == StatusCode::invalid_argument);
    if (status.message.rfind(row.field, 0) != 0) CHECK_EQ(status.message, std::string(row.field));
    REQUIRE(status.field != nullptr);
    CHECK_EQ(std::string(status.field), status.message.substr(0, status.message.find_first_of(" [")));
  }
}

PAGODA_TEST(sampling_params_at_the_edges_are_accepted) {
  CHECK_OK(check([](auto&) {}));
  CHECK_OK(check([](auto& p) { p.temperature = 100, p.top_k = 1 << 30, p.min_p = 0.999f, p.repetition_penalty = 10; }));
  CHECK_OK(
      check([](auto& p) { p.presence_penalty = -2, p.frequency_penalty = 2, p.max_tokens = 1, p.min_tokens = 1; }));
  CHECK_OK(check([](auto& p) { p.stop.assign(64, std::string(4096, 'x')), p.stop_ids.assign(1024, kVocab - 1); }));
  CHECK_OK(check([](auto& p) { p.logit_bias.assign(65536, {0, -3e38f}), p.num_top_logprobs = 20; }));
}

PAGODA_TEST(sampling_params_message_has_limits_and_value) {
  CHECK_EQ(check([](auto& p) { p.top_p = 1.5f; }).message, std::string("top_p must be in (0, 1], got 1.5"));
  CHECK_EQ(check([](auto& p) { p.stop_ids = {123}; }).message,
           std::string("stop_ids[0] must be a token id in [0, 100), got 123"));
  CHECK_EQ(check([](auto& p) { p.max_tokens = 4, p.min_tokens = 5; }).message,
           std::string("min_tokens must be in [0, 4], got 5"));
}
