// RequestBuilder: checks requests against fixed limits before they are queued, and builds what the engine keeps for
// them. State: compiled grammars and DRY breakers, which lock themselves.
// Thread rule: any thread, at any time; it does not wait for a step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/active_request.h"
#include "engine/core/core_config.h"
#include "engine/dry_breakers.h"
#include "engine/thinking.h"
#include "grammar/grammar_cache.h"
#include "pagoda/event.h"
#include "pagoda/request.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

class RequestBuilder {
 public:
  // All of these outlive it. gives_states: whether the model has states to embed.
  RequestBuilder(const CoreConfig& config, const scheduler::Scheduler& scheduler, bool gives_states);

  Result<std::unique_ptr<ActiveRequest>> build(const Request& request, uint64_t id, EventCallback callback,
                                               void* context) const;
  Status check_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  grammar::GrammarCache& grammars() const noexcept { return grammars_; }

 private:
  int64_t default_max_tokens(int64_t num_prompt_tokens) const noexcept;
  int64_t max_tokens_of(const Request& request) const noexcept;
  Status check_outputs(const Request& request) const;
  Status place_images(const Request& request, ActiveRequest& active) const;
  void set_up_drafts(const Request& request, int64_t max_tokens, ActiveRequest& active) const;
  void set_up_cache(const Request& request, request::Sequence& sequence) const;
  void set_up_text(const Request& request, ActiveRequest& active) const;
  Status set_up_adapter(const Request& request, ActiveRequest& active) const;

  const CoreConfig& config_;
  const scheduler::Scheduler& scheduler_;
  bool gives_states_;
  ThinkingFormat thinking_format_;
  mutable grammar::GrammarCache grammars_;
  mutable DryBreakers dry_breakers_;
};

}  // namespace pagoda::engine
