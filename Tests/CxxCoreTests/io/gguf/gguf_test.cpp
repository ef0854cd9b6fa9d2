// io/gguf: every rule of the header has a file that violates it, and every type gives the reference's numbers bit for
// bit.
#include "io/gguf/gguf.h"

#include <chrono>
#include <cstring>
#include <random>

#include "base/json.h"
#include "base/json_writer.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "io/gguf/gguf_file.h"
#include "io/quantize/bad_row.h"
#include "io/safetensors/safetensors_file.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

using test::gguf_string;
using test::gguf_tensor;
using test::gguf_text;
using test::gguf_u32;
using test::GgufParts;
using test::raw;

constexpr uint32_t kF32 = 0, kQ4K = 12, kArray = 9, kString = 8;

Result<Gguf> open(const std::string& bytes) { return Gguf::open(std::make_shared<test::StringFile>("g", bytes)); }

GgufParts one_tensor(const std::string& tensor, uint64_t data_bytes = 64) {
  return {.num_tensors = 1, .tensors = tensor, .data_bytes = data_bytes};
}
GgufParts one_key(const std::string& key) { return {.num_keys = 1, .keys = key}; }

struct BadRow {
  const char* name;
  std::string bytes;
  const char* message;
  StatusCode code = StatusCode::bad_file;
};

std::vector<BadRow> bad_heads() {
  return {
      {"empty", "", "ends within its header"},
      {"three bytes", "GGU", "ends within its header"},
      {"bad magic", GgufParts{.magic = "GGML"}.bytes(), "does not begin with GGUF"},
      {"version 0", GgufParts{.version = 0}.bytes(), "version 0", StatusCode::unsupported},
      {"version 1", GgufParts{.version = 1}.bytes(), "version 1", StatusCode::unsupported},
      {"future version", GgufParts{.version = 4}.bytes(), "version 4", StatusCode::unsupported},
      {"big-endian", GgufParts{.version = 3u << 24}.bytes(), "big-endian", StatusCode::unsupported},
      {"n_tensors 2^63", GgufParts{.num_tensors = uint64_t{1} << 63}.bytes(), "tensors"},
      {"n_kv 2^64 - 1", GgufParts{.num_keys = UINT64_MAX}.bytes(), "keys"},
      {"fewer keys than stated", GgufParts{.num_keys = 5}.bytes(), "ends within its header"},
      {"fewer tensors than stated", GgufParts{.num_tensors = 5}.bytes(), "ends within its header"},
  };
}

std::vector<BadRow> bad_keys() {
  const auto alignment = [](uint32_t value) { return one_key(gguf_u32("general.alignment", value)).bytes(); };
  const std::string long_array = gguf_string("k") + raw(kArray) + raw(uint32_t{10}) + raw(UINT64_MAX / 4);
  return {
      {"key size 2^64 - 1", one_key(raw(UINT64_MAX)).bytes(), "the name of a key"},
      {"key size of 1 MB", one_key(raw(uint64_t{1 << 20}) + std::string(1 << 20, 'k')).bytes(), "the name of a key"},
      {"empty key", one_key(gguf_u32("", 1)).bytes(), "the name of a key"},
      {"duplicate key", GgufParts{.num_keys = 2, .keys = gguf_u32("k", 1) + gguf_u32("k", 2)}.bytes(), "twice"},
      {"unknown value type", one_key(gguf_string("k") + raw(uint32_t{13}) + raw(uint64_t{0})).bytes(), "unknown type"},
      {"array of arrays", one_key(gguf_string("k") + raw(kArray) + raw(kArray) + raw(uint64_t{1})).bytes(),
       "unknown type"},
      {"array count overflows", one_key(long_array).bytes(), "too long"},
      {"array longer than the file",
       one_key(gguf_string("k") + raw(kArray) + raw(uint32_t{0}) + raw(uint64_t{1} << 40)).bytes(), "ends within"},
      {"string longer than the file", one_key(gguf_string("k") + raw(kString) + raw(uint64_t{1} << 40)).bytes(),
       "ends within"},
      {"strings in an array past the end",
       one_key(gguf_string("k") + raw(kArray) + raw(kString) + raw(uint64_t{1} << 50)).bytes(), "ends within"},
      {"alignment 0", alignment(0), "alignment"},
      {"alignment 7", alignment(7), "alignment"},
      {"alignment 2^31", alignment(1u << 31), "alignment"},
      {"alignment of another type",
       one_key(gguf_string("general.alignment") + raw(uint32_t{5}) + raw(int32_t{32})).bytes(), "alignment"},
  };
}

