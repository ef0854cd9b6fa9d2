// io/quantize: a mixed copy has 8 bits where its rule says, 4 elsewhere, and a configuration that mlx-lm and this
// engine read.
#include "io/quantize/mixture.h"

#include <filesystem>

#include "base/json.h"
#include "io/checkpoint.h"
#include "io/quantize/files.h"
#include "io/quantize/stored.h"
#include "model/model_runner.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

struct Copy {
  QuantizeResult result;
  std::string folder;
  std::unique_ptr<ModelFiles> files;
  std::unique_ptr<Checkpoint> checkpoint;
};

Copy copy_of(const std::string& name, const QuantizeOptions& options) {
  Copy copy;
  copy.folder = test::temporary_dir() + "/" + std::to_string(options.bits) + (options.is_mixed ? "mixed" : "");
  std::filesystem::remove_all(copy.folder);
  auto source = open_model_files(test::folder(name));
  CHECK_OK(source);
  if (!source.is_ok()) return copy;
  copy.result = quantize_files(**source, copy.folder, options, [](double) { return true; });
  CHECK_OK(copy.result.status);
  auto files = open_model_files(test::folder(copy.folder));
  CHECK_OK(files);
  if (!files.is_ok()) return copy;
  copy.files = std::move(*files);
  auto checkpoint = Checkpoint::open(*copy.files);
  CHECK_OK(checkpoint);
  if (checkpoint.is_ok()) copy.checkpoint = std::make_unique<Checkpoint>(std::move(*checkpoint));
  return copy;
}

std::vector<float> values_of(const TensorEntry& entry) {
  std::vector<float> values(static_cast<size_t>(entry.shape[0] * entry.shape[1]));
  CHECK_OK(entry.decoder->read(0, values));
  return values;
}

}  // namespace

PAGODA_TEST(mixture_takes_embeddings_and_sensitive_products_of_some_layers) {
  CHECK(is_sensitive("lm_head.weight", 32) && is_sensitive("model.embed_tokens.weight", 32));
  CHECK(is_sensitive("model.language_model.embed_tokens.weight", 0));
  std::vector<int64_t> layers;
  for (int64_t i = 0; i < 32; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    const bool is_taken = is_sensitive(layer + "mlp.down_proj.weight", 32);
    if (is_taken) layers.push_back(i);
    CHECK_EQ(is_sensitive(layer + "self_attn.v_proj.weight", 32), is_taken);
    CHECK_EQ(is_sensitive(layer + "linear_attn.out_proj.weight", 32), is_taken);
    for (const char* name : {"self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj", "linear_attn.in_proj_qkv", "embed"})
      CHECK(!is_sensitive(layer + name + ".weight", 32));
  }
  CHECK(layers == (std::vector<int64_t>{0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31}));
  for (const char* name : {"model.layers.x.mlp.down_proj.weight", "model.layers.", "model.norm.weight"})
    CHECK(!is_sensitive(name, INT64_MAX));
}

// Each matrix of the mix is that of the copy with as many bits, and is kept as it is stored.
PAGODA_TEST(mixture_copies_have_the_matrices_of_4_and_8_bits) {
  const Copy narrow = copy_of(test::mini_model_dir(), {.bits = 4, .num_threads = 2}),
             wide = copy_of(test::mini_model_dir(), {.bits = 8, .num_threads = 2}),
             mixed = copy_of(test::mini_model_dir(), {.bits = 4, .is_mixed = true, .num_threads = 2});
  REQUIRE(narrow.checkpoint && wide.checkpoint && mixed.checkpoint);
  CHECK_EQ(mixed.result.num_quantized, narrow.result.num_quantized);
  CHECK(narrow.result.num_wide == 0 && wide.result.num_wide == 0);
  CHECK(narrow.result.output_bytes < mixed.result.output_bytes && mixed.result.output_bytes < wide.result.output_bytes);
  int32_t num_wide = 0, num_quantized = 0;
  for (const auto& [name, entry] : mixed.checkpoint->tensors()) {
    if (entry.bits == 0) continue;
    ++num_quantized;
    num_wide += entry.bits == 8;
    CHECK_EQ(entry.bits, is_sensitive(name, 8) ? 8 : 4);
    CHECK(entry.decoder->stored_format() == affine_format(entry.bits, 64, DType::bf16));
    const Copy& same = entry.bits == 8 ? wide : narrow;
    CHECK(values_of(entry) == values_of(*same.checkpoint->find(name)));
  }
  // Tied embeddings, down_proj of layers 0, 3, 6 and 7, out_proj of 0 and 6, v_proj of 3 and 7.
  CHECK_EQ(num_wide, 9);
  CHECK(num_wide == mixed.result.num_wide && num_quantized == mixed.result.num_quantized);
}

// mlx-lm looks for a module's own bits under its path, which is another name than the tensor's for Qwen3.5.
PAGODA_TEST(mixture_copies_state_the_bits_of_each_module) {
  const Copy mixed = copy_of(test::mini_model_dir(), {.bits = 4, .is_mixed = true, .num_threads = 2});
  REQUIRE(mixed.files);
  const auto config = parse_json(*mixed.files->read_text("config.json", 1 << 20));
  REQUIRE_OK(config);
  for (const char* key : {"quantization", "quantization_config"}) {
    const Json* object = config->find(key);
    REQUIRE(object && object->find("bits"));
    CHECK_EQ(object->find("bits")->as_integer(), 4);
    CHECK_EQ(object->members().size(), size_t{3 + 2 * 9});
    for (const char* name : {"model.language_model.layers.7.self_attn.v_proj",
                             "language_model.model.layers.7.self_attn.v_proj", "language_model.model.embed_tokens"}) {
      const Json* own = object->find(name);
      REQUIRE(own && own->find("bits") && own->find("group_size"));
      CHECK(own->find("bits")->as_integer() == 8 && own->find("group_size")->as_integer() == 64);
    }
  }
  const Copy gguf =
      copy_of(test::fixtures_dir() + "/gguf/stored/k_mix.gguf", {.bits = 4, .is_mixed = true, .num_threads = 2});
  REQUIRE(gguf.files);
  const auto plain = parse_json(*gguf.files->read_text("config.json", 1 << 20));
  REQUIRE_OK(plain);
  CHECK(plain->find("quantization")->find("model.layers.0.mlp.down_proj") != nullptr);
  CHECK(plain->find("quantization")->members().size() == 3 + static_cast<size_t>(gguf.result.num_wide));
  CHECK(gguf.result.num_wide > 0);
}

PAGODA_TEST(mixture_needs_4_bits) {
  const auto files = open_model_files(test::folder(test::mini_model_dir()));
  const std::string out = test::temporary_dir() + "/never";
  const Status status = quantize_files(**files, out, {.bits = 8, .is_mixed = true}, [](double) { return true; }).status;
  CHECK(status.code == StatusCode::invalid_argument && status.message.find("mix") != std::string::npos);
  CHECK(!std::filesystem::exists(out));
}

}  // namespace pagoda::io
