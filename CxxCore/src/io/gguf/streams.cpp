// Metadata of Qwen4-Exp (qwen4exp): hyper-connections, the indexer of sparse attention, and the table of n-grams.
#include <algorithm>
#include <numeric>

#include "base/concat.h"
#include "base/ngram_hash.h"
#include "io/gguf/families.h"

namespace pagoda::io {
namespace {

Json json_list(const std::vector<int64_t>& values) {
  std::vector<Json> list;
  for (const int64_t value : values) list.push_back(Json::make_integer(value));
  return Json::make_array(std::move(list));
}

// The metadata have a ratio for each layer: that of its blocks, or 0 if its attention is dense or it has none.
int64_t compress_ratio(Keys& keys) {
  const std::string name = keys.prefix() + "attention.compress_ratios";
  int64_t ratio = 0;
  for (const int64_t each : keys.gguf().integers(name).value_or(std::vector<int64_t>{})) {
    if (each != 0 && ratio != 0 && each != ratio) keys.fail(name, "is not the same for all layers of attention");
    if (each != 0) ratio = each;
  }
  if (ratio == 0) keys.fail(name, "is missing or has no layer with blocks");
  return ratio;
}

std::vector<int64_t> numbers_of(Keys& keys, const char* key, int64_t count) {
  const std::string name = keys.prefix() + key;
  auto values = keys.gguf().integers(name);
  if (values && static_cast<int64_t>(values->size()) == count) return *std::move(values);
  keys.fail(name, concat("is not a list of ", count, " integers"));
  return std::vector<int64_t>(static_cast<size_t>(count), 1);
}

// Sizes and first rows of the table's parts follow from the first size, as in the configuration of Hugging Face.
void check_parts(Keys& keys, int32_t ngram_size, int32_t heads_per_ngram, int64_t num_heads, Members& config) {
  constexpr int64_t kMostRows = 1 << 28;
  const auto sizes = numbers_of(keys, "ple.head_vocab_sizes", num_heads);
  const auto first_rows = numbers_of(keys, "ple.head_offsets", num_heads);
  if (sizes[0] < 2 || sizes[0] > kMostRows)
    return keys.fail(keys.prefix() + "ple.head_vocab_sizes", concat("has ", sizes[0]));
  const NgramHash hash = make_ngram_hash({.vocab_size = 1,
                                          .ngram_size = ngram_size,
                                          .heads_per_ngram = heads_per_ngram,
                                          .vocab_base = static_cast<int32_t>(sizes[0])},
                                         0);
  if (hash.sizes != sizes) keys.fail(keys.prefix() + "ple.head_vocab_sizes", "is not a list of successive primes");
  if (hash.first_row != first_rows) keys.fail(keys.prefix() + "ple.head_offsets", "does not follow from the sizes");
  config.add("ngram_vocab_size_base", sizes[0]);
  const GgufTensor* table = keys.tensor("per_layer_token_embd.weight").tensor;
  // The table is padded, and the file does not state to a multiple of what.
  if (table != nullptr && table->shape.front() >= hash.num_rows)
    config.add("make_ngram_vocab_size_divisible_by", table->shape.front());
}

void add_ngrams(Keys& keys, int64_t layer, Members& config) {
  constexpr int64_t kMostHeads = 256;
  const int64_t ngram_size = keys.positive("ple.ngram_size"), per_ngram = keys.positive("ple.heads_per_ngram");
  const int64_t num_heads = (ngram_size - 1) * per_ngram;
  if (num_heads < 1 || num_heads > kMostHeads)
    return keys.fail(keys.prefix() + "ple.heads_per_ngram", concat("leads to ", num_heads, " heads"));
  config.add("ple_layer_ids", json_list({layer + 1}));
  config.add("ngram_size", ngram_size);
  config.add("heads_per_ngram", per_ngram);
  config.add("ple_conv_kernel_size", keys.positive("ple.conv_kernel"));
  config.add("ple_embed_dim", keys.positive("embedding_length_per_layer_input") * num_heads);
  config.add("ple_layer_multipliers", json_list(numbers_of(keys, "ple.layer_multipliers", ngram_size)));
  config.add("ple_eos_token_id", keys.find("ple.eos_token_id").value_or(-1));
  check_parts(keys, static_cast<int32_t>(ngram_size), static_cast<int32_t>(per_ngram), num_heads, config);
}

}  // namespace

// llama.cpp has the table of one layer in a file.
int64_t find_ngram_layer(Keys& keys) {
  const std::string name = keys.prefix() + "ple.layers";
  const auto layers = keys.gguf().integers(name);
  if (!layers || layers->empty()) return -1;
  constexpr int64_t kMostLayers = 4096;
  if (layers->size() == 1 && layers->front() >= 0 && layers->front() < kMostLayers) return layers->front();
  keys.fail(name, "is not one layer");
  return -1;
}

void add_streams(Keys& keys, Members& config) {
  config.add("hc_count", keys.positive("hyper_connection.count"));
  config.add("hc_lowrank", keys.positive("hyper_connection.low_rank"));
  config.add("output_gate_type", std::string_view("sigmoid"));  // llama.cpp has no other
  config.add("indexer_n_heads", keys.positive("attention.indexer.head_count"));
  config.add("indexer_kv_heads", int64_t{1});
  config.add("indexer_head_dim", keys.positive("attention.indexer.key_length"));
  config.add("indexer_budget", keys.positive("attention.indexer.top_k"));
  config.add("indexer_compress_ratio", compress_ratio(keys));
  if (const int64_t layer = find_ngram_layer(keys); layer >= 0) add_ngrams(keys, layer, config);
}

}  // namespace pagoda::io
