// RequestBuilder: checks, then sets up one part of the request after the other.
#include "engine/core/request_builder.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/quoted.h"
#include "cache/checkpoint_plan.h"

namespace pagoda::engine {

constexpr size_t kMaxIdBytes = 256;
constexpr int32_t kMaxSavesPerPrompt = 16;
constexpr int64_t kDefaultThinkingBudget = 32768;  // tokens; Qwen's advice for an answer with its thinking
constexpr int64_t kMaxLookupTokens = 32768;        // of an answer; a waiting request holds memory for its index already

RequestBuilder::RequestBuilder(const CoreConfig& config, const scheduler::Scheduler& scheduler, bool gives_states)
    : config_(config),
      scheduler_(scheduler),
      gives_states_(gives_states),
      thinking_format_(find_thinking_format(config.tokenizer.get(), config.vocab_size)),
      grammars_(config.tokenizer, config.vocab_size, config.eos_token_ids) {}

int64_t RequestBuilder::default_max_tokens(int64_t num_prompt_tokens) const noexcept {
  const int64_t pool = config_.limits.num_kv_blocks * config_.limits.block_size + 1;  // the last token is never cached
  const int64_t max_new_tokens = std::min<int64_t>(config_.limits.max_model_len, pool) - num_prompt_tokens;
  return std::max<int64_t>(max_new_tokens, 1);
}

int64_t RequestBuilder::max_tokens_of(const Request& request) const noexcept {
  if (request.pooling != Pooling::none) return 1;
  if (!request.answer_ids.empty()) return static_cast<int64_t>(request.answer_ids.size());
  if (request.sampling.max_tokens > 0) return request.sampling.max_tokens;
  return default_max_tokens(static_cast<int64_t>(request.prompt_ids.size()));
}

// An answer without any limit: at least a quarter of the context that is left belongs to the answer itself. It does not
// depend on the tokens of an answer that is computed again, so that a replay thinks as long.
static int64_t thinking_budget_of(const Request& request, int64_t num_left) noexcept {
  const bool is_default = request.sampling.max_tokens <= 0 && request.prompt_has_thinking_tags;
  if (request.sampling.thinking_budget >= 0 || !is_default) return request.sampling.thinking_budget;
  return std::min(kDefaultThinkingBudget, num_left - num_left / 4);
}

static Status bad(std::string why) { return make_error(StatusCode::invalid_argument, std::move(why)); }

static Status bad(const char* field, std::string why) {
  return make_field_error(StatusCode::invalid_argument, field, std::move(why));
}

static Status check_ids(const char* field, const char* name, const std::vector<int32_t>& ids, int32_t vocab_size) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab_size) {
      return bad(field, concat(name, " token ", i, " is ", ids[i], "; ids of this model are 0 to ", vocab_size - 1));
    }
  }
  return ok_status();
}

static Status check_id(const char* field, const std::string& id) {
  if (id.size() <= kMaxIdBytes) return ok_status();
  return bad(field, concat(field, " has ", id.size(), " bytes, at most ", kMaxIdBytes, " are allowed"));
}

static Status check_prompt(const std::vector<int32_t>& ids, int32_t vocab_size) {
  if (ids.empty()) return bad("prompt_ids", "the prompt has no tokens");
  return check_ids("prompt_ids", "prompt", ids, vocab_size);
}

// Checks requests that need more rows than the last one: scores of the prompt or of a recorded answer.
static Status check_scores(const Request& request, int32_t vocab_size) {
  PAGODA_RETURN_IF_ERROR(check_ids("answer_ids", "answer", request.answer_ids, vocab_size));
  PAGODA_RETURN_IF_ERROR(check_ids("prediction_ids", "prediction", request.prediction_ids, vocab_size));
  if (request.num_prompt_logprobs >= -1 && request.num_prompt_logprobs <= sampler::kMaxTopLogprobs) return ok_status();
  return bad("num_prompt_logprobs", concat("num_prompt_logprobs must be 0 to ", sampler::kMaxTopLogprobs,
                                           ", or -1, not ", request.num_prompt_logprobs));
}

