// Family-specific metadata besides sizes and rope, as members of config.json.
#pragma once

#include "io/gguf/config.h"
#include "io/gguf/keys.h"

namespace pagoda::io {

void add_windows(Keys& keys, const GgufShape& shape, Members& config);  // Phi-3 and Gemma 3
void add_experts(Keys& keys, Members& config);                          // Qwen
void add_layer_types(Keys& keys, Members& config);                      // Gated DeltaNet or attention
// Hyper-connections, the indexer of sparse attention and n-grams of Qwen4-Exp.
void add_streams(Keys& keys, Members& config);
int64_t find_ngram_layer(Keys& keys);  // -1: none
void add_minicpm3(Keys& keys, const GgufShape& shape, Members& config);
void add_deepseek(Keys& keys, const GgufShape& shape, bool is_sigmoid, Members& config);
void add_kimi(Keys& keys, const GgufShape& shape, bool is_sigmoid, Members& config);

// For DeepSeek and Kimi-Linear.
bool has_sigmoid_router(Keys& keys);

}  // namespace pagoda::io
