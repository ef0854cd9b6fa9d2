// EngineThread: prefixes in files. Files are read and written on the caller's thread, and the engine's thread copies
// only a few megabytes between two steps, so that running requests do not notice.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "engine/engine_thread.h"
#include "engine/load/fingerprint.h"
#include "io/prefix_file.h"

namespace pagoda::engine {
namespace {

constexpr uint64_t kPieceBytes = 8 << 20;                      // copied between two steps
const std::string kProbeSalt = "pagoda: prefix of the probe";  // no request has it unless its owner wants to

// The head of all of `tokens`, with the blocks from `first_block` on.
io::PrefixFileHead head_of(const MemoryPlan& plan, int32_t block_size, int32_t position, int64_t first_block) {
  io::PrefixFileHead head;
  head.position = position;
  head.parent_position = static_cast<int32_t>(first_block * block_size);
  head.block_size = block_size;
  head.block_bytes = static_cast<uint64_t>(plan.kv_block_bytes);
  return head;
}

// How a prefix is divided into pieces: body(first block, position at the end, whether it is the last).
template <class Body>
Status for_each_piece(const MemoryPlan& plan, int32_t block_size, int32_t position, Body&& body) {
  const int64_t block_bytes = std::max<int64_t>(plan.kv_block_bytes, 1);
  const int64_t count = std::max<int64_t>(static_cast<int64_t>(kPieceBytes) / block_bytes, 1);
  for (int64_t first = 0; first * block_size < position; first += count) {
    const int64_t end = std::min<int64_t>((first + count) * block_size, position);
    PAGODA_RETURN_IF_ERROR(body(first, static_cast<int32_t>(end), end == position));
  }
  return ok_status();
}

// Waits for the end of a request.
struct Ending {
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  Status status;

  static void on_event(void* context, const Event* event) {
    if (event->kind != EventKind::finished) return;
    Ending& self = *static_cast<Ending*>(context);
    const std::lock_guard lock(self.mutex);
    self.has_ended = true;
    self.status = event->finish_reason == FinishReason::cancelled
                      ? Status{StatusCode::shut_down, "the engine has been shut down"}
                      : event->status;
    self.ended.notify_all();
  }
  Status wait() {
    std::unique_lock lock(mutex);
    ended.wait(lock, [this] { return has_ended; });
    return status;
  }
};

Status refuse(const std::string& path, StatusCode code, const char* why) {
  return make_error(code, concat(path, ": ", why));
}

}  // namespace

PrefixPin EngineThread::pin_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt) {
  PrefixPin pin;
  Status status = visit([&](EngineCore& core) {
    pin = core.pin_prefix(cache_salt, ids);
    return ok_status();
  });
  if (!status.is_ok()) pin.status = std::move(status);
  return pin;
}

void EngineThread::unpin_prefix(uint64_t pin_id) {
  (void)post([=](EngineCore& core) {
    core.unpin_prefix(pin_id);
    return ok_status();
  });
}

// All blocks of `tokens`, and the state after them.
Result<PrefixStore::ContentPtr> EngineThread::copy_prefix(const std::string& salt, std::span<const int32_t> tokens) {
  const MemoryPlan& plan = info().plan;
  const int32_t block_size = plan.limits.block_size, position = static_cast<int32_t>(tokens.size());
  const auto whole = std::make_shared<PrefixStore::Content>();
  whole->head = head_of(plan, block_size, position, 0);
  whole->head.state_bytes = static_cast<uint64_t>(plan.state_slot_bytes);
  whole->tokens.assign(tokens.begin(), tokens.end());
  PAGODA_RETURN_IF_ERROR(
      for_each_piece(plan, block_size, position, [&](int64_t first, int32_t end, bool is_last) -> Status {
        io::PrefixFileHead head = head_of(plan, block_size, end, first);
        if (is_last) head.state_bytes = whole->head.state_bytes;
        Result<PrefixStore::ContentPtr> piece = ok_status();
        PAGODA_RETURN_IF_ERROR(visit([&](EngineCore& core) {
          piece = core.prefixes().copy(salt, tokens, std::move(head));
          return piece.status;
        }));
        whole->blocks.insert(whole->blocks.end(), (*piece)->blocks.begin(), (*piece)->blocks.end());
        if (is_last) whole->state = (*piece)->state;
        return ok_status();
      }));
  return PrefixStore::ContentPtr(whole);
}

