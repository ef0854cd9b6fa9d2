// io/config/streams: the parts that only Qwen4-Exp has are read with their defaults, and contradictions are refused.
#include "io/config/configs.h"
#include "io/config/model_config.h"
#include "support/test.h"

namespace pagoda::io {

PAGODA_TEST(model_config_reads_qwen4_exp) {
  const std::string exp =
      R"({"architectures": ["Qwen4ExpForCausalLM"], "model_type": "qwen4_exp_text", "hidden_size": 64,
    "num_hidden_layers": 5, "num_attention_heads": 4, "head_dim": 32, "vocab_size": 90, "eos_token_id": [7, 8],
    "indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 48, "indexer_budget": 96,
    "indexer_compress_ratio": 12, "ple_layer_ids": [5, 1, 5], "output_gate_type": "sigmoid", "hc_lowrank": 24,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.5}})";
  const ModelConfig config = parsed(exp);
  CHECK(config.family == Family::qwen4_exp && config.has_streams() && config.num_streams == 4);
  CHECK(config.stream_rank == 24 && config.sigmoid_output_gate && config.attention_gate && config.zero_centered_norm);
  CHECK(config.num_experts == 512 && config.num_experts_per_token == 10 && config.has_mixture(0));
  CHECK(config.indexer.num_heads == 4 && config.indexer.head_dim == 48 && config.indexer.num_blocks() == 8);
  CHECK(config.ngrams.layers == std::vector<int32_t>({0, 4}) && config.ngrams.table_index(4) == 1);
  CHECK(config.ngrams.table_index(1) == -1 && config.ngrams.num_heads() == 16 && config.ngrams.embed_dim == 64);
  CHECK(config.ngrams.hash.eos_token_id == 7 && config.ngrams.conv_reach() == 9 && config.ngrams.num_shards == 512);
  CHECK(config.layers[3] == LayerKind::full_attention && config.layers[4] == LayerKind::linear_attention);
  CHECK(!parsed(with(exp, "output_gate_type", "")).sigmoid_output_gate);
  CHECK(!parsed(with(exp, "ple_layer_ids", "")).ngrams.is_present());
  CHECK_EQ(parsed(with(with(exp, "rope_parameters", ""), "indexer_head_dim", "32")).rope.rotary_dim, 32);
  const ModelConfig named =
      parsed(with(exp, "layer_types", R"(["linear_attention", "indexed_attention", "full_attention",
                                                               "linear_attention", "linear_attention"])"));
  CHECK(named.layers[1] == LayerKind::full_attention && named.layers[2] == LayerKind::full_attention);

  struct Row {
    const char *key, *value, *word;
  };
  for (const Row& row : {Row{"indexer_n_heads", "", "indexer_n_heads"},
                         {"indexer_kv_heads", "2", "indexer_kv_heads"},
                         {"indexer_budget", "100", "indexer_budget"},
                         {"indexer_head_dim", "15", "indexer_head_dim"},
                         {"hc_count", "1", "hc_count"},
                         {"output_gate_type", R"("gelu")", "output_gate_type"},
                         {"ple_layer_ids", "[6]", "ple_layer_ids"},
                         {"ple_layer_ids", "[4]", "linear_attention"},
                         {"ple_embed_dim", "40", "ple_embed_dim"},
                         {"ngram_size", "1", "ngram_size"},
                         {"eos_token_id", "", "eos_token_id"},
                         {"rope_parameters", R"({"rope_type": "dynamic", "factor": 2.0, "partial_rotary_factor": 0.5})",
                          "change with the position"}}) {
    const Status status = parse(with(exp, row.key, row.value)).status;
    CHECK(!status.is_ok() && status.message.find(row.word) != std::string::npos);
  }
}

}  // namespace pagoda::io