std::vector<BadRow> bad_tensors() {
  const auto tensor = [](const std::string& description, uint64_t data_bytes = 64) {
    return one_tensor(description, data_bytes).bytes();
  };
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  return {
      {"empty name", tensor(gguf_tensor("", {4}, kF32, 0)), "the name of a tensor"},
      {"name of 1 MB", tensor(gguf_tensor(std::string(1 << 20, 't'), {4}, kF32, 0)), "the name of a tensor"},
      {"no dimension", tensor(gguf_tensor("t", {}, kF32, 0)), "0 dimensions"},
      {"five dimensions", tensor(gguf_tensor("t", {1, 1, 1, 1, 1}, kF32, 0)), "5 dimensions"},
      {"zero dimension", tensor(gguf_tensor("t", {4, 0}, kF32, 0)), "impossible shape"},
      {"negative dimension", tensor(gguf_tensor("t", {static_cast<uint64_t>(-4)}, kF32, 0)), "impossible shape"},
      {"huge dimension", tensor(gguf_tensor("t", {kHuge}, kF32, 0)), "impossible shape"},
      {"product overflows", tensor(gguf_tensor("t", {1u << 31, 1u << 31, 4}, kF32, 0)), "impossible shape"},
      {"bytes overflow", tensor(gguf_tensor("t", {uint64_t{1} << 59, 2}, kF32, 0)), "impossible shape"},
      {"unknown type", tensor(gguf_tensor("t", {4}, 1000, 0)), "unknown type 1000"},
      {"removed type", tensor(gguf_tensor("t", {32}, 4, 0)), "unknown type 4"},
      {"row is no whole block", tensor(gguf_tensor("t", {100}, kQ4K, 0), 4096), "rows of 100"},
      {"offset not aligned", tensor(gguf_tensor("t", {4}, kF32, 4)), "not aligned"},
      {"offset past the end", tensor(gguf_tensor("t", {4}, kF32, 64)), "outside the file"},
      {"offset overflows", tensor(gguf_tensor("t", {4}, kF32, UINT64_MAX - 31)), "outside the file"},
      {"not enough data", tensor(gguf_tensor("t", {17}, kF32, 0)), "outside the file"},
      {"no data at all", tensor(gguf_tensor("t", {1}, kF32, 0), 0), "outside the file"},
      {"duplicate tensor",
       GgufParts{.num_tensors = 2,
                 .tensors = gguf_tensor("t", {4}, kF32, 0) + gguf_tensor("t", {4}, kF32, 32),
                 .data_bytes = 64}
           .bytes(),
       "twice"},
  };
}

}  // namespace

PAGODA_TEST(gguf_refuses_every_bad_header) {
  for (const auto& rows : {bad_heads(), bad_keys(), bad_tensors()}) {
    for (const BadRow& row : rows) {
      const auto begin = std::chrono::steady_clock::now();
      test::check_row(row.name, open(row.bytes).status, row.code, row.message);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      test::note(std::string(row.name) + ": " + std::to_string(took.count()) + " s");
    }
  }
}

// Small keys in bytes that were read ahead lead past the maximum; what follows them must be refused too.
PAGODA_TEST(gguf_refuses_a_header_that_passes_its_limit_in_small_steps) {
  const auto bytes = [](const std::string& key, uint64_t count) {
    return gguf_string(key) + raw(kArray) + raw(uint32_t{0}) + raw(count) + std::string(count, 'x');
  };
  GgufParts parts{.num_keys = 1, .keys = bytes("first", kMaxGgufHeaderBytes - 1000)};
  CHECK_OK(open(parts.bytes()));
  for (; parts.num_keys < 100; ++parts.num_keys) parts.keys += gguf_u32("key " + std::to_string(parts.num_keys), 1);
  test::check_row("small keys", open(parts.bytes()).status, StatusCode::bad_file, "a header of more than");
  parts.keys += bytes("last", 1 << 20);
  ++parts.num_keys;
  test::check_row("a large key", open(parts.bytes()).status, StatusCode::bad_file, "a header of more than");
}

