// Engine of the public headers, and the functions that load a model, its tokenizer or its chat template.
#include "pagoda/engine.h"
#include "base/assign_or_return.h"

#include <new>
#include <span>
#include <utility>

#include "api/guard.h"
#include "engine/engine_thread.h"
#include "engine/load/loader.h"
#include "engine/load/text_files.h"

void pagoda_engine_retain(pagoda::Engine* engine) noexcept { pagoda::api::retain(engine->references_); }

void pagoda_engine_release(pagoda::Engine* engine) noexcept {
  if (pagoda::api::release(engine->references_)) delete engine;
}

namespace pagoda {

using api::guarded;
using api::guarded_result;

Engine::Engine(std::unique_ptr<engine::EngineThread> thread) noexcept : thread_(std::move(thread)) {}
Engine::~Engine() = default;

SubmitResult Engine::submit(const Request& request, EventCallback callback, void* context) noexcept {
  SubmitResult result;
  Status status = guarded([&] {
    result = thread_->submit(request, callback, context);
    return ok_status();
  });
  if (!status.is_ok()) result.status = std::move(status);
  return result;
}

void Engine::cancel(uint64_t request_id) noexcept {
  (void)guarded([&] {
    thread_->cancel(request_id);
    return ok_status();
  });
}

Status Engine::answer_row(uint64_t request_id, int32_t token_index, const float* logits, int32_t num_logits,
                          int32_t token_id) noexcept {
  return guarded([&] {
    const std::span<const float> row(logits, static_cast<size_t>(num_logits));
    return thread_->answer_row(request_id, token_index, row, token_id);
  });
}

EngineStats Engine::stats() const noexcept {
  EngineStats stats;
  (void)guarded([&] {
    stats = thread_->stats();
    return ok_status();
  });
  return stats;
}

bool Engine::open_watch() noexcept {
  return guarded([&] {
           thread_->open_watch();
           return ok_status();
         })
      .is_ok();
}

void Engine::close_watch() noexcept { thread_->close_watch(); }

Activity Engine::activity() const noexcept {
  Activity activity;
  (void)guarded([&] {
    activity = thread_->activity();
    return ok_status();
  });
  return activity;
}

PrefixMatch Engine::find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const noexcept {
  PrefixMatch match;
  Status status = guarded([&] {
    match = thread_->find_prefix(prompt_ids, cache_salt);
    return ok_status();
  });
  if (!status.is_ok()) match.status = std::move(status);
  return match;
}

bool Engine::has_grammar(const GrammarSpec& grammar) const noexcept {
  bool is_found = false;
  (void)guarded([&] {
    is_found = thread_->has_grammar(grammar);
    return ok_status();
  });
  return is_found;
}

Status Engine::compile_grammar(const GrammarSpec& grammar) const noexcept {
  return guarded([&] { return thread_->compile_grammar(grammar); });
}

PrefixFilesResult Engine::prefix_files(const std::vector<int32_t>& prompt_ids,
                                       const std::string& cache_salt) const noexcept {
  PrefixFilesResult result;
  Status status = guarded([&] {
    result = thread_->prefix_files(prompt_ids, cache_salt);
    return ok_status();
  });
  if (!status.is_ok()) result.status = std::move(status);
  return result;
}

Status Engine::add_prefix_file(const std::string& path, const std::string& name) noexcept {
  return guarded([&] { return thread_->add_prefix_file(path, name); });
}

PrefixPin Engine::pin_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt) noexcept {
  return guarded_result<PrefixPin>([&](PrefixPin& pin) {
    pin = thread_->pin_prefix(ids, cache_salt);
    return ok_status();
  });
}

void Engine::unpin_prefix(uint64_t pin_id) noexcept {
  (void)guarded([&] {
    thread_->unpin_prefix(pin_id);
    return ok_status();
  });
}

SavedPrefix Engine::save_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt,
                                const std::string& path) noexcept {
  return guarded_result<SavedPrefix>([&](SavedPrefix& saved) -> Status {
    PAGODA_ASSIGN_OR_RETURN(saved.num_tokens, thread_->save_prefix(ids, cache_salt, path));
    return ok_status();
  });
}

