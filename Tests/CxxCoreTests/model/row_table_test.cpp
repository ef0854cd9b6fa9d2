// model: tables of n-grams stay in their files, in one tensor or several, and what a file lacks is named.
#include <algorithm>

#include "base/concat.h"
#include "model/checkpoint_editor.h"

namespace pagoda::test {
namespace {

std::string hashed_fixture() { return fixtures_dir() + "/model/qwen4_exp"; }

const std::vector<int32_t> kPrompt = {5, 17, 2, 90, 3, 3, 44, 2, 2, 101, 7, 5, 17, 2, 90, 64, 11, 0, 8};

std::vector<float> logits_from(const ModelSource& source) {
  auto runner = ModelRunner::load(source, {.max_tokens = 32, .max_context = 32});
  CHECK_OK(runner);
  return runner.is_ok() ? logits_of(**runner, kPrompt, 8) : std::vector<float>{};
}

Status load_status(CheckpointEditor& editor) {
  return ModelRunner::load(editor.write(), {.max_tokens = 32, .max_context = 32}).status;
}

}  // namespace

PAGODA_TEST(model_tables_of_ngrams_are_the_same_in_one_tensor_and_in_several) {
  CheckpointEditor editor(hashed_fixture());
  const std::vector<float> wanted = logits_from(editor.write());
  for (const int layer : {0, 2}) {
    const std::string name = "model.layers." + std::to_string(layer) + ".ple.ple_embedding.ngram_embedding.";
    CheckpointEditor::Tensor whole = std::move(editor.tensors[name + "shard_0.weight"]);
    for (int shard = 1; shard < 5; ++shard) {
      const CheckpointEditor::Tensor& part = editor.tensors[name + "shard_" + std::to_string(shard) + ".weight"];
      whole.shape[0] += part.shape[0];
      whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
    }
    for (int shard = 0; shard < 5; ++shard) editor.tensors.erase(name + "shard_" + std::to_string(shard) + ".weight");
    editor.tensors[name + "weight"] = std::move(whole);
  }
  CHECK(same_bits(logits_from(editor.write()), wanted));
}

// Tables with ten times the rows need as much memory.
PAGODA_TEST(model_tables_of_ngrams_take_no_memory) {
  auto device = device::make_device("reference", 1);
  REQUIRE_OK(device);
  CheckpointEditor editor(hashed_fixture());
  int64_t size_bytes = 0, num_parameters = 0;
  for (const int base : {50, 500}) {
    const std::string key = "\"ngram_vocab_size_base\": ";
    editor.config().replace(editor.config().find(key), key.size() + 2, key + std::to_string(base));
    auto hash = io::parse_model_config(editor.config(), "config.json")->ngrams.hash;
    for (const int table : {0, 1}) {
      const int64_t rows = make_ngram_hash(hash, table).num_rows, each = (rows + 4) / 5;
      for (int64_t shard = 0; shard < 5; ++shard) {
        const int64_t count = std::min(each, rows - shard * each);
        editor.tensors[concat("model.layers.", 2 * table, ".ple.ple_embedding.ngram_embedding.shard_", shard,
                              ".weight")] = {
            "F32", {count, 8}, std::vector<std::byte>(static_cast<size_t>(count) * 32)};
      }
    }
    auto opened = open_model(editor.write());
    REQUIRE_OK(opened);
    const auto summary = model::check_weights(opened->config, *opened->checkpoint, **device, WeightFormat::f32);
    REQUIRE_OK(summary);
    CHECK(base == 50 || (summary->size_bytes == size_bytes && summary->num_parameters > num_parameters + 10000));
    CHECK(summary->skipped_tensors.empty());
    size_bytes = summary->size_bytes;
    num_parameters = summary->num_parameters;
  }
}

PAGODA_TEST(model_tables_of_ngrams_are_checked_and_a_head_is_skipped) {
  CheckpointEditor editor(hashed_fixture());
  const std::string shard = "model.layers.2.ple.ple_embedding.ngram_embedding.shard_1.weight";
  const CheckpointEditor::Tensor saved = editor.tensors[shard];
  editor.tensors["mtp.fc.weight"] = {"F32", {32, 64}, std::vector<std::byte>(32 * 64 * sizeof(float))};
  CHECK_OK(load_status(editor));
  editor.tensors[shard].shape[0] -= 1;
  editor.tensors[shard].bytes.resize(saved.bytes.size() - 8 * sizeof(float));
  CHECK(load_status(editor).message.find("shard_1.weight has shape") != std::string::npos);
  editor.tensors.erase(shard);
  CHECK(load_status(editor).message.find("shard_1.weight is missing") != std::string::npos);
}

// The numbers of the file apply, not those that follow from the seed; without them those do.
PAGODA_TEST(model_hashes_of_ngrams_are_those_of_the_file) {
  CheckpointEditor editor(hashed_fixture());
  const std::vector<float> wanted = logits_from(editor.write());
  const std::string seed = "\"seed\": 1234", name = "model.layers.0.ple.ple_embedding.";
  editor.config().replace(editor.config().find(seed), seed.size(), "\"seed\": 1235");
  CHECK(same_bits(logits_from(editor.write()), wanted));
  const auto wrong = [&](const char* tensor, int64_t number) {
    CheckpointEditor::Tensor& numbers = editor.tensors[name + tensor];
    const CheckpointEditor::Tensor saved = numbers;
    std::memcpy(numbers.bytes.data(), &number, sizeof number);
    const Status status = load_status(editor);
    numbers = saved;
    return status.code == StatusCode::bad_file && status.message.find(tensor) != std::string::npos;
  };
  CHECK(wrong("layer_multipliers", -1) && wrong("layer_multipliers", int64_t{1} << 60));
  CHECK(wrong("ngram_heads_vocab_sizes", 0) && wrong("ngram_heads_vocab_sizes", 1000));
  CHECK(wrong("ngram_heads_offsets", -1) && wrong("ngram_heads_offsets", 200));
  CHECK_OK(load_status(editor));
  for (const int layer : {0, 2})
    for (const char* tensor : {"layer_multipliers", "ngram_heads_vocab_sizes", "ngram_heads_offsets"})
      editor.tensors.erase(concat("model.layers.", layer, ".ple.ple_embedding.", tensor));
  CHECK(!same_bits(logits_from(editor.write()), wanted));
  editor.config().replace(editor.config().find("\"seed\": 1235"), seed.size(), seed);
  CHECK(same_bits(logits_from(editor.write()), wanted));
}

PAGODA_TEST(model_with_several_streams_is_not_split_over_machines) {
  auto opened = open_model(folder(hashed_fixture()));
  auto device = device::make_device("cpu", 1);
  REQUIRE_OK(opened);
  REQUIRE_OK(device);
  opened->config.end_layer = 2;
  const Status status =
      model::load_model(opened->config, *opened->checkpoint, **device, WeightFormat::f32, DType::f32, 16, nullptr)
          .status;
  CHECK(status.code == StatusCode::unsupported && status.message.find("hyper-connections") != std::string::npos);
}

}  // namespace pagoda::test
