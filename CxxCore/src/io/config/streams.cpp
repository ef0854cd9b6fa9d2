// Keys, defaults and rules of Qwen4-Exp in transformers.
#include "io/config/streams.h"

#include <limits>
#include <string>

#include "base/concat.h"
#include "base/quoted.h"
#include "io/config/fields.h"
#include "io/config/limits.h"
#include "io/config/model_config.h"

namespace pagoda::io {
namespace {

constexpr int32_t kMaxStreams = 64, kMaxNgram = 16, kMaxHeadsPerNgram = 256, kMaxBudget = 1 << 17;
constexpr int32_t kMaxNgramVocab = 1 << 28, kMaxShards = 1 << 16;
// Of all tables: a configuration alone costs this many primes for each of them, and this many names.
constexpr size_t kMaxParts = 512, kMaxShardsOfAll = kMaxShards;

void read_output_gate(ConfigFields& text, ModelConfig& config) {
  const std::string gate = text.string("output_gate_type", "silu");
  config.sigmoid_output_gate = gate == "sigmoid";
  if (gate != "sigmoid" && gate != "silu")
    text.fail("output_gate_type", quoted(gate) + " is not sigmoid or silu", StatusCode::unsupported);
}

void read_indexer(ConfigFields& text, ModelConfig& config) {
  IndexerConfig& indexer = config.indexer;
  indexer.num_heads = text.integer("indexer_n_heads", 1, kMaxHeads);
  indexer.head_dim = text.integer("indexer_head_dim", 1, kMaxHeadDim);
  indexer.budget = text.integer("indexer_budget", 1, kMaxBudget);
  indexer.ratio = text.integer("indexer_compress_ratio", 1, kMaxBudget);
  text.check(text.integer("indexer_kv_heads", 1, kMaxHeads) == 1, "indexer_kv_heads", "is not 1");
  text.check(indexer.budget % indexer.ratio == 0, "indexer_budget",
             concat(indexer.budget, " is not a multiple of indexer_compress_ratio ", indexer.ratio));
  text.check(config.rope.rotary_dim <= indexer.head_dim, "indexer_head_dim",
             concat(indexer.head_dim, " is less than the ", config.rope.rotary_dim, " dimensions that rotate"));
  if (config.rope.depends_on_position())
    text.fail("rope_parameters", "change with the position, which is not supported for " + config.architecture,
              StatusCode::unsupported);
}

// Layer numbers in the list start at 1.
void read_ngram_layers(ConfigFields& text, ModelConfig& config) {
  for (const int32_t number : text.ids("ple_layer_ids", INT32_MAX)) {
    const bool exists = number >= 1 && number <= config.num_layers;
    text.check(exists, "ple_layer_ids", concat("has ", number, ", which is no layer from 1 to ", config.num_layers));
    if (!exists) return;
    text.check(config.layers[static_cast<size_t>(number - 1)] == LayerKind::linear_attention, "ple_layer_ids",
               concat("has ", number, ", which is no layer of linear_attention"));
    config.ngrams.layers.push_back(number - 1);
  }
  auto& layers = config.ngrams.layers;
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
}

// GGUF files state the numbers of the hash, where others have a seed.
void read_multipliers(ConfigFields& text, NgramHashConfig& hash) {
  constexpr std::string_view kKey = "ple_layer_multipliers";
  const Json* numbers = text.find(kKey);
  if (numbers == nullptr) return;
  const int64_t most = std::numeric_limits<int64_t>::max() / hash.vocab_size;  // no product with a token overflows
  text.check(numbers->is_array() && numbers->items().size() == static_cast<size_t>(hash.ngram_size), kKey,
             concat("is not a list of ngram_size (", hash.ngram_size, ") integers"));
  for (size_t i = 0; text.is_ok() && i < numbers->items().size(); ++i) {
    const Json& number = numbers->items()[i];
    const bool fits = number.is_integer() && number.as_integer() >= 0 && number.as_integer() <= most;
    text.check(fits, kKey, concat("has a number that is not an integer from 0 to ", most));
    if (fits) hash.multipliers.push_back(number.as_integer());
  }
}

void read_ngram_limits(ConfigFields& text, const NgramConfig& ngrams) {
  const size_t num_parts = ngrams.layers.size() * static_cast<size_t>(std::max(ngrams.num_heads(), 1));
  text.check(num_parts <= kMaxParts, "ple_layer_ids",
             concat("leads to ", num_parts, " heads of all layers, which is more than ", kMaxParts));
  const size_t num_shards = ngrams.layers.size() * static_cast<size_t>(ngrams.num_shards);
  text.check(num_shards <= kMaxShardsOfAll, "split_ngram_parts",
             concat("leads to ", num_shards, " tensors of all layers, which is more than ", kMaxShardsOfAll));
}

void read_ngrams(ConfigFields& text, ModelConfig& config) {
  NgramConfig& ngrams = config.ngrams;
  read_ngram_layers(text, config);
  if (!text.is_ok() || !ngrams.is_present()) return;
  ngrams.hash.vocab_size = config.vocab_size;
  ngrams.hash.ngram_size = text.integer("ngram_size", 2, kMaxNgram, 3);
  ngrams.hash.heads_per_ngram = text.integer("heads_per_ngram", 1, kMaxHeadsPerNgram, 8);
  ngrams.hash.vocab_base = text.integer("ngram_vocab_size_base", 1, kMaxNgramVocab, 20'000'000);
  ngrams.hash.row_multiple = text.integer("make_ngram_vocab_size_divisible_by", 1, INT32_MAX, 128);
  ngrams.hash.seed = text.integer("seed", INT32_MIN, INT32_MAX, 1234);
  ngrams.embed_dim = text.integer("ple_embed_dim", 1, kMaxHiddenSize, config.hidden_size);
  ngrams.conv_kernel = text.integer("ple_conv_kernel_size", 2, kMaxConvKernel, 4);
  ngrams.num_shards = text.integer("split_ngram_parts", 1, kMaxShards, 512);
  text.check(ngrams.num_heads() <= kMaxHeadsPerNgram && ngrams.embed_dim % ngrams.num_heads() == 0, "ple_embed_dim",
             concat(ngrams.embed_dim, " is not a multiple of the number of n-gram heads ", ngrams.num_heads(),
                    ", which is at most ", kMaxHeadsPerNgram));
  read_ngram_limits(text, ngrams);
  read_multipliers(text, ngrams.hash);
  const char* key = text.find("ple_eos_token_id") != nullptr ? "ple_eos_token_id" : "eos_token_id";  // the first: GGUF
  const std::vector<int32_t> eos = text.ids(key, config.vocab_size - 1);
  text.check(!eos.empty(), key, "is absent, but ple_layer_ids need one");
  if (!eos.empty()) ngrams.hash.eos_token_id = eos.front();
}

}  // namespace

void read_streams(ConfigFields& text, ModelConfig& config) {
  config.num_streams = text.integer("hc_count", 2, kMaxStreams, 4);
  config.stream_rank = text.integer("hc_lowrank", 1, kMaxIntermediateSize, 320);
  read_output_gate(text, config);
  read_indexer(text, config);
  read_ngrams(text, config);
}

}  // namespace pagoda::io