SavedPrefix Engine::restore_prefix(const std::string& path, const std::string& cache_salt) noexcept {
  return guarded_result<SavedPrefix>([&](SavedPrefix& saved) -> Status {
    PAGODA_ASSIGN_OR_RETURN(saved.num_tokens, thread_->restore_prefix(path, cache_salt));
    return ok_status();
  });
}

Status Engine::load_lora(const LoraSource& source) noexcept {
  return guarded([&] { return thread_->load_lora(source); });
}

Status Engine::unload_lora(const std::string& name) noexcept {
  return guarded([&] { return thread_->unload_lora(name); });
}

std::vector<LoraInfo> Engine::loras() const noexcept {
  return api::value_or_empty([&] { return thread_->loras(); });
}

ModelInfo Engine::info() const noexcept { return thread_->info(); }

void Engine::set_profiling(bool enabled, bool by_kernel) noexcept {
  (void)guarded([&] {
    thread_->set_profiling(enabled, by_kernel);
    return ok_status();
  });
}

std::vector<OpTime> Engine::take_profile() noexcept {
  std::vector<OpTime> profile;
  (void)guarded([&] {
    profile = thread_->take_profile();
    return ok_status();
  });
  return profile;
}

std::string Engine::generation_config_json() const noexcept { return thread_->generation_config_json(); }
void Engine::shut_down() noexcept { thread_->shut_down(); }

Tokenizer* Engine::tokenizer() const noexcept {
  auto impl = thread_->tokenizer();
  return impl ? new (std::nothrow) Tokenizer(std::move(impl)) : nullptr;
}

ChatTemplate* Engine::chat_template() const noexcept {
  auto impl = thread_->chat_template();
  return impl ? new (std::nothrow) ChatTemplate(std::move(impl)) : nullptr;
}

Engine* load_engine(const ModelSource& source, const EngineOptions& options, ProgressCallback progress, void* context,
                    Status* status) noexcept {
  Engine* engine = nullptr;
  *status = guarded([&]() -> Status {
    const auto note = [&](int64_t num_bytes, int64_t total_bytes) {
      return progress == nullptr || progress(context, num_bytes, total_bytes);
    };
    PAGODA_ASSIGN_OR_RETURN(engine::LoadedModel loaded, engine::load(source, options, note));
    PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<engine::EngineThread> thread,
                            engine::EngineThread::start(std::move(loaded)));
    engine = new Engine(std::move(thread));
    return ok_status();
  });
  return engine;
}

ModelInfoResult inspect_model(const ModelSource& source, const EngineOptions& options) noexcept {
  ModelInfoResult result;
  result.status = guarded([&]() -> Status {
    Result<ModelInfo> info = engine::inspect(source, options);
    if (info.is_ok()) result.info = std::move(*info);
    return info.status;
  });
  return result;
}

Tokenizer* load_tokenizer(const ModelSource& source, Status* status) noexcept {
  Tokenizer* tokenizer = nullptr;
  *status = guarded([&]() -> Status {
    PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<io::ModelFiles> files, io::open_model_files(source));
    PAGODA_ASSIGN_OR_RETURN(std::shared_ptr<const text::SubwordTokenizer> loaded, engine::load_tokenizer_file(*files));
    if (!loaded) return make_error(StatusCode::not_found, files->description() + " has no tokenizer.json");
    tokenizer = new Tokenizer(std::move(loaded));
    return ok_status();
  });
  return tokenizer;
}

ChatTemplate* load_chat_template(const ModelSource& source, Status* status) noexcept {
  ChatTemplate* chat_template = nullptr;
  *status = guarded([&]() -> Status {
    PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<io::ModelFiles> files, io::open_model_files(source));
    PAGODA_ASSIGN_OR_RETURN(std::shared_ptr<const text::JinjaTemplate> loaded, engine::load_template_file(*files));
    if (!loaded) return make_error(StatusCode::not_found, files->description() + " has no chat template");
    chat_template = new ChatTemplate(std::move(loaded));
    return ok_status();
  });
  return chat_template;
}

}  // namespace pagoda
