// EngineCore::prepare: validates a request against fixed limits before it is queued; and find_prefix. Any thread.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/quoted.h"
#include "cache/checkpoint_plan.h"
#include "engine/core/engine_core.h"

namespace pagoda::engine {

constexpr size_t kMaxIdBytes = 256;
constexpr int32_t kMaxSavesPerPrompt = 16;
constexpr int64_t kDefaultThinkingBudget = 32768;  // tokens; Qwen's advice for an answer with its thinking
constexpr int64_t kMaxLookupTokens = 32768;        // of an answer; a waiting request holds memory for its index already

int64_t EngineCore::default_max_tokens(int64_t num_prompt_tokens) const noexcept {
  const int64_t pool = blocks_.num_blocks() * config_.limits.block_size + 1;  // the last token is never cached
  const int64_t max_new_tokens = std::min<int64_t>(config_.limits.max_model_len, pool) - num_prompt_tokens;
  return std::max<int64_t>(max_new_tokens, 1);
}

// An answer without any limit: at least a quarter of the context that is left belongs to the answer itself. It does not
// depend on the tokens of an answer that is computed again, so that a replay thinks as long.
static int64_t thinking_budget_of(const Request& request, int64_t num_left) noexcept {
  const bool is_default = request.sampling.max_tokens <= 0 && request.prompt_has_thinking_tags;
  if (request.sampling.thinking_budget >= 0 || !is_default) return request.sampling.thinking_budget;
  return std::min(kDefaultThinkingBudget, num_left - num_left / 4);
}

static Status check_ids(const char* name, const std::vector<int32_t>& ids, int32_t vocab_size) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab_size) {
      return make_error(StatusCode::invalid_argument,
                        concat(name, " token ", i, " is ", ids[i], "; ids of this model are 0 to ", vocab_size - 1));
    }
  }
  return ok_status();
}

static Status check_id(const char* name, const std::string& id) {
  if (id.size() <= kMaxIdBytes) return ok_status();
  return make_error(StatusCode::invalid_argument,
                    concat(name, " has ", id.size(), " bytes, at most ", kMaxIdBytes, " are allowed"));
}

static Status check_prompt(const std::vector<int32_t>& ids, int32_t vocab_size) {
  if (ids.empty()) return make_error(StatusCode::invalid_argument, "the prompt has no tokens");
  return check_ids("prompt", ids, vocab_size);
}

// Checks requests that need more rows than the last one: scores of the prompt or of a recorded answer.
static Status check_scores(const Request& request, int32_t vocab_size) {
  PAGODA_RETURN_IF_ERROR(check_ids("answer", request.answer_ids, vocab_size));
  PAGODA_RETURN_IF_ERROR(check_ids("prediction", request.prediction_ids, vocab_size));
  if (request.num_prompt_logprobs >= -1 && request.num_prompt_logprobs <= sampler::kMaxTopLogprobs) return ok_status();
  return make_error(StatusCode::invalid_argument, concat("prompt_logprobs must be 0 to ", sampler::kMaxTopLogprobs,
                                                         ", or -1, not ", request.num_prompt_logprobs));
}

// Validates the output options against the model's capabilities.
Status EngineCore::check_outputs(const Request& request) const {
  if (!request.sampling.stop.empty() && !config_.tokenizer)
    return make_error(StatusCode::invalid_argument, "stop strings need a tokenizer, and this model folder has none");
  if (request.sampling.thinking_budget >= 0 && !thinking_format_.is_known())
    return make_error(StatusCode::unsupported,
                      "thinking_budget needs a model with the tokens <think> and </think>, and this one has none");
  if (request.pooling != Pooling::none && (config_.hidden_size == 0 || !model_.gives_states()))
    return make_error(StatusCode::unsupported, "this model does not support embeddings");
  if (request.pooling != Pooling::none && (request.num_prompt_logprobs >= 0 || !request.answer_ids.empty()))
    return make_error(StatusCode::invalid_argument, "embeddings exclude log probabilities and checked answers");
  if (request.row_callback && (request.pooling != Pooling::none || !request.answer_ids.empty()))
    return make_error(StatusCode::invalid_argument, "embeddings and checked answers exclude changes of logits");
  if (!request.grammar.kind.empty() && request.sampling.ignore_eos)
    return make_error(StatusCode::invalid_argument, "ignore_eos and a grammar exclude each other");
  return ok_status();
}

void EngineCore::prepare_cache(const Request& request, request::Sequence& sequence) const {
  // Rows that are not computed have neither logits nor hidden states.
  const bool needs_all_rows =
      request.num_prompt_logprobs >= 0 || !request.answer_ids.empty() || request.pooling == Pooling::mean;
  sequence.uses_cache = config_.prefix_cache && request.use_cache && !needs_all_rows;
  sequence.cache_salt = request.cache_salt;
  if (sequence.uses_cache && config_.limits.num_checkpoints > 0)
    sequence.checkpoint_positions =
        cache::plan_checkpoints(request.prompt_ids, config_.eos_token_ids, request.checkpoint_positions,
                                std::clamp(config_.limits.num_checkpoints / 2, 2, kMaxSavesPerPrompt));
  sequence.checkpoint_positions.reserve(sequence.checkpoint_positions.size() + cache::kMoreCheckpoints);
}

Status EngineCore::prepare_adapter(const Request& request, ActiveRequest& active) const {
  if (request.lora.empty()) return ok_status();
  if (config_.adapters) active.adapter = config_.adapters->find(request.lora);
  if (!active.adapter)
    return make_error(StatusCode::not_found, "no LoRA adapter named " + io::quoted(request.lora) + " is loaded");
  active.sequence.adapter = active.adapter->slot;
  active.sequence.cache_salt = adapter_salt(*active.adapter, request.cache_salt);
  return ok_status();
}

