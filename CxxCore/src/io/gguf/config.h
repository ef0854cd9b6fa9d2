// A GGUF file's metadata in the form of a model folder: config.json, tokenizer.json, tokenizer_config.json.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "io/gguf/gguf.h"

namespace pagoda::io {

// The sizes that tensors depend on, checked: positive if the architecture has them, otherwise 0.
struct GgufShape {
  std::string architecture;  // as GGUF names it: qwen35, qwen3, qwen2, llama, ...
  int64_t num_heads = 0, num_kv_heads = 0, head_dim = 0;
  int64_t num_k_heads = 0, num_v_heads = 0, k_head_dim = 0, v_head_dim = 0;  // Gated DeltaNet
  int64_t ngram_layer = -1;        // Qwen4-Exp: the layer with the table of n-grams
  bool has_tiled_v_heads = false;  // V-head t uses K-head t % num_k_heads; else t / (num_v_heads / num_k_heads)
};

// Fails with unsupported for an unknown architecture, and with bad_file, naming the key, if one is missing or invalid.
Result<GgufShape> read_gguf_shape(const Gguf& gguf);

// Text of config.json. Values in the files are passed on unchanged: parse_model_config() checks them. `parts`: of the
// text model, whose first has the metadata; `vision`: the file of the vision tower, or null.
Result<std::string> gguf_config_json(std::span<const Gguf> parts, const Gguf* vision = nullptr);

bool has_gguf_tokenizer(const Gguf& gguf) noexcept;
// tokenizer.json of the models "llama" (SentencePiece's BPE: merges are found by scores) and "t5" (Unigram).
Result<std::string> gguf_sentencepiece_json(const Gguf& gguf);
Result<std::string> gguf_tokenizer_json(const Gguf& gguf);         // fails with unsupported unless it is byte-level BPE
Result<std::string> gguf_tokenizer_config_json(const Gguf& gguf);  // chat template and the tokens that it may name

}  // namespace pagoda::io
