// model: GGUF files of Qwen4-Exp, also in several parts, and folders as mlx-lm and mlx-vlm save it give the bits of the
// model that they were converted from; what does not fit is refused by name.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/quant/stored_row.h"
#include "engine/load/loader.h"
#include "io/gguf/gguf_file.h"
#include "io/gguf/stored.h"
#include "model/checkpoint_editor.h"
#include "model/mtp_runner.h"

namespace pagoda::test {
namespace {

const std::vector<int32_t> kPrompt = {5, 17, 2,  90, 3,  3, 44, 2,  2,  101, 7,  5, 17, 2,  90, 64, 11, 0,  8,  9,
                                      5, 17, 61, 90, 33, 3, 44, 12, 27, 101, 70, 5, 17, 20, 90, 64, 11, 10, 83, 9};

std::vector<float> logits_from(const ModelSource& source) {
  auto runner = ModelRunner::load(source, {.dtype = "float32", .max_tokens = 64, .max_context = 64});
  CHECK_OK(runner);
  return runner.is_ok() ? logits_of(**runner, kPrompt, 16) : std::vector<float>{};
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  CHECK_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max<double>(worst, std::abs(a[i] - b[i]));
  return worst;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
}

std::string gguf_bytes() {
  std::ifstream file(fixtures_dir() + "/gguf/qwen4exp.gguf", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The fixture with the table of its first layer alone, as the GGUF file has it.
ModelSource original(CheckpointEditor& editor) {
  replace(editor.config(), "  1,\n  3\n ]", "  1\n ]");
  std::erase_if(editor.tensors, [](const auto& tensor) { return tensor.first.starts_with("model.layers.2.ple."); });
  return editor.write();
}

ModelSource in_memory(const std::string& name, const std::string& bytes) {
  return {.directory = "", .files = {{name, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}}};
}

std::string refusal(const std::string& bytes) {
  const Status status = ModelRunner::load(in_memory("m.gguf", bytes), {.max_tokens = 32, .max_context = 32}).status;
  CHECK(status.code == StatusCode::bad_file);
  note(status.message);
  return status.message;
}

// An array in GGUF's metadata: u32 for types 4, u64 for type 10, i32 for type 5.
template <class T>
std::string gguf_array(const std::string& key, uint32_t type, const std::vector<T>& values) {
  std::string bytes = gguf_string(key) + raw(uint32_t{9}) + raw(type) + raw(uint64_t{values.size()});
  for (const T value : values) bytes += raw(value);
  return bytes;
}

// The layers' experts as three tensors each, and convolutions as [channels, kernel, 1].
void store_as_mlx(CheckpointEditor& editor, const std::string& prefix, int num_layers, int num_experts) {
  for (auto& [name, tensor] : editor.tensors)
    if (name.ends_with("conv1d.weight")) std::swap(tensor.shape[1], tensor.shape[2]);
  for (int layer = 0; layer < num_layers; ++layer)
    for (const char* kind : {"gate_proj", "up_proj", "down_proj"}) {
      const std::string mlp = prefix + "layers." + std::to_string(layer) + ".mlp.";
      CheckpointEditor::Tensor all;
      for (int expert = 0; expert < num_experts; ++expert) {
        auto node = editor.tensors.extract(mlp + "experts." + std::to_string(expert) + "." + kind + ".weight");
        REQUIRE(!node.empty());
        const CheckpointEditor::Tensor& one = node.mapped();
        all.dtype = one.dtype;
        all.shape = {num_experts, one.shape[0], one.shape[1]};
        all.bytes.insert(all.bytes.end(), one.bytes.begin(), one.bytes.end());
      }
      editor.tensors[mlp + "switch_mlp." + kind + ".weight"] = std::move(all);
    }
}

void rename_all(CheckpointEditor& editor, const std::string& from, const std::string& to) {
  std::map<std::string, CheckpointEditor::Tensor> renamed;
  for (auto& [name, tensor] : editor.tensors) {
    std::string own = name;
    if (const size_t at = own.find(from); at != own.npos) own.replace(at, from.size(), to);
    renamed[own] = std::move(tensor);
  }
  editor.tensors = std::move(renamed);
}

}  // namespace

// Converting A_log to -exp(A_log) and back, and norms with 1 added, is not exact; everything else is.
PAGODA_TEST(model_gguf_of_qwen4exp_is_its_original) {
  CheckpointEditor editor(fixtures_dir() + "/model/qwen4_exp");
  const double worst = distance(logits_from(original(editor)), logits_from(in_memory("m.gguf", gguf_bytes())));
  note("largest difference of logits " + std::to_string(worst));
  CHECK(worst <= 2e-5);
}

// As published: the first part has no tensor. The second has its data where the alignment of the whole file has it.
PAGODA_TEST(model_gguf_whose_first_part_has_no_tensors_is_the_whole_file) {
  const std::string whole = gguf_bytes();
  constexpr size_t kHead = 24;  // magic, version, number of tensors, number of keys
  uint64_t num_tensors = 0, num_keys = 0;
  std::memcpy(&num_tensors, whole.data() + 8, sizeof num_tensors);
  std::memcpy(&num_keys, whole.data() + 16, sizeof num_keys);
  const size_t end_of_keys = whole.find(gguf_string("per_layer_token_embd.weight"));
  REQUIRE(end_of_keys != whole.npos);
  const std::string keys = whole.substr(kHead, end_of_keys - kHead);
  const auto head = [](uint64_t tensors, uint64_t count) {
    return "GGUF" + raw(uint32_t{3}) + raw(tensors) + raw(count);
  };
  const std::string first = head(0, num_keys) + keys;
  std::string padding = gguf_text("padding", "");
  padding = gguf_text("padding", std::string((keys.size() - padding.size()) % 32, ' '));
  const std::string second = head(num_tensors, 1) + padding + whole.substr(end_of_keys);
  const auto data = [](const std::string& bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); };
  const ModelSource parts{.directory = "",
                          .files = {{"m-00001-of-00002.gguf", data(first), first.size()},
                                    {"m-00002-of-00002.gguf", data(second), second.size()}}};
  CHECK(same_bits(logits_from(parts), logits_from(in_memory("m.gguf", whole))));
}

PAGODA_TEST(model_gguf_of_qwen4exp_that_does_not_fit_is_refused) {
  const std::string ple = "qwen4exp.ple.", attention = "qwen4exp.attention.";
  struct Row {
    std::string from, to, word;
  };
  const auto u64 = [&](const char* key, std::vector<uint64_t> values) { return gguf_array(ple + key, 10, values); };
  const auto ratios = [&](std::vector<int32_t> values) { return gguf_array(attention + "compress_ratios", 5, values); };
  const auto layer = [&](int32_t number) { return gguf_array(ple + "layers", 5, std::vector<int32_t>{number}); };
  const std::vector<uint64_t> sizes = {53, 59, 61, 67}, offsets = {0, 53, 112, 173};
  for (const Row& row :
       {Row{ratios({0, 4, 0, 4, 0}), ratios({0, 4, 0, 8, 0}), "compress_ratios"},
        {ratios({0, 4, 0, 4, 0}), ratios({0, 0, 0, 0, 0}), "compress_ratios"},
        {ratios({0, 4, 0, 4, 0}), ratios({0, -4, 0, -4, 0}), "indexer_compress_ratio"},
        {gguf_u32(attention + "indexer.top_k", 32), gguf_u32(attention + "indexer.top_k", 30), "indexer_budget"},
        {layer(0), layer(1), "linear_attention"},
        {layer(0), layer(4), "ple_layer_ids"},
        {layer(0), layer(-1), "ple.layers"},
        {u64("head_vocab_sizes", sizes), u64("head_vocab_sizes", {53, 59, 61, 71}), "head_vocab_sizes"},
        {u64("head_vocab_sizes", sizes), u64("head_vocab_sizes", {0, 59, 61, 67}), "head_vocab_sizes"},
        {u64("head_offsets", offsets), u64("head_offsets", {0, 53, 112, 174}), "head_offsets"},
        {gguf_u32(ple + "heads_per_ngram", 2), gguf_u32(ple + "heads_per_ngram", 200), "heads_per_ngram"},
        {gguf_u32(ple + "eos_token_id", 2), gguf_u32(ple + "eos_token_id", 120), "ple_eos_token_id"},
        {"per_layer_token_embd.weight", "per_layer_token_embD.weight", "ngram_embedding"},
        {gguf_u32("qwen4exp.hyper_connection.count", 4), gguf_u32("qwen4exp.hyper_connection.count", 3), "shape"}}) {
    std::string bytes = gguf_bytes();
    replace(bytes, row.from, row.to);
    CHECK(refusal(bytes).find(row.word) != std::string::npos);
  }
  std::string bytes = gguf_bytes();
  const size_t at = bytes.find(ple + "layer_multipliers") + ple.size() + std::strlen("layer_multipliers") + 16;
  const int64_t large = int64_t{1} << 60;
  std::memcpy(bytes.data() + at, &large, sizeof large);
  CHECK(refusal(bytes).find("ple_layer_multipliers") != std::string::npos);
}

// The file has one, in the block after the last: it is not the file of a head alone. Two of its matrices are one there,
// and norms of all streams have a row for each stream.
PAGODA_TEST(mtp_a_head_of_qwen4exp_in_a_gguf_file_drafts_as_in_safetensors) {
  const std::string path = fixtures_dir() + "/model/qwen4_exp";
  CheckpointEditor editor(path), with_head(path, path + "/mtp");
  for (const auto& [key, tensor] : with_head.tensors)
    if (key.starts_with("mtp.")) editor.tensors[key] = tensor;
  const MtpGolden wanted = drafts_of(original(editor)), golden = drafts_of(in_memory("m.gguf", gguf_bytes()));
  REQUIRE(!wanted.logits.empty());
  CHECK(wanted.next == golden.next && wanted.drafts == golden.drafts);
  const double worst = distance(wanted.logits, golden.logits);
  note("largest difference of drafts' logits " + std::to_string(worst));
  CHECK(worst <= 2e-5);
}

// One block of Q8_0 in each row of a half: d = 1, and codes that tell row, half and column.
PAGODA_TEST(mtp_halves_of_a_quantised_matrix_are_read_in_place) {
  const std::string layer = "model.layers.4.nextn.", gguf_name = "blk.4.nextn.eh_proj.weight";
  constexpr uint32_t kQ80 = 8;
  constexpr int64_t kSize = 32;
  const auto code = [](int64_t row, int64_t half, int64_t col) {
    return static_cast<int8_t>((row * 7 + half * 50 + col) % 120 - 60);
  };
  std::string bytes = gguf_bytes(), blocks;
  const auto plain = open_model(in_memory("m.gguf", bytes));
  REQUIRE_OK(plain);
  const uint64_t offset = plain->checkpoint->find(layer + "fc_embedding.weight")->offset_bytes;
  for (int64_t row = 0; row < kSize; ++row)
    for (int64_t half = 0; half < 2; ++half) {
      blocks += raw(uint16_t{0x3c00});
      for (int64_t col = 0; col < kSize; ++col) blocks += raw(code(row, half, col));
    }
  std::copy(blocks.begin(), blocks.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  const size_t type = bytes.find(gguf_string(gguf_name)) + gguf_string(gguf_name).size() + 4 + 2 * 8;
  std::memcpy(bytes.data() + type, &kQ80, sizeof kQ80);
  const auto opened = open_model(in_memory("m.gguf", bytes));
  REQUIRE_OK(opened);
  for (int64_t half = 0; half < 2; ++half) {
    const io::TensorEntry* entry =
        opened->checkpoint->find(layer + (half == 0 ? "fc_embedding.weight" : "fc_hidden.weight"));
    REQUIRE(entry != nullptr && entry->shape == std::vector<int64_t>({kSize, kSize}));
    std::vector<float> values(kSize * kSize);
    CHECK_OK(entry->decoder->read(0, values));
    const QuantFormat& format = quant_format(*entry->decoder->stored_format());
    const size_t row_bytes = stored_row_bytes(format, kSize);
    std::vector<std::byte> stored(kSize * row_bytes), wanted(row_bytes);
    CHECK_OK(entry->decoder->read_stored(0, kSize, stored));
    for (int64_t row = 0; row < kSize; ++row) {
      for (int64_t col = 0; col < kSize; ++col) CHECK_EQ(values[row * kSize + col], float{1} * code(row, half, col));
      const std::byte* block = reinterpret_cast<const std::byte*>(blocks.data()) + (2 * row + half) * 34;
      io::split_gguf_row(kQ80, block, kSize, stored_row(format, kSize, wanted.data()));
      CHECK(std::memcmp(wanted.data(), stored.data() + row * row_bytes, row_bytes) == 0);
    }
  }
}

PAGODA_TEST(mtp_a_head_of_qwen4exp_without_its_connections_is_left_alone) {
  std::string bytes = gguf_bytes();
  replace(bytes, "nextn.hc_head_up.weight", "nextn.hc_head_uP.weight");
  EngineOptions options;
  CHECK_OK(engine::inspect(in_memory("m.gguf", bytes), options));
  options.speculation = "mtp";
  const Status status = engine::inspect(in_memory("m.gguf", bytes), options).status;
  CHECK(status.message.find("has none") != std::string::npos);
}

// Attention has more projections there than adapters can change: those of the indexer stay as they are.
PAGODA_TEST(model_gguf_of_qwen4exp_takes_adapters_of_attention) {
  const auto opened = open_model(folder(fixtures_dir() + "/gguf/qwen4exp.gguf"));
  REQUIRE_OK(opened);
  const auto layout = model::adapter_layout(opened->config, *opened->checkpoint);
  REQUIRE_OK(layout);
  const auto attention = std::ranges::find_if(layout->targets(), [](const model::AdapterTarget& target) {
    return target.layer_index == 1 && target.role == model::Role::mixer_in;
  });
  REQUIRE(attention != layout->targets().end());
  CHECK_EQ(attention->parts.size(), size_t{3});
}

// mlx-lm has the text model as "model.", mlx-vlm in a module, with other names for the table; norms stay as they are.
PAGODA_TEST(model_qwen4_exp_as_mlx_saves_it_has_its_bits) {
  const std::string path = fixtures_dir() + "/model/qwen4_exp_vision", prefix = "model.language_model.";
  CheckpointEditor editor(path);
  std::erase_if(editor.tensors, [](const auto& tensor) { return tensor.first.starts_with("model.visual."); });
  const std::vector<float> wanted = logits_from(editor.write());
  store_as_mlx(editor, prefix, 4, 8);
  CheckpointEditor vlm = editor;
  rename_all(editor, prefix, "model.");
  CHECK(same_bits(logits_from(editor.write()), wanted));
  rename_all(vlm, prefix, "language_model.model.");
  rename_all(vlm, ".ngram_embedding.shard_", ".ngram_embedding.shards.");
  rename_all(vlm, "lm_head.", "language_model.lm_head.");
  CHECK(same_bits(logits_from(vlm.write()), wanted));
  CheckpointEditor text(fixtures_dir() + "/model/qwen4_exp");
  const std::vector<float> of_text = logits_from(text.write());
  store_as_mlx(text, "model.", 4, 8);
  CHECK(same_bits(logits_from(text.write()), of_text));
}

}  // namespace pagoda::test
