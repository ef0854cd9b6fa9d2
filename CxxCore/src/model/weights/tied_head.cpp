// Compares the head with the embedding, a chunk at a time.
#include "model/weights/tied_head.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace pagoda::model {

Status untie_different_head(const io::Checkpoint& checkpoint, io::ModelConfig& config) {
  if (!config.tie_word_embeddings) return ok_status();
  const io::TensorEntry* head = checkpoint.find("lm_head.weight");
  const io::TensorEntry* embedding = checkpoint.find(config.tensor_prefix + "embed_tokens.weight");
  if (head == nullptr || embedding == nullptr || head->decoder || embedding->decoder) return ok_status();
  if (head->dtype != embedding->dtype || head->shape != embedding->shape) return ok_status();
  constexpr uint64_t kChunk = 1 << 20;
  std::vector<std::byte> a(kChunk), b(kChunk);
  for (uint64_t at = 0; at < head->size_bytes; at += kChunk) {
    const size_t count = static_cast<size_t>(std::min(kChunk, head->size_bytes - at));
    PAGODA_RETURN_IF_ERROR(checkpoint.read(*head, at, {a.data(), count}));
    PAGODA_RETURN_IF_ERROR(checkpoint.read(*embedding, at, {b.data(), count}));
    if (std::memcmp(a.data(), b.data(), count) == 0) continue;
    config.tie_word_embeddings = false;
    return ok_status();
  }
  return ok_status();
}

void find_bare_decoder(const io::Checkpoint& checkpoint, io::ModelConfig& config) {
  if (checkpoint.find(config.tensor_prefix + "embed_tokens.weight") != nullptr) return;
  if (checkpoint.find("embed_tokens.weight") == nullptr) return;
  config.tensor_prefix.clear();
  if (checkpoint.find("lm_head.weight") == nullptr) config.tie_word_embeddings = true;
}

}  // namespace pagoda::model
