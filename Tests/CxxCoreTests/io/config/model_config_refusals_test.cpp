// io/model_config: each bad key is refused by name, and no configuration text crashes the parser.
#include "io/config/model_config.h"

#include <random>
#include <string>

#include "io/config/configs.h"
#include "io/config/rope.h"
#include "io/quantize/bad_row.h"
#include "support/test.h"

namespace pagoda::io {

PAGODA_TEST(model_config_lists_what_is_supported_when_it_refuses_an_architecture) {
  const Status status = parse(with(kQwen3, "architectures", R"(["FalconForCausalLM"])")).status;
  CHECK(status.code == StatusCode::unsupported);
  for (const char* word : {"'FalconForCausalLM'", "Qwen3_5ForCausalLM", "LlamaForCausalLM", "Gemma3ForCausalLM"})
    CHECK(status.message.find(word) != std::string::npos);
}

PAGODA_TEST(model_config_finds_the_family_by_model_type_alone) {
  const auto config = parse(with(kQwen3, "architectures", ""));
  REQUIRE_OK(config);
  CHECK_EQ(config->architecture, "Qwen3ForCausalLM");
  CHECK_OK(parse(with(kQwen3, "architectures", "[]")));
  CHECK_OK(parse(with(kQwen3, "model_type", "")));
}

PAGODA_TEST(model_config_refuses_each_bad_config) {
  struct Row {
    const char* name;
    std::string json;
    const char* message;
    StatusCode code = StatusCode::bad_file;
  };
  constexpr StatusCode kUnsupported = StatusCode::unsupported;
  const auto q = [](const char* key, const char* value) { return with(kQwen3, key, value); };
  const auto h = [](const char* key, const char* value) { return with(kQwen3_5, key, value); };
  const auto l = [](const char* key, const char* value) { return with(kLlama, key, value); };
  const Row rows[] = {
      {"empty", "", "expected a value at byte 0"},
      {"list", "[]", "is not a JSON object"},
      {"cut", kQwen3.substr(0, 100), "at byte"},
      {"duplicate key", "{\"hidden_size\": 1024, " + kQwen3.substr(1), "duplicate key 'hidden_size'"},
      {"no architecture", "{}", "architectures names no architecture"},
      {"architectures is a string", q("architectures", "\"Qwen3ForCausalLM\""), "architectures is not a list"},
      {"architectures of numbers", q("architectures", "[3]"), "names no architecture"},
      {"other architecture", q("architectures", "[\"GPT2LMHeadModel\"]"), "'GPT2LMHeadModel'", kUnsupported},
      {"mixture of experts", q("architectures", "[\"Qwen2MoeForCausalLM\"]"), "'Qwen2MoeForCausalLM'", kUnsupported},
      {"unknown model_type", with(q("architectures", ""), "model_type", "\"mamba\""), "'mamba'", kUnsupported},
      {"model_type of another family", q("model_type", "\"llama\""), "'llama' does not belong to Qwen3ForCausalLM"},
      {"no text_config", with(kQwen3_5, "text_config", ""), "text_config is not an object"},
      {"text_config is a list", with(kQwen3_5, "text_config", "[]"), "text_config is not an object"},
      {"no hidden_size", q("hidden_size", ""), "hidden_size is missing"},
      {"null hidden_size", q("hidden_size", "null"), "hidden_size is missing"},
      {"negative hidden_size", q("hidden_size", "-1024"), "hidden_size is not an integer from 1 to 1048576"},
      {"zero hidden_size", q("hidden_size", "0"), "hidden_size is not an integer"},
      {"huge hidden_size", q("hidden_size", "1099511627776"), "hidden_size is not an integer"},
      {"hidden_size beyond int64", q("hidden_size", "99999999999999999999"), "hidden_size is not an integer"},
      {"float hidden_size", q("hidden_size", "1024.0"), "hidden_size is not an integer"},
      {"string hidden_size", q("hidden_size", "\"1024\""), "hidden_size is not an integer"},
      {"no intermediate_size", q("intermediate_size", ""), "intermediate_size is missing"},
      {"no layers", q("num_hidden_layers", ""), "num_hidden_layers is missing"},
      {"zero layers", q("num_hidden_layers", "0"), "num_hidden_layers is not an integer from 1 to 4096"},
      {"negative layers", q("num_hidden_layers", "-1"), "num_hidden_layers is not an integer"},
      {"huge layers", q("num_hidden_layers", "2147483647"), "num_hidden_layers is not an integer"},
      {"zero heads", q("num_attention_heads", "0"), "num_attention_heads is not an integer"},
      {"heads that kv heads do not divide", q("num_key_value_heads", "3"), "3 does not divide num_attention_heads 16"},
      {"more kv heads than heads", q("num_key_value_heads", "32"), "does not divide"},
      {"zero kv heads", q("num_key_value_heads", "0"), "num_key_value_heads is not an integer"},
      {"heads that do not divide", with(kLlama, "num_attention_heads", "7"), "does not divide"},
      {"no head_dim to derive", with(l("num_attention_heads", "10"), "num_key_value_heads", "5"), "hidden_size 576"},
      {"huge head_dim", q("head_dim", "1025"), "head_dim is not an integer from 1 to 1024"},
      {"odd head_dim", q("head_dim", "127"), "not an even number"},
      {"no vocabulary", q("vocab_size", ""), "vocab_size is missing"},
      {"huge vocabulary", q("vocab_size", "16777217"), "vocab_size is not an integer"},
      {"vocabulary smaller than eos", q("vocab_size", "151645"), "eos_token_id has a token id"},
      {"negative eos", q("eos_token_id", "-1"), "eos_token_id has a token id"},
      {"eos of strings", q("eos_token_id", "[1, \"2\"]"), "eos_token_id has a token id"},
      {"negative context", q("max_position_embeddings", "-1"), "max_position_embeddings is not an integer"},
      {"eps is zero", q("rms_norm_eps", "0"), "rms_norm_eps is not a number"},
      {"eps is a string", q("rms_norm_eps", "\"1e-6\""), "rms_norm_eps is not a number"},
      {"NaN theta", q("rope_theta", "NaN"), "expected a value at byte"},
      {"NaN theta as a string", q("rope_theta", "\"NaN\""), "rope_theta is not a number"},
      {"infinite theta", q("rope_theta", "1e999"), "number outside double"},
      {"negative theta", q("rope_theta", "-1"), "rope_theta is not a number"},
      {"theta zero in the dictionary", h("rope_theta", "0"), "text_config: rope_parameters: rope_theta"},
      {"rope_scaling is a string", q("rope_scaling", "\"yarn\""), "rope_scaling is not an object"},
      {"another", q("rope_scaling", R"({"type": "resonance", "factor": 4.0})"), "rope_type 'resonance'", kUnsupported},
      {"yarn by 0", q("rope_scaling", R"({"type": "yarn", "factor": 0.0})"), "factor is not a number"},
      {"dynamic without factor", q("rope_scaling", R"({"rope_type": "dynamic"})"), "factor is missing"},
      {"longrope", l("rope_scaling", R"({"rope_type": "longrope"})"), "rope_type 'longrope'", kUnsupported},
      {"linear without factor", l("rope_scaling", R"({"rope_type": "linear"})"), "factor is missing"},
      {"linear with factor 0", l("rope_scaling", R"({"rope_type": "linear", "factor": 0})"), "factor is not a number"},
      {"llama3 without factors", l("rope_scaling", R"({"rope_type": "llama3", "factor": 8})"), "factor is missing"},
      {"llama3 with equal factors",
       l("rope_scaling", R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4})"),
       "high_freq_factor is not above low_freq_factor"},
      {"rope differs by kind",
       q("rope_parameters", R"({"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}})"),
       "differs between kinds of layers", kUnsupported},
      {"rope by kind is a number", q("rope_parameters", R"({"full_attention": 3})"), "that is not an object"},
      {"rotary factor 0", h("partial_rotary_factor", "0"), "partial_rotary_factor is not a number"},
      {"rotary factor 2", h("partial_rotary_factor", "2"), "partial_rotary_factor is not a number"},
      {"odd rotary dims", h("partial_rotary_factor", "0.043"), "give 11"},
      {"partial rotary Llama", l("partial_rotary_factor", "0.5"), "is not supported", kUnsupported},
      {"interval 0", h("full_attention_interval", "0"), "text_config: full_attention_interval is not"},
      {"negative interval", h("full_attention_interval", "-4"), "full_attention_interval is not an integer"},
      {"too few layer_types", with(kQwen3_5Text, "layer_types", "[\"full_attention\"]"), "num_hidden_layers (4)"},
      {"linear kernel 0", h("linear_conv_kernel_dim", "0"), "linear_conv_kernel_dim is not an integer"},
      {"linear heads 0", h("linear_num_key_heads", "0"), "linear_num_key_heads is not an integer"},
      {"linear heads that do not divide", h("linear_num_value_heads", "17"), "17 is not a multiple of"},
      {"no output gate", h("attn_output_gate", "false"), "attn_output_gate", kUnsupported},
      {"layer_types is a string", q("layer_types", "\"full_attention\""), "layer_types is not a list"},
      {"layer_types too short", q("layer_types", "[\"full_attention\"]"), "num_hidden_layers (28)"},
      {"layer_types of numbers", with(kQwen2, "layer_types", "[1, 2, 3, 4]"), "has an entry that is not a string"},
      {"linear layer in Qwen2",
       with(kQwen2, "layer_types", R"(["full_attention","linear_attention","full_attention","full_attention"])"),
       "'linear_attention'", kUnsupported},
      {"sliding layer without window",
       with(with(kQwen2, "use_sliding_window", "false"), "layer_types",
            R"(["full_attention","sliding_attention","full_attention","full_attention"])"),
       "no sliding_window is in use"},
      {"window 0", with(kQwen2, "sliding_window", "0"), "sliding_window is not an integer"},
      {"gelu", q("hidden_act", "\"gelu\""), "hidden_act 'gelu' is not supported", kUnsupported},
      {"quantized", q("quantization_config", R"({"quant_method": "bitsandbytes", "bits": 3, "group_size": 7})"),
       "quantization_config is present: quantized weights 'bitsandbytes'", kUnsupported},
      {"group 0", q("quantization", R"({"group_size": 0, "bits": 4})"), "group_size 0 is not supported"},
      {"group 7", q("quantization", R"({"group_size": 7, "bits": 4})"), "group_size 7 is not supported"},
      {"7 bits", q("quantization", R"({"group_size": 64, "bits": 7})"), "bits 7 is not supported"},
      {"quantization is a list", q("quantization", "[4]"), "quantization is present", kUnsupported},
      {"float8", q("torch_dtype", "\"float8_e4m3fn\""), "torch_dtype 'float8_e4m3fn' is not supported", kUnsupported},
      {"dtype is a number", q("torch_dtype", "16"), "torch_dtype is not a string"},
      {"tie is a string", q("tie_word_embeddings", "\"yes\""), "tie_word_embeddings is neither true nor false"},
  };
  for (const Row& row : rows) {
    const Status status = parse(row.json).status;
    test::check_row(row.name, status, row.code, row.message);
    test::check_row(row.name, status, row.code, "config.json: ");
  }
}