Status EngineCore::place_adapter(const Adapter& adapter, const model::AdapterImage& image) {
  return model_.place_adapter(adapter.slot, adapter.begin, image);
}

Result<std::unique_ptr<ActiveRequest>> EngineCore::prepare(const Request& request, uint64_t id, EventCallback callback,
                                                           void* context) const {
  PAGODA_RETURN_IF_ERROR(check_prompt(request.prompt_ids, config_.vocab_size));
  PAGODA_RETURN_IF_ERROR(check_scores(request, config_.vocab_size));
  PAGODA_RETURN_IF_ERROR(check_id("cache_salt", request.cache_salt));
  PAGODA_RETURN_IF_ERROR(check_id("share_id", request.share_id));
  PAGODA_RETURN_IF_ERROR(sampler::check_sampling_params(request.sampling, config_.vocab_size));
  PAGODA_RETURN_IF_ERROR(check_outputs(request));
  const int64_t prompt = static_cast<int64_t>(request.prompt_ids.size());
  const int64_t num_answer_ids = static_cast<int64_t>(request.answer_ids.size());
  const int64_t max_tokens = request.pooling != Pooling::none  ? 1
                             : num_answer_ids > 0              ? num_answer_ids
                             : request.sampling.max_tokens > 0 ? request.sampling.max_tokens
                                                               : default_max_tokens(prompt);
  PAGODA_RETURN_IF_ERROR(scheduler_.check_admission(prompt, max_tokens));

  auto active = std::make_unique<ActiveRequest>(request, id, callback, context);
  request::Sequence& sequence = active->sequence;
  sequence.max_num_tokens = static_cast<int32_t>(prompt + max_tokens);
  sequence.priority = request.priority;
  sequence.is_scored = active->is_scored();
  sequence.share_id = request.share_id;
  sequence.tokens.reserve(static_cast<size_t>(sequence.max_num_tokens));
  sequence.block_table.reserve(static_cast<size_t>(blocks_.blocks_for(sequence.max_num_tokens)));
  active->speculates = request.speculate && config_.max_drafts > 0 && num_answer_ids == 0 && !active->is_pooled() &&
                       !request.row_callback;
  if (active->is_pooled()) {
    active->pooled.assign(static_cast<size_t>(config_.hidden_size), 0.0);
    active->state.resize(static_cast<size_t>(config_.hidden_size));
  }
  if (active->speculates) sequence.drafts.reserve(static_cast<size_t>(config_.max_drafts));
  if (active->speculates && config_.uses_lookup) {
    active->lookup.emplace(static_cast<int32_t>(prompt + std::min(max_tokens, kMaxLookupTokens)));
    active->prediction = request.prediction_ids;
  }
  PAGODA_RETURN_IF_ERROR(prepare_images(request, *active));
  active->count_tokens(config_.vocab_size);
  if (const DryParams& dry = request.sampling.dry; dry.multiplier > 0)
    active->dry_scratch.emplace(dry_breakers_.find(config_.tokenizer.get(), config_.vocab_size, dry.breakers),
                                static_cast<size_t>(sequence.max_num_tokens));
  // One token is sampled after the last given token, as in any answer.
  if (num_answer_ids > 0)
    sequence.tokens.insert(sequence.tokens.end(), request.answer_ids.begin(), request.answer_ids.end() - 1);
  prepare_cache(request, sequence);
  PAGODA_RETURN_IF_ERROR(prepare_adapter(request, *active));
  if (!request.sampling.ignore_eos)
    active->stop_ids.insert(active->stop_ids.end(), config_.eos_token_ids.begin(), config_.eos_token_ids.end());
  if (!request.sampling.banned.empty())
    active->banned.reserve(request.sampling.banned.size() + active->stop_ids.size());
  if (config_.tokenizer && num_answer_ids == 0)
    active->detokenizer.emplace(config_.tokenizer.get(), /*skip_special=*/true);
  const std::span<const int32_t> tags =
      request.prompt_has_thinking_tags ? request.prompt_ids : std::span<const int32_t>{};
  active->splits_thinking = request.prompt_has_thinking_tags;
  active->thinking =
      Thinking(thinking_format_, tags, static_cast<int32_t>(thinking_budget_of(request, default_max_tokens(prompt))));
  if (!request.grammar.kind.empty()) {
    PAGODA_ASSIGN_OR_RETURN(active->grammar, grammars_.find_or_compile(request.grammar));
  }
  return active;
}

PrefixMatch EngineCore::find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const {
  PrefixMatch match;
  match.status = check_prompt(prompt_ids, config_.vocab_size);
  if (match.status.is_ok()) match.status = check_id("cache_salt", cache_salt);
  if (!match.status.is_ok() || !config_.prefix_cache) return match;
  const cache::PrefixIndex::Match found = cache_.look_up(cache_salt, prompt_ids);
  match.num_matched_tokens = found.num_matched;
  match.num_cached_tokens = found.num_tokens;
  return match;
}

PrefixFilesResult EngineCore::prefix_files(const std::vector<int32_t>& prompt_ids,
                                           const std::string& cache_salt) const {
  PrefixFilesResult result;
  result.status = check_prompt(prompt_ids, config_.vocab_size);
  if (result.status.is_ok()) result.status = check_id("cache_salt", cache_salt);
  if (result.status.is_ok() && config_.disk) result.files = config_.disk->find_chain(cache_salt, prompt_ids);
  return result;
}

Status EngineCore::add_prefix_file(const std::string& path, const std::string& name) const {
  if (!config_.disk) return make_error(StatusCode::unsupported, "the engine keeps no prefixes on disk");
  return config_.disk->adopt(path, name);
}

}  // namespace pagoda::engine