// Validates the output options against the model's capabilities.
Status RequestBuilder::check_outputs(const Request& request) const {
  if (!request.sampling.stop.empty() && !config_.tokenizer)
    return bad("stop", "stop strings need a tokenizer, and this model folder has none");
  if (request.sampling.thinking_budget >= 0 && !thinking_format_.is_known())
    return make_field_error(
        StatusCode::unsupported, "thinking_budget",
        "thinking_budget needs a model with the tokens <think> and </think>, and this one has none");
  if (request.pooling != Pooling::none && (config_.hidden_size == 0 || !gives_states_))
    return make_error(StatusCode::unsupported, "this model does not support embeddings");
  if (request.pooling != Pooling::none && (request.num_prompt_logprobs >= 0 || !request.answer_ids.empty()))
    return bad("embeddings exclude log probabilities and checked answers");
  if (request.row_callback && (request.pooling != Pooling::none || !request.answer_ids.empty()))
    return bad("embeddings and checked answers exclude changes of logits");
  if (request.grammar.kind != GrammarKind::none && request.sampling.ignore_eos)
    return bad("ignore_eos", "ignore_eos and a grammar exclude each other");
  return ok_status();
}

void RequestBuilder::set_up_cache(const Request& request, request::Sequence& sequence) const {
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

Status RequestBuilder::set_up_adapter(const Request& request, ActiveRequest& active) const {
  if (request.lora.empty()) return ok_status();
  if (config_.adapters) active.adapter = config_.adapters->find(request.lora);
  if (!active.adapter)
    return make_field_error(StatusCode::not_found, "lora",
                            "no LoRA adapter named " + io::quoted(request.lora) + " is loaded");
  active.sequence.adapter = active.adapter->slot;
  active.sequence.cache_salt = adapter_salt(*active.adapter, request.cache_salt);
  return ok_status();
}

// Checks that the placeholders are those of the images, and gives the tokens of each image its keys and its place.
Status RequestBuilder::place_images(const Request& request, ActiveRequest& active) const {
  request::Sequence& sequence = active.sequence;
  const std::vector<int32_t>& ids = request.prompt_ids;
  if (request.images.empty()) return ok_status();
  if (!config_.tower)
    return make_field_error(StatusCode::unsupported, "images", "the model takes no images: " + config_.no_images);
  if (request.num_prompt_logprobs >= 0 || !request.answer_ids.empty())
    return bad("num_prompt_logprobs", "images exclude log probabilities of the prompt and checked answers");
  const int32_t merge = config_.tower->config().merge_size, pad = config_.tower->config().image_token_id;
  int32_t end = 0, position = 0;
  for (size_t i = 0; i < request.images.size(); ++i) {
    const PreparedImage& image = request.images[i].image;
    const int32_t begin = request.images[i].first_token, count = image.num_tokens();
    if (Status status = config_.tower->check(image); !status.is_ok())
      return make_field_error(status.code, "images", concat("image ", i, ": ", status.message));
    if (begin < end || begin > static_cast<int64_t>(ids.size()) - count)
      return bad("images", concat("image ", i, " has ", count, " tokens from ", begin, ", which overlap another image ",
                                  "or the end of a prompt of ", ids.size(), " tokens"));
    position += begin - end;
    for (int32_t token = begin; token < begin + count; ++token) {
      if (ids[static_cast<size_t>(token)] != pad)
        return bad("images", concat("token ", token, " is ", ids[static_cast<size_t>(token)], "; image ", i, " needs ",
                                    count, " tokens ", pad, " from ", begin));
      sequence.tokens[static_cast<size_t>(token)] = request::image_key(image.identity(), token - begin);
    }
    sequence.images.push_back(
        {.begin = begin, .height = image.grid_h() / merge, .width = image.grid_w() / merge, .position = position});
    position = sequence.images.back().next_position();
    end = begin + count;
  }
  active.images = request.images;
  return ok_status();
}

void RequestBuilder::set_up_drafts(const Request& request, int64_t max_tokens, ActiveRequest& active) const {
  active.speculates =
      request.speculate && config_.max_drafts > 0 && !active.is_checked && !active.is_pooled() && !request.row_callback;
  if (!active.speculates) return;
  active.sequence.drafts.reserve(static_cast<size_t>(config_.max_drafts));
  if (!config_.uses_lookup) return;
  const int64_t num_prompt_tokens = static_cast<int64_t>(request.prompt_ids.size());
  active.lookup.emplace(static_cast<int32_t>(num_prompt_tokens + std::min(max_tokens, kMaxLookupTokens)));
  active.prediction = request.prediction_ids;
}

// What its answer may be, and how it becomes text.
void RequestBuilder::set_up_text(const Request& request, ActiveRequest& active) const {
  if (!request.sampling.ignore_eos)
    active.stop_ids.insert(active.stop_ids.end(), config_.eos_token_ids.begin(), config_.eos_token_ids.end());
  if (!request.sampling.banned.empty()) active.banned.reserve(request.sampling.banned.size() + active.stop_ids.size());
  if (config_.tokenizer && !active.is_checked) active.text.open(config_.tokenizer.get());
  active.text.split_thinking(request.prompt_has_thinking_tags);
  const std::span<const int32_t> tags =
      request.prompt_has_thinking_tags ? request.prompt_ids : std::span<const int32_t>{};
  const int64_t num_left = default_max_tokens(static_cast<int64_t>(request.prompt_ids.size()));
  active.thinking = Thinking(thinking_format_, tags, static_cast<int32_t>(thinking_budget_of(request, num_left)));
}

Result<std::unique_ptr<ActiveRequest>> RequestBuilder::build(const Request& request, uint64_t id,
                                                             EventCallback callback, void* context) const {
  PAGODA_RETURN_IF_ERROR(check_prompt(request.prompt_ids, config_.vocab_size));
  PAGODA_RETURN_IF_ERROR(check_scores(request, config_.vocab_size));
  PAGODA_RETURN_IF_ERROR(check_id("cache_salt", request.cache_salt));
  PAGODA_RETURN_IF_ERROR(check_id("share_id", request.share_id));
  PAGODA_RETURN_IF_ERROR(sampler::check_sampling_params(request.sampling, config_.vocab_size));
  PAGODA_RETURN_IF_ERROR(check_outputs(request));
  const int64_t prompt = static_cast<int64_t>(request.prompt_ids.size()), max_tokens = max_tokens_of(request);
  PAGODA_RETURN_IF_ERROR(scheduler_.check_admission(prompt, max_tokens));

  auto active = std::make_unique<ActiveRequest>(request, id, callback, context);
  request::Sequence& sequence = active->sequence;
  sequence.max_num_tokens = static_cast<int32_t>(prompt + max_tokens);
  sequence.priority = request.priority;
  sequence.is_scored = active->is_scored();
  sequence.share_id = request.share_id;
  sequence.tokens.reserve(static_cast<size_t>(sequence.max_num_tokens));
  sequence.block_table.reserve(static_cast<size_t>(sequence.max_num_tokens / config_.limits.block_size) + 1);
  if (active->is_pooled()) {
    active->pooled.assign(static_cast<size_t>(config_.hidden_size), 0.0);
    active->state.resize(static_cast<size_t>(config_.hidden_size));
  }
  set_up_drafts(request, max_tokens, *active);
  PAGODA_RETURN_IF_ERROR(place_images(request, *active));
  active->count_tokens(config_.vocab_size);
  if (const DryParams& dry = request.sampling.dry; dry.multiplier > 0)
    active->dry_scratch.emplace(dry_breakers_.find(config_.tokenizer.get(), config_.vocab_size, dry.breakers),
                                static_cast<size_t>(sequence.max_num_tokens));
  // One token is sampled after the last given token, as in any answer.
  if (active->is_checked)
    sequence.tokens.insert(sequence.tokens.end(), request.answer_ids.begin(), request.answer_ids.end() - 1);
  set_up_cache(request, sequence);
  PAGODA_RETURN_IF_ERROR(set_up_adapter(request, *active));
  set_up_text(request, *active);
  if (request.grammar.kind != GrammarKind::none) {
    PAGODA_ASSIGN_OR_RETURN(active->grammar, grammars_.find_or_compile(request.grammar));
  }
  return active;
}

Status RequestBuilder::check_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const {
  PAGODA_RETURN_IF_ERROR(check_prompt(prompt_ids, config_.vocab_size));
  return check_id("cache_salt", cache_salt);
}

}  // namespace pagoda::engine
