// Request: a prompt as token ids and everything that decides its answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/grammar.h"
#include "pagoda/sampling_params.h"
#include "pagoda/status.h"

namespace pagoda {

// How the states of a prompt become one vector.
enum class Pooling : int32_t {
  none = 0,
  last,  // that of the last token
  mean,  // the mean of all
};

struct Request {
  std::vector<int32_t> prompt_ids;
  SamplingParams sampling;
  GrammarSpec grammar{};
  // Whether <think> and </think> in the prompt are the chat template's and say if the answer begins inside thinking.
  // False for text that no template rendered: then it begins outside, whatever the text mentions.
  bool prompt_has_thinking_tags = true;
  bool speculate = true;        // false: one token per step, whatever EngineOptions::speculation says
  bool use_cache = true;        // false: reads nothing from the prefix cache and leaves nothing there
  int32_t priority = 0;         // the class: of those that wait, lower ones run first
  std::string share_id = "";    // requests with the same one (a client's) have one fair share; at most 256 bytes
  std::string cache_salt = "";  // requests with different salts (tenants) share nothing; at most 256 bytes
  // Log probabilities of the prompt, as events of kind prompt_token: -1 for none, else those of the tokens after the
  // first and of this many of the most likely alternatives. Such a request uses no prefix cache.
  int32_t num_prompt_logprobs = -1;
  // Other than none: the request is for an embedding of its prompt, Event::embedding of the finished event, and no
  // token is sampled. With `mean` it uses no prefix cache.
  Pooling pooling = Pooling::none;
  // An answer made before, to be checked: read in one pass with the prompt, each token drawn again from its own row.
  // Events of kind token say what was drawn; the first that differs is the last. Uses no prefix cache; max_tokens is
  // not read.
  std::vector<int32_t> answer_ids{};
  // Where other prompts will diverge from this one: numbers of leading prompt tokens after which the recurrent state is
  // worth keeping, besides the ends of turns, a coarse grid and the end, which are found without.
  std::vector<int32_t> checkpoint_positions{};
};

struct SubmitResult {
  Status status;
  uint64_t request_id = 0;
};

}  // namespace pagoda
