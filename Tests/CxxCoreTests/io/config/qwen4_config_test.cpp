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
                         {"split_ngram_parts", "40000", "80000 tensors"},
                         {"ple_layer_multipliers", "[1, 3]", "ple_layer_multipliers"},
                         {"ple_layer_multipliers", "[1, 3, -5]", "ple_layer_multipliers"},
                         {"ple_layer_multipliers", "[1, 3, 9223372036854775807]", "ple_layer_multipliers"},
                         {"ple_eos_token_id", "90", "ple_eos_token_id"},
                         {"eos_token_id", "", "eos_token_id"},
                         {"rope_parameters", R"({"rope_type": "dynamic", "factor": 2.0, "partial_rotary_factor": 0.5})",
                          "change with the position"}}) {
    const Status status = parse(with(exp, row.key, row.value)).status;
    CHECK(!status.is_ok() && status.message.find(row.word) != std::string::npos);
  }
  // Each head of each table costs a search for a prime.
  const std::string many = with(with(exp, "heads_per_ngram", "128"), "ple_embed_dim", "512");
  CHECK_OK(parse(many).status);
  CHECK(parse(with(many, "ple_layer_ids", "[1, 2, 3]")).status.message.find("768 heads") != std::string::npos);
}

// The configuration of Qwen3.8-Flash-Next, which has keys that are not read.
PAGODA_TEST(model_config_reads_qwen4_exp_as_published) {
  const ModelConfig config = parsed(R"({
    "architectures": ["Qwen4ExpForConditionalGeneration"], "model_type": "qwen4_exp", "image_token_id": 248056,
    "language_model_only": false, "tie_word_embeddings": false, "video_token_id": 248057,
    "vision_start_token_id": 248053, "vision_end_token_id": 248054, "text_config": {
      "model_type": "qwen4_exp_text", "dtype": "bfloat16", "hidden_size": 2560, "num_hidden_layers": 48,
      "num_attention_heads": 24, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 248320, "hidden_act": "silu",
      "attention_bias": false, "bos_token_id": 248044, "eos_token_id": 248044, "max_position_embeddings": 262144,
      "rms_norm_eps": 1e-06, "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
      "linear_num_key_heads": 16, "linear_num_value_heads": 48, "linear_value_head_dim": 128, "num_experts": 512,
      "num_experts_per_tok": 10, "moe_intermediate_size": 640, "shared_expert_intermediate_size": 640, "hc_count": 4,
      "hc_lowrank": 320, "indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 128, "indexer_budget": 2048,
      "indexer_compress_ratio": 4, "ple_layer_ids": [2], "ple_embed_dim": 2560, "ple_conv_kernel_size": 4,
      "ngram_size": 3, "heads_per_ngram": 8, "ngram_vocab_size_base": 20000000, "split_ngram_parts": 128,
      "make_ngram_vocab_size_divisible_by": 128, "output_gate_type": "sigmoid", "mamba_ssm_dtype": "float32",
      "mtp": {"hybrid": true, "num_hidden_layers": 1, "rope_theta": 10000000}, "mtp_num_hidden_layers": 1,
      "mtp_use_dedicated_embeddings": false, "pad_token_id": null, "partial_rotary_factor": 0.25,
      "rope_parameters": {"mrope_interleaved": true, "mrope_section": [11, 11, 10], "partial_rotary_factor": 0.25,
                          "rope_theta": 10000000, "rope_type": "default"}}})");
  CHECK(config.rope.rotary_dim == 64 && config.indexer.num_blocks() == 512 && config.sigmoid_output_gate);
  CHECK(config.ngrams.layers == std::vector<int32_t>({1}) && config.ngrams.embed_dim == 2560);
  const NgramHash hash = make_ngram_hash(config.ngrams.hash, 0);
  CHECK(hash.num_rows == 320001536 && hash.num_heads() == 16);
  CHECK(hash.multipliers == std::vector<int64_t>({23703573157769, 20109073645365, 8052911324071}));
}

// GGUF files state the numbers of the hash, and an id of their own.
PAGODA_TEST(model_config_reads_the_numbers_of_a_hash) {
  const std::string hashed =
      R"({"architectures": ["Qwen4ExpForCausalLM"], "model_type": "qwen4_exp_text", "hidden_size": 64,
    "num_hidden_layers": 4, "num_attention_heads": 4, "head_dim": 32, "vocab_size": 90, "eos_token_id": [7, 8],
    "indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 48, "indexer_budget": 96, "ngram_size": 2,
    "indexer_compress_ratio": 12, "ple_layer_ids": [1], "ple_layer_multipliers": [3, 70000000000000001],
    "ple_eos_token_id": 5, "rope_parameters": {"rope_theta": 1e7, "partial_rotary_factor": 0.5}})";
  const NgramHashConfig hash = parsed(hashed).ngrams.hash;
  CHECK(hash.eos_token_id == 5 && hash.multipliers == std::vector<int64_t>({3, 70000000000000001}));
  CHECK(make_ngram_hash(hash, 0).multipliers == hash.multipliers);
  CHECK(parsed(with(hashed, "ple_layer_multipliers", "")).ngrams.hash.multipliers.empty());
  CHECK(parsed(with(hashed, "ple_eos_token_id", "")).ngrams.hash.eos_token_id == 7);
}

}  // namespace pagoda::io
