// Range checks of SamplingParams, run once when a request arrives; messages name the field, its limits and the value.
#include <cmath>
#include <sstream>
#include <string>

#include "base/concat.h"
#include "sampler/sampler.h"

namespace pagoda::sampler {
namespace {

constexpr size_t kMaxStopStrings = 64, kMaxStopBytes = 4096, kMaxStopIds = 1024, kMaxBiases = 65536, kMaxBanned = 4096,
                 kMaxBannedIds = 256;

// `part`: of the field, as in "[3]".
template <class T>
Status out_of_range(const char* field, const std::string& limits, T value, const std::string& part = {}) {
  std::ostringstream message;
  message << field << part << " must be " << limits << ", got " << value;
  return make_field_error(StatusCode::invalid_argument, field, message.str());
}

Status check_dry(const DryParams& dry) {
  if (!(dry.multiplier >= 0 && dry.multiplier <= 100))
    return out_of_range("dry_multiplier", "in [0, 100]", dry.multiplier);
  if (!(dry.base >= 1 && dry.base <= 10)) return out_of_range("dry_base", "in [1, 10]", dry.base);
  if (dry.allowed_length < 1) return out_of_range("dry_allowed_length", "at least 1", dry.allowed_length);
  if (dry.window < -1) return out_of_range("dry_penalty_last_n", "at least 0, or -1 for all tokens", dry.window);
  if (dry.breakers.size() > kMaxStopStrings)
    return out_of_range("dry_sequence_breakers", "at most 64 strings", dry.breakers.size());
  for (const std::string& text : dry.breakers)
    if (text.empty() || text.size() > kMaxStopBytes)
      return out_of_range("dry_sequence_breakers", "strings of 1 to 4096 bytes", concat("one of ", text.size()));
  return ok_status();
}

Status check_numbers(const SamplingParams& p) {
  // Written as !(in range) so that NaN is rejected.
  if (!(p.temperature >= 0 && p.temperature <= 100)) return out_of_range("temperature", "in [0, 100]", p.temperature);
  if (p.top_k < 0) return out_of_range("top_k", "at least 0", p.top_k);
  if (!(p.top_p > 0 && p.top_p <= 1)) return out_of_range("top_p", "in (0, 1]", p.top_p);
  if (!(p.min_p >= 0 && p.min_p < 1)) return out_of_range("min_p", "in [0, 1)", p.min_p);
  if (!(p.top_n_sigma >= 0 && p.top_n_sigma <= 100)) return out_of_range("top_n_sigma", "in [0, 100]", p.top_n_sigma);
  if (!(p.xtc_probability >= 0 && p.xtc_probability <= 1))
    return out_of_range("xtc_probability", "in [0, 1]", p.xtc_probability);
  if (!(p.xtc_threshold > 0 && p.xtc_threshold <= 1))
    return out_of_range("xtc_threshold", "in (0, 1]", p.xtc_threshold);
  if (!(p.dynatemp_range >= 0 && p.dynatemp_range <= 100))
    return out_of_range("dynatemp_range", "in [0, 100]", p.dynatemp_range);
  if (!(p.dynatemp_exponent > 0 && p.dynatemp_exponent <= 10))
    return out_of_range("dynatemp_exponent", "in (0, 10]", p.dynatemp_exponent);
  PAGODA_RETURN_IF_ERROR(check_dry(p.dry));
  if (!(p.repetition_penalty > 0 && p.repetition_penalty <= 10))
    return out_of_range("repetition_penalty", "in (0, 10]", p.repetition_penalty);
  if (!(p.presence_penalty >= -2 && p.presence_penalty <= 2))
    return out_of_range("presence_penalty", "in [-2, 2]", p.presence_penalty);
  if (!(p.frequency_penalty >= -2 && p.frequency_penalty <= 2))
    return out_of_range("frequency_penalty", "in [-2, 2]", p.frequency_penalty);
  if (p.max_tokens < 0) return out_of_range("max_tokens", "at least 1, or 0 for what fits", p.max_tokens);
  if (p.min_tokens < 0 || (p.max_tokens > 0 && p.min_tokens > p.max_tokens))
    return out_of_range("min_tokens", p.max_tokens > 0 ? concat("in [0, ", p.max_tokens, "]") : "at least 0",
                        p.min_tokens);
  if (p.thinking_budget < -1) return out_of_range("thinking_budget", "at least 0, or -1 for none", p.thinking_budget);
  if (p.num_top_logprobs < -1 || p.num_top_logprobs > kMaxTopLogprobs)
    return out_of_range("num_top_logprobs", "in [-1, 20]", p.num_top_logprobs);
  return ok_status();
}

std::string at(size_t index) { return concat("[", index, "]"); }

Status check_banned(const SamplingParams& p, int32_t vocab_size, const std::string& ids) {
  if (p.banned.size() > kMaxBanned) return out_of_range("bad_words", "at most 4096 sequences", p.banned.size());
  for (size_t i = 0; i < p.banned.size(); ++i) {
    const std::vector<int32_t>& sequence = p.banned[i].ids;
    if (sequence.empty() || sequence.size() > kMaxBannedIds)
      return out_of_range("bad_words", "of 1 to 256 tokens", sequence.size(), at(i));
    for (const int32_t id : sequence) {
      if (id < 0 || id >= vocab_size) return out_of_range("bad_words", ids, id, at(i));
    }
  }
  return ok_status();
}

Status check_lists(const SamplingParams& p, int32_t vocab_size) {
  const std::string ids = concat("a token id in [0, ", vocab_size, ")");
  if (p.stop.size() > kMaxStopStrings) return out_of_range("stop", "at most 64 strings", p.stop.size());
  for (size_t i = 0; i < p.stop.size(); ++i) {
    if (p.stop[i].empty()) return out_of_range("stop", "a string of 1 to 4096 bytes", "an empty one", at(i));
    if (p.stop[i].size() > kMaxStopBytes)
      return out_of_range("stop", "a string of 1 to 4096 bytes", concat(p.stop[i].size(), " bytes"), at(i));
  }
  if (p.stop_ids.size() > kMaxStopIds) return out_of_range("stop_ids", "at most 1024 ids", p.stop_ids.size());
  for (size_t i = 0; i < p.stop_ids.size(); ++i) {
    if (p.stop_ids[i] < 0 || p.stop_ids[i] >= vocab_size) return out_of_range("stop_ids", ids, p.stop_ids[i], at(i));
  }
  if (p.logit_bias.size() > kMaxBiases) return out_of_range("logit_bias", "at most 65536 entries", p.logit_bias.size());
  for (size_t i = 0; i < p.logit_bias.size(); ++i) {
    const LogitBias& entry = p.logit_bias[i];
    if (entry.token_id < 0 || entry.token_id >= vocab_size)
      return out_of_range("logit_bias", ids, entry.token_id, at(i) + ".token_id");
    if (!std::isfinite(entry.bias)) return out_of_range("logit_bias", "finite", entry.bias, at(i) + ".bias");
  }
  return check_banned(p, vocab_size, ids);
}

}  // namespace

Status check_sampling_params(const SamplingParams& params, int32_t vocab_size) {
  PAGODA_RETURN_IF_ERROR(check_numbers(params));
  return check_lists(params, vocab_size);
}

}  // namespace pagoda::sampler