PAGODA_TEST(model_config_reads_the_embedded_model) {
  const auto config = parse(read_file(test::mini_model_dir() + "/config.json"));
  REQUIRE_OK(config);
  CHECK(config->family == Family::qwen3_5 && config->states_dtype && config->tie_word_embeddings);
  CHECK_EQ(config->num_layers, 8);
  CHECK_EQ(config->rope.rotary_dim, 64);
  CHECK(config->layers[3] == LayerKind::full_attention && config->layers[4] == LayerKind::linear_attention);
  CHECK(config->eos_token_ids == std::vector<int32_t>{4089});
}

PAGODA_TEST(model_config_reads_eos_of_generation_config) {
  const auto ids = [](const char* text) { return parse_eos_token_ids(text, "generation_config.json", 9); };
  CHECK(ids("{\"eos_token_id\": 7}").value == std::vector<int32_t>{7});
  CHECK(ids("{\"eos_token_id\": [7, 8]}").value == (std::vector<int32_t>{7, 8}));
  CHECK(ids("{\"eos_token_id\": null}").value == std::vector<int32_t>{});
  CHECK(ids("{}").value == std::vector<int32_t>{});
  for (const char* bad :
       {"{\"eos_token_id\": \"7\"}", "{\"eos_token_id\": [7, -1]}", "{\"eos_token_id\": 2147483648}",
        "{\"eos_token_id\": 9}", "{\"eos_token_id\": [7, 16000000]}", "{\"eos_token_id\": [[7]]}", "[]", "{"}) {
    test::check_row(bad, ids(bad).status, StatusCode::bad_file, "generation_config.json: ");
  }
}

PAGODA_TEST(model_config_survives_truncation_and_random_mutations) {
  std::mt19937_64 random(test::seed(31));
  const std::string* bases[] = {&kQwen3_5, &kQwen3_5Text, &kQwen3, &kQwen2, &kLlama};
  int accepted = 0;
  for (const std::string* base : bases) {
    REQUIRE_OK(parse(*base));
    for (size_t n = 0; n < base->size(); ++n) CHECK(!parse(base->substr(0, n)).is_ok());
    for (int round = 0; round < 2000; ++round) {
      std::string text = *base;
      const std::string alphabet = "0123456789-.e\"[]{},ntf";
      for (uint64_t n = 1 + random() % 3; n > 0; --n) {
        text[random() % text.size()] = alphabet[random() % alphabet.size()];
      }
      const auto config = parse(text);
      if (!config.is_ok()) continue;
      ++accepted;
      CHECK_EQ(static_cast<int32_t>(config->layers.size()), config->num_layers);
      CHECK(config->num_heads % config->num_kv_heads == 0 && config->rope.rotary_dim % 2 == 0 && config->head_dim > 0);
    }
  }
  test::note("accepted " + std::to_string(accepted));
  CHECK(accepted > 50);
}

}  // namespace pagoda::io
