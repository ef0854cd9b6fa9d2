// Hashes the model's files and the bytes of a probe.
#include "engine/load/fingerprint.h"

#include <algorithm>
#include <vector>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/fnv1a.h"
#include "base/hash128.h"
#include "engine/batch_builder.h"
#include "io/file_identity.h"

namespace pagoda::engine {
namespace {

constexpr int32_t kProbeTokens = 20;  // a full block of the recurrent state, and rows of the next

}  // namespace

std::vector<int32_t> probe_tokens(const CoreConfig& core) {
  const int32_t count =
      std::min({kProbeTokens, core.limits.max_num_tokens, core.limits.block_size * core.limits.max_blocks_per_seq});
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < count; ++i) tokens.push_back((i * 7919 + 13) % core.vocab_size);
  return tokens;
}

void add_blocks(Hash128& hash, const MemoryPlan& plan, std::span<const std::byte> blocks) {
  const size_t size = static_cast<size_t>(plan.kv_block_bytes);
  for (size_t begin = 0; begin + size <= blocks.size() && size > 0; begin += size)
    hash.add(blocks.subspan(begin, size - static_cast<size_t>(plan.head_kv_block_bytes)));
}

void add_state(Hash128& hash, const MemoryPlan& plan, std::span<const std::byte> state) {
  hash.add(state.first(state.size() - static_cast<size_t>(plan.head_state_slot_bytes)));
}

namespace {

Result<Hash128Value> probe(const MemoryPlan& plan, const CoreConfig& core, model::Model& model) {
  request::Sequence sequence;
  sequence.tokens = probe_tokens(core);
  const int32_t count = sequence.num_tokens();
  for (int32_t block = 0; block * core.limits.block_size < count; ++block) sequence.block_table.push_back(block);
  sequence.state_slot = core.limits.has_state() ? 0 : -1;
  sequence.has_fresh_slot = core.limits.has_state();
  scheduler::StepPlan step;
  step.sequences.push_back({&sequence, count});
  model::ForwardBatch batch;
  reserve_batch(batch, core.limits);
  build_batch(step, core.limits.block_size, core.limits.max_blocks_per_seq, core.limits.has_state(), batch);
  PAGODA_RETURN_IF_ERROR(model.forward(batch));

  Hash128 hash;
  hash.add(std::as_bytes(model.logits()));
  std::vector<std::byte> bytes(static_cast<size_t>(plan.kv_block_bytes));
  for (int32_t block : sequence.block_table) {
    const Status status = model.read_block(block, count - block * core.limits.block_size, bytes);
    if (status.code == StatusCode::unsupported) return hash.value();  // on several machines the logits are sufficient
    PAGODA_RETURN_IF_ERROR(status);
    add_blocks(hash, plan, bytes);
  }
  if (!core.limits.has_state()) return hash.value();
  bytes.resize(static_cast<size_t>(plan.state_slot_bytes));
  PAGODA_RETURN_IF_ERROR(model.read_slot(0, bytes));
  add_state(hash, plan, bytes);
  return hash.value();
}

}  // namespace

Result<std::string> files_identity(const io::Checkpoint& checkpoint, bool whole_content) {
  if (whole_content) {
    Hash128 contents;
    for (const auto& file : checkpoint.files()) PAGODA_RETURN_IF_ERROR(io::add_content(*file, contents));
    return "content " + contents.value().text();
  }
  Fnv1a files;
  for (const auto& file : checkpoint.files()) PAGODA_RETURN_IF_ERROR(io::add_identity(*file, files));
  return "files " + hex(files.value());
}

std::string layout_text(const io::ModelConfig& config, const MemoryPlan& plan, const CoreConfig& core) {
  std::string text = concat("block of ", core.limits.block_size, " tokens in ", plan.kv_block_bytes,
                            " bytes, state of ", plan.state_slot_bytes, " bytes");
  // The probe is too short for RoPE scaling that changes beyond the trained context.
  if (const io::RopeConfig& rope = config.rope; rope.depends_on_position())
    text += concat(", rope scaled by ", rope.factor, " past ", rope.original_context);
  return text;
}

Result<std::string> fingerprint(const io::ModelConfig& config, const MemoryPlan& plan, const CoreConfig& core,
                                model::Model& model) {
  PAGODA_ASSIGN_OR_RETURN(const Hash128Value probed, probe(plan, core, model));
  return concat("probe ", probed.text(), ", ", layout_text(config, plan, core));
}

}  // namespace pagoda::engine