PAGODA_TEST(gguf_reads_every_kind_of_value) {
  const std::string list =
      gguf_string("list") + raw(kArray) + raw(uint32_t{5}) + raw(uint64_t{2}) + raw(int32_t{-1}) + raw(int32_t{7});
  const std::string names =
      gguf_string("names") + raw(kArray) + raw(kString) + raw(uint64_t{2}) + gguf_string("") + gguf_string("b");
  const std::string real = gguf_string("real") + raw(uint32_t{6}) + raw(0.5f);
  const std::string flag = gguf_string("flag") + raw(uint32_t{7}) + raw(uint8_t{1});
  const std::string large = gguf_string("large") + raw(uint32_t{10}) + raw(UINT64_MAX);
  auto gguf = open(GgufParts{
      .num_keys = 7, .keys = list + names + real + flag + large + gguf_u32("size", 9) + gguf_text("text", "hello")}
                       .bytes());
  REQUIRE_OK(gguf);
  CHECK(gguf->integers("list") == std::optional(std::vector<int64_t>{-1, 7}));
  CHECK(gguf->strings("names") == std::optional(std::vector<std::string_view>{"", "b"}));
  CHECK(gguf->number("real") == std::optional(0.5));
  CHECK(gguf->number("size") == std::optional(9.0));
  CHECK(gguf->boolean("flag") == std::optional(true));
  CHECK(gguf->string("text") == std::optional<std::string_view>("hello"));
  CHECK(!gguf->integer("large") && !gguf->integer("text") && !gguf->integer("list") && !gguf->string("size"));
  CHECK(!gguf->integers("names") && !gguf->strings("list") && !gguf->boolean("absent"));
}

PAGODA_TEST(gguf_cut_at_every_byte_is_refused) {
  const std::string whole = GgufParts{.num_tensors = 2,
                                      .num_keys = 2,
                                      .keys = gguf_u32("general.alignment", 64) + gguf_text("text", "hello"),
                                      .tensors = gguf_tensor("a", {4, 2}, kF32, 0) + gguf_tensor("b", {32}, 2, 64),
                                      .data_bytes = 64 + 18,
                                      .alignment = 64}
                                .bytes();
  CHECK_OK(open(whole));
  for (size_t size = 0; size < whole.size(); ++size) CHECK(!open(whole.substr(0, size)).is_ok());
}

PAGODA_TEST(gguf_with_any_byte_changed_is_read_or_refused) {
  const std::string whole = GgufParts{.num_tensors = 1,
                                      .num_keys = 2,
                                      .keys = gguf_u32("general.alignment", 32) + gguf_text("text", "hello"),
                                      .tensors = gguf_tensor("b", {32, 2}, 2, 0),
                                      .data_bytes = 36}
                                .bytes();
  std::mt19937_64 random(test::seed(31));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(random());
    const auto gguf = open(changed);  // no crash, no endless read; a value may still be valid
    if (!gguf.is_ok()) CHECK(!gguf.status.message.empty());
  }
}