// Computed when it is first needed, by a request of a few tokens.
Result<std::string> EngineThread::fingerprint() {
  const std::lock_guard lock(fingerprint_mutex_);
  if (!fingerprint_.empty()) return fingerprint_;
  Request request;
  request.prompt_ids = probe_tokens(core_config());
  request.sampling.max_tokens = 1;
  request.sampling.ignore_eos = true;
  request.cache_salt = kProbeSalt;
  request.prompt_has_thinking_tags = false;
  Ending ending;
  PAGODA_RETURN_IF_ERROR(submit(request, &Ending::on_event, &ending).status);
  PAGODA_RETURN_IF_ERROR(ending.wait());
  PAGODA_ASSIGN_OR_RETURN(const PrefixStore::ContentPtr content, copy_prefix(kProbeSalt, request.prompt_ids));
  Hash128 hash;
  add_blocks(hash, info().plan, content->blocks);
  add_state(hash, info().plan, content->state);
  fingerprint_ = concat("saved ", hash.value().text(), ", ", layout());
  return fingerprint_;
}

Result<int32_t> EngineThread::save_prefix(const std::vector<int32_t>& ids, const std::string& cache_salt,
                                          const std::string& path) {
  PAGODA_ASSIGN_OR_RETURN(const std::string identity, fingerprint());
  int32_t count = 0;
  PAGODA_RETURN_IF_ERROR(visit([&](EngineCore& core) {
    count = core.prefixes().find(cache_salt, ids);
    return ok_status();
  }));
  if (count == 0) return make_error(StatusCode::not_found, "no prefix of these tokens is cached");
  const std::span<const int32_t> tokens = std::span(ids).first(static_cast<size_t>(count));
  PAGODA_ASSIGN_OR_RETURN(const PrefixStore::ContentPtr content, copy_prefix(cache_salt, tokens));
  io::PrefixFileHead head = content->head;
  head.fingerprint = identity;
  head.salt = hash_of_salt(cache_salt);
  for_each_key(identity, cache_salt, tokens, [&](int32_t, const Hash128Value& key) { head.key = key; });
  PAGODA_RETURN_IF_ERROR(io::write_prefix_file(path, head, tokens, content->blocks, content->state));
  return count;
}

Result<int32_t> EngineThread::restore_prefix(const std::string& path, const std::string& cache_salt) {
  PAGODA_ASSIGN_OR_RETURN(const auto file, io::PrefixFile::open(path));
  PAGODA_ASSIGN_OR_RETURN(const std::string identity, fingerprint());
  const MemoryPlan& plan = info().plan;
  PrefixStore::Content content;
  content.head = file->head();
  if (content.head.fingerprint != identity || content.head.block_size != plan.limits.block_size ||
      content.head.block_bytes != static_cast<uint64_t>(plan.kv_block_bytes) ||
      content.head.state_bytes != static_cast<uint64_t>(plan.state_slot_bytes) || content.head.parent_position != 0)
    return refuse(path, StatusCode::unsupported, "was saved by another model, device, number format or version");
  PAGODA_ASSIGN_OR_RETURN(const std::vector<int32_t> tokens, file->read_tokens());
  if (content.head.salt != hash_of_salt(cache_salt))
    return refuse(path, StatusCode::invalid_argument, "was saved with another cache salt");
  const auto is_id = [&](int32_t id) { return id >= 0 && id < core_config().vocab_size; };
  if (!std::ranges::all_of(tokens, is_id)) return refuse(path, StatusCode::bad_file, "has unknown tokens");
  PAGODA_ASSIGN_OR_RETURN(const std::vector<std::byte> blocks, file->read_blocks());
  PAGODA_ASSIGN_OR_RETURN(content.state, file->read_state());
  PAGODA_RETURN_IF_ERROR(for_each_piece(
      plan, plan.limits.block_size, file->head().position, [&](int64_t first, int32_t end, bool is_last) -> Status {
        content.head = head_of(plan, plan.limits.block_size, end, first);
        content.tokens.assign(tokens.begin(), tokens.begin() + end);
        const auto from = blocks.begin() + first * plan.kv_block_bytes;
        content.blocks.assign(from, from + content.head.num_blocks() * plan.kv_block_bytes);
        return visit([&](EngineCore& core) { return core.prefixes().place(cache_salt, content, is_last); });
      }));
  return file->head().position;
}

}  // namespace pagoda::engine
