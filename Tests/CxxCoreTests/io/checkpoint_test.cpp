// io/checkpoint: one file or shards with an index; an index and its shards that disagree are refused by name.
#include "io/checkpoint.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "io/quantize/bad_row.h"
#include "io/safetensors/safetensors_file.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

using test::safetensors;
using test::tensor;
using Files = std::map<std::string, std::string>;

// The bytes of `files` must outlive the checkpoint.
Result<Checkpoint> open(const Files& files) {
  ModelSource source;
  for (const auto& [name, bytes] : files) {
    source.files.push_back({name, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
  const auto opened = open_model_files(source);
  if (!opened.is_ok()) return opened.status;
  return Checkpoint::open(**opened);
}

const std::string kShardA =
    safetensors("{" + tensor("a", "U8", "[4]", 0, 4) + "," + tensor("b", "U8", "[2]", 4, 6) + "}", 6);
const std::string kShardC = safetensors("{" + tensor("c", "U8", "[3]", 0, 3) + "}", 3);

Files sharded(const std::string& weight_map) {
  return {{"1.safetensors", kShardA},
          {"2.safetensors", kShardC},
          {"model.safetensors.index.json", "{\"metadata\":{\"total_size\":9},\"weight_map\":" + weight_map + "}"}};
}

}  // namespace

PAGODA_TEST(checkpoint_reads_single_files_and_shards) {
  const Files single = {{"model.safetensors", kShardA}};
  const Files shards = sharded("{\"a\":\"1.safetensors\",\"b\":\"1.safetensors\",\"c\":\"2.safetensors\"}");
  for (const Files* files : {&single, &shards}) {
    const auto checkpoint = open(*files);
    REQUIRE_OK(checkpoint);
    CHECK_EQ(checkpoint->tensors().size(), files == &single ? size_t{2} : size_t{3});
    CHECK(checkpoint->find("absent") == nullptr);
    const TensorEntry* b = checkpoint->find("b");
    REQUIRE(b != nullptr);
    std::byte bytes[2];
    CHECK_OK(checkpoint->read(*b, 0, bytes));
    CHECK_EQ(static_cast<int>(bytes[0]), 4);
    CHECK_OK(checkpoint->read(*b, 1, std::span(bytes).first(1)));
    CHECK_EQ(static_cast<int>(bytes[0]), 5);
    test::check_row("past the tensor", checkpoint->read(*b, 1, bytes), StatusCode::invalid_argument, "of 2 bytes");
    test::check_row("far past", checkpoint->read(*b, UINT64_MAX, bytes), StatusCode::invalid_argument, "2 bytes");
  }
  const auto checkpoint = open(shards);
  REQUIRE_OK(checkpoint);
  CHECK_EQ(checkpoint->file_name(checkpoint->find("c")->file_index), "2.safetensors");
}

PAGODA_TEST(checkpoint_refuses_each_bad_index) {
  struct Row {
    const char* name;
    std::string index;
    const char* message;
    StatusCode code = StatusCode::bad_file;
  };
  const auto map = [](const std::string& c) {
    return "{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"1.safetensors\"," + c + "}}";
  };
  const Row rows[] = {
      {"empty", "", "expected a value at byte 0"},
      {"not an object", "[]", "no object weight_map"},
      {"no weight_map", "{\"metadata\":{}}", "no object weight_map"},
      {"weight_map is a list", "{\"weight_map\":[]}", "no object weight_map"},
      {"empty weight_map", "{\"weight_map\":{}}", "lists no weight"},
      {"shard is a number", map("\"c\":2"), "weight 'c': its file is not a string"},
      {"shard is null", map("\"c\":null"), "weight 'c': its file is not a string"},
      {"missing shard", map("\"c\":\"3.safetensors\""), "'3.safetensors'", StatusCode::not_found},
      {"parent path", map("\"c\":\"../../x.safetensors\""), "'../../x.safetensors' contains a path separator"},
      {"absolute path", map("\"c\":\"/x.safetensors\""), "'/x.safetensors' contains a path separator"},
      {"backslash path", map("\"c\":\"..\\\\x.safetensors\""), "contains a path separator"},
      {"NUL in the path", map("\"c\":\"x\\u0000.safetensors\""), "contains a NUL byte"},
      {"the index itself", map("\"c\":\"model.safetensors.index.json\""), "is no .safetensors file"},
      {"another kind of file", map("\"c\":\"2.bin\""), "weight 'c': its file '2.bin' is no .safetensors file"},
      {"listed twice", map("\"c\":\"2.safetensors\",\"c\":\"2.safetensors\""), "duplicate key 'c'"},
      {"wrong shard", map("\"c\":\"1.safetensors\""), "weight 'c' is not in '1.safetensors'"},
      {"weight of no shard", map("\"c\":\"2.safetensors\",\"d\":\"2.safetensors\""), "'d' is not in '2.safetensors'"},
      {"unlisted tensor", "{\"weight_map\":{\"a\":\"1.safetensors\",\"c\":\"2.safetensors\"}}",
       "tensor 'b' of 1.safetensors is not listed"},
      {"deep nesting", map("\"c\":" + std::string(10'000, '[')), "nesting deeper than"},
  };
  for (const Row& row : rows) {
    Files files = sharded("{}");
    files["model.safetensors.index.json"] = row.index;
    const Status status = open(files).status;
    test::check_row(row.name, status, row.code, row.message);
    test::check_row(row.name, status, row.code, "model.safetensors.index.json: ");
  }
}

PAGODA_TEST(checkpoint_refuses_a_tensor_in_two_shards) {
  Files files = sharded("{\"a\":\"1.safetensors\",\"b\":\"1.safetensors\",\"c\":\"2.safetensors\"}");
  files["2.safetensors"] = kShardA;
  test::check_row("twice", open(files).status, StatusCode::bad_file,
                  "2.safetensors: tensor 'a' is also in 1.safetensors");
}

PAGODA_TEST(checkpoint_names_what_is_missing_or_broken) {
  test::check_row("nothing", open({{"config.json", "{}"}}).status, StatusCode::not_found, "neither model.safetensors");
  test::check_row("broken", open({{"model.safetensors", "{}"}}).status, StatusCode::bad_file,
                  "model.safetensors: too short");
  Files files = sharded("{\"a\":\"1.safetensors\",\"b\":\"1.safetensors\",\"c\":\"2.safetensors\"}");
  files["2.safetensors"].pop_back();
  test::check_row("cut shard", open(files).status, StatusCode::bad_file, "2.safetensors: tensor 'c': ends at byte 3");
}

PAGODA_TEST(checkpoint_reports_a_file_that_shrank_after_opening) {
  const std::string folder = test::temporary_dir(), path = folder + "/model.safetensors";
  std::ofstream(path, std::ios::binary) << kShardA;
  const auto files = open_model_files({.directory = folder, .files = {}});
  REQUIRE_OK(files);
  const auto checkpoint = Checkpoint::open(**files);
  REQUIRE_OK(checkpoint);
  REQUIRE(truncate(path.c_str(), 20) == 0);
  std::byte bytes[4];
  test::check_row("shrunk", checkpoint->read(*checkpoint->find("a"), 0, bytes), StatusCode::io_error, "shrank");
}

PAGODA_TEST(checkpoint_refuses_a_sparse_terabyte_quickly) {
  const std::string folder = test::temporary_dir(), path = folder + "/model.safetensors";
  std::ofstream(path, std::ios::binary) << kShardA;
  if (truncate(path.c_str(), off_t{1} << 40) != 0) return test::note("no sparse files here");
  const auto files = open_model_files({.directory = folder, .files = {}});
  REQUIRE_OK(files);
  test::check_row("sparse", Checkpoint::open(**files).status, StatusCode::bad_file, "bytes after the last tensor");
}

PAGODA_TEST(checkpoint_opens_the_embedded_model) {
  const auto files = open_model_files({.directory = test::mini_model_dir(), .files = {}});
  REQUIRE_OK(files);
  const auto checkpoint = Checkpoint::open(**files);
  REQUIRE_OK(checkpoint);
  const TensorEntry* embedding = checkpoint->find("model.language_model.embed_tokens.weight");
  REQUIRE(embedding != nullptr);
  CHECK(embedding->shape == (std::vector<int64_t>{4096, 256}));
  CHECK(embedding->dtype == DType::bf16);
  std::vector<std::byte> row(512);
  CHECK_OK(checkpoint->read(*embedding, embedding->size_bytes - row.size(), row));
  const TensorEntry* last = checkpoint->find("model.language_model.norm.weight");
  REQUIRE(last != nullptr);
  CHECK(last->file_index != embedding->file_index);
}

}  // namespace pagoda::io