// Models that are read as far as their configuration, tensors or tokenizer, and no further.
PAGODA_TEST(gguf_models_that_make_no_sense_are_refused) {
  const auto model = [](const std::string& keys, uint64_t num_keys, const std::string& tensors, uint64_t num_tensors) {
    return GgufParts{
        .num_tensors = num_tensors, .num_keys = num_keys, .keys = keys, .tensors = tensors, .data_bytes = 4096}
        .bytes();
  };
  const auto config = [](const std::string& bytes) -> Status {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    auto files = open_model_files({.directory = "", .files = {{"m.gguf", data, bytes.size()}}});
    if (!files.is_ok()) return files.status;
    auto text = (*files)->read_text("config.json", 1 << 20);
    return text.is_ok() ? parse_model_config(*text, "config.json").status : text.status;
  };
  const auto weights = [](const std::string& bytes) -> Status {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    auto files = open_model_files({.directory = "", .files = {{"m.gguf", data, bytes.size()}}});
    return files.is_ok() ? Checkpoint::open(**files).status : files.status;
  };
  const std::string llama = gguf_text("general.architecture", "llama");
  const std::string sizes = llama + gguf_u32("llama.embedding_length", 8) + gguf_u32("llama.attention.head_count", 2) +
                            gguf_u32("llama.feed_forward_length", 8) + gguf_u32("llama.block_count", 1) +
                            gguf_u32("llama.context_length", 16);
  const std::string embedding = gguf_tensor("token_embd.weight", {8, 4}, kF32, 0);
  const StatusCode bad = StatusCode::bad_file;
  test::check_row("right", config(model(sizes, 6, embedding, 1)), StatusCode::ok, "");
  test::check_row("no architecture", config(model("", 0, embedding, 1)), bad, "general.architecture");
  test::check_row("unknown architecture", config(model(gguf_text("general.architecture", "gemma"), 1, embedding, 1)),
                  StatusCode::unsupported, "'gemma'");
  for (const char* name : {"granitehybrid", "qwen4", "mamba2"})
    for (const char* listed : {"qwen35", "kimi-linear"})
      test::check_row(name, config(model(gguf_text("general.architecture", name), 1, embedding, 1)),
                      StatusCode::unsupported, listed);
  test::check_row("no sizes", config(model(llama, 1, embedding, 1)), bad, "is missing");
  test::check_row("no embedding", config(model(sizes, 6, "", 0)), bad, "token_embd.weight is missing");
  test::check_row("head count 0", config(model(llama + gguf_u32("llama.attention.head_count", 0), 2, embedding, 1)),
                  bad, "head_count");
  test::check_row("head count of text",
                  config(model(llama + gguf_text("llama.attention.head_count", "2"), 2, embedding, 1)), bad,
                  "head_count");
  test::check_row("heads of another size",
                  weights(model(sizes, 6, embedding + gguf_tensor("blk.0.attn_q.weight", {8, 6}, kF32, 0), 2)), bad,
                  "size of its heads");
  test::check_row("type that is not read",
                  weights(model(sizes, 6, gguf_tensor("token_embd.weight", {256, 4}, 16, 0), 1)),
                  StatusCode::unsupported, "IQ2_XXS");
  test::check_row("same offset twice",
                  weights(model(sizes, 6,
                                gguf_tensor("blk.0.ffn_norm.weight", {8}, kF32, 0) +
                                    gguf_tensor("blk.0.post_attention_norm.weight", {8}, kF32, 0),
                                2)),
                  bad, "twice");
  const auto tokenizer = [&](const std::string& keys, uint64_t count) -> Status {
    const std::string bytes = model(sizes + gguf_string("tokenizer.ggml.tokens") + raw(kArray) + raw(kString) +
                                        raw(uint64_t{1}) + gguf_string("a") + keys,
                                    7 + count, embedding, 1);
    auto files = open_model_files(
        {.directory = "", .files = {{"m.gguf", reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}}});
    if (!files.is_ok()) return files.status;
    return (*files)->read_text("tokenizer.json", 1 << 20).status;
  };
  const std::string gpt2 = gguf_text("tokenizer.ggml.model", "gpt2"), pre = gguf_text("tokenizer.ggml.pre", "qwen2");
  test::check_row("WordPiece", tokenizer(gguf_text("tokenizer.ggml.model", "bert"), 1), StatusCode::unsupported,
                  "'bert'");
  for (const char* model : {"llama", "t5"})
    test::check_row("tokens without scores", tokenizer(gguf_text("tokenizer.ggml.model", model), 1), bad, "scores");
  test::check_row("no pre-tokenizer", tokenizer(gpt2, 1), StatusCode::unsupported, "tokenizer.ggml.pre");
  test::check_row("unknown pre-tokenizer", tokenizer(gpt2 + gguf_text("tokenizer.ggml.pre", "x"), 2),
                  StatusCode::unsupported, "'x'");
  test::check_row("no merges", tokenizer(gpt2 + pre, 2), bad, "merges");
}

PAGODA_TEST(gguf_gives_the_tokens_that_precede_a_text) {
  const auto processor = [](const char* pre, const std::string& keys, uint64_t count) {
    const std::string strings = raw(kArray) + raw(kString);
    const std::string bytes =
        GgufParts{.num_tensors = 1,
                  .num_keys = 7 + count,
                  .keys = gguf_text("general.architecture", "llama") + gguf_text("tokenizer.ggml.model", "gpt2") +
                          gguf_text("tokenizer.ggml.pre", pre) + gguf_string("tokenizer.ggml.tokens") + strings +
                          raw(uint64_t{2}) + gguf_string("a") + gguf_string("<s>") +
                          gguf_string("tokenizer.ggml.merges") + strings + raw(uint64_t{0}) +
                          gguf_string("tokenizer.ggml.token_type") + raw(kArray) + raw(uint32_t{5}) + raw(uint64_t{2}) +
                          raw(int32_t{1}) + raw(int32_t{3}) + gguf_u32("tokenizer.ggml.bos_token_id", 1) + keys,
                  .tensors = gguf_tensor("token_embd.weight", {8, 2}, kF32, 0),
                  .data_bytes = 64}
            .bytes();
    auto files = open_model_files(
        {.directory = "", .files = {{"m.gguf", reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}}});
    CHECK_OK(files);
    const auto text = files.is_ok() ? (*files)->read_text("tokenizer.json", 1 << 20) : files.status;
    CHECK_OK(text);
    const auto json = text.is_ok() ? parse_json(*text) : text.status;
    CHECK_OK(json);
    const Json* found = json.is_ok() ? json->find("post_processor") : nullptr;
    std::string spelled;
    if (found) append_json(*found, spelled);
    return spelled;
  };
  const auto add_bos = [](bool value) {
    return gguf_string("tokenizer.ggml.add_bos_token") + raw(uint32_t{7}) + raw(uint8_t{value});
  };
  CHECK(processor("llama-bpe", "", 0).find(R"("ids":[1])") != std::string::npos);
  CHECK(processor("qwen2", add_bos(true), 1).find(R"("ids":[1])") != std::string::npos);
  CHECK_EQ(processor("qwen2", "", 0), "null");
  CHECK_EQ(processor("llama-bpe", add_bos(false), 1), "null");
}

// The fixture has random blocks of every type and the gguf package's result for them.
PAGODA_TEST(gguf_types_give_the_numbers_of_the_reference) {
  auto gguf = Gguf::open(test::fixture_file("gguf/types.gguf"));
  REQUIRE_OK(gguf);
  int num_types = 0;
  for (const auto& [name, tensor] : gguf->tensors()) {
    const auto expected = gguf->tensors().find(name + ".expected");
    if (expected == gguf->tensors().end()) continue;
    ++num_types;
    CHECK_EQ(name, std::string(tensor.type->name));
    REQUIRE(tensor.type->decode != nullptr);
    std::vector<std::byte> blocks(tensor.size_bytes);
    std::vector<float> wanted(expected->second.size_bytes / 4), got(wanted.size());
    CHECK_OK(gguf->file()->read(tensor.offset_bytes, blocks));
    CHECK_OK(gguf->file()->read(expected->second.offset_bytes, std::as_writable_bytes(std::span(wanted))));
    tensor.type->decode(blocks.data(), blocks.size() / tensor.type->block_bytes, got.data());
    const bool is_equal = std::memcmp(got.data(), wanted.data(), wanted.size() * 4) == 0;
    if (!is_equal) test::fail(__FILE__, __LINE__, name + " differs from the reference");
  }
  CHECK_EQ(num_types, 16);
}

}  // namespace pagoda::io
