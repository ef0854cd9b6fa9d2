// io/quantize_files: the embedded model and GGUF files written with 4 and 8 bits; unsupported inputs; never an
// incomplete folder.
#include "io/quantize/files.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "io/checkpoint.h"
#include "io/output_folder.h"
#include "io/safetensors/safetensors.h"
#include "io/tensor_decoder.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<ModelFiles> files_in(const std::string& folder) {
  ModelSource source;
  source.directory = folder;
  auto files = open_model_files(source);
  return files.is_ok() ? std::move(*files) : nullptr;
}

QuantizeResult quantize(const std::string& from, const std::string& to, int bits, uint64_t max_shard = kMaxShardBytes) {
  QuantizeOptions options;
  options.bits = bits;
  options.num_threads = 2;
  return quantize_files(*files_in(from), to, options, [](double) { return true; }, max_shard);
}

std::vector<std::byte> read_all(const Checkpoint& checkpoint, const std::string& name) {
  std::vector<std::byte> bytes(checkpoint.find(name)->size_bytes);
  CHECK_OK(checkpoint.read(*checkpoint.find(name), 0, bytes));
  return bytes;
}

float half_number(DType dtype, const std::vector<std::byte>& bytes, size_t i) {
  uint16_t bits;
  std::memcpy(&bits, bytes.data() + 2 * i, 2);
  return dtype == DType::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
}

// The scales of a matrix in the only file of `folder`.
std::vector<std::byte> read_scales(const std::string& folder, const std::string& stem) {
  const auto file = files_in(folder)->open("model.safetensors");
  const auto header = read_safetensors_header(**file, 0);
  const TensorEntry& entry = header->at(stem + ".scales");
  std::vector<std::byte> bytes(entry.size_bytes);
  CHECK_OK((*file)->read(entry.offset_bytes, bytes));
  return bytes;
}

// The largest difference between a matrix and its quantised version, in steps of its groups.
float worst_error(const Checkpoint& old_one, const Checkpoint& new_one, const std::vector<std::byte>& scales,
                  const std::string& name) {
  const DType dtype = old_one.find(name)->dtype;
  const auto before = read_all(old_one, name);
  std::vector<float> after(before.size() / 2);
  const auto& decoder = new_one.find(name)->decoder;
  CHECK(decoder != nullptr);
  if (decoder) CHECK_OK(decoder->read(0, after));
  float worst = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    const float step = std::abs(half_number(dtype, scales, i / 64));
    worst = std::max(worst, std::abs(after[i] - half_number(dtype, before, i)) / step);
  }
  return worst;
}

std::string folder_with(const std::string& config) {
  const std::string folder = test::temporary_dir() + "/odd";
  fs::create_directories(folder);
  for (const auto& file : fs::directory_iterator(test::mini_model_dir())) {
    fs::copy_file(file.path(), folder + "/" + file.path().filename().string(), fs::copy_options::overwrite_existing);
  }
  std::ofstream(folder + "/config.json") << config;
  return folder;
}

}  // namespace

PAGODA_TEST(quantize_files_keeps_every_weight_within_its_rounding) {
  for (const int bits : {4, 8}) {
    const std::string out = test::temporary_dir() + "/new";
    const QuantizeResult result = quantize(test::mini_model_dir(), out, bits);
    REQUIRE_OK(result.status);
    CHECK(result.num_quantized > 40 && result.num_files == 1);
    CHECK(result.output_bytes < result.input_bytes * (2 * bits + 5) / 32);  // the vision tower stays as it is
    const auto old_one = Checkpoint::open(*files_in(test::mini_model_dir())),
               new_one = Checkpoint::open(*files_in(out));
    REQUIRE_OK(old_one);
    REQUIRE_OK(new_one);
    // MLX's scale represents zero exactly, so the end of a group nearer to zero may be up to a step outside and is
    // clipped. The scale is rounded to the weights' own format after the words are chosen, and the product and the
    // sum are rounded when they are read: each rounding costs about half a step of 255.
    const float limit = bits == 4 ? 1.1f : 2.6f;
    for (const char* stem : {"model.language_model.embed_tokens", "model.language_model.layers.3.self_attn.q_proj",
                             "model.language_model.layers.0.mlp.down_proj"}) {
      const float worst = worst_error(*old_one, *new_one, read_scales(out, stem), std::string(stem) + ".weight");
      test::note(std::string(stem) + ": " + std::to_string(worst) + " steps");
      CHECK(worst <= limit && worst > 0.3f);
    }
    for (const char* name :
         {"model.language_model.norm.weight", "model.language_model.layers.0.linear_attn.conv1d.weight",
          "model.visual.merger.linear_fc1.weight"}) {
      CHECK(read_all(*old_one, name) == read_all(*new_one, name));
    }
    fs::remove_all(out);
  }
}

PAGODA_TEST(quantize_files_copies_other_files_and_updates_the_config) {
  const std::string out = test::temporary_dir() + "/new/";
  REQUIRE_OK(quantize(test::mini_model_dir(), out, 4, /*max_shard=*/1 << 20).status);
  const auto files = files_in(out);
  CHECK(files->exists("model-00001-of-00005.safetensors") || files->names().size() > 8);
  REQUIRE_OK(Checkpoint::open(*files));
  for (const char* name : {"tokenizer.json", "chat_template.jinja", "generation_config.json"}) {
    const auto copied = files->read_text(name, 1 << 20);
    REQUIRE_OK(copied);
    CHECK(*copied == *files_in(test::mini_model_dir())->read_text(name, 1 << 20));
  }
  const auto config = parse_json(*files->read_text("config.json", 1 << 20));
  REQUIRE_OK(config);
  for (const char* key : {"quantization", "quantization_config"}) {
    REQUIRE(config->find(key));
    CHECK_EQ(config->find(key)->find("bits")->as_integer(), 4);
    CHECK_EQ(config->find(key)->find("group_size")->as_integer(), 64);
  }
  REQUIRE(config->find("text_config"));
  CHECK_EQ(config->find("text_config")->find("hidden_size")->as_integer(), 256);
  // Its own output is not quantised again.
  const Status again = quantize(out, test::temporary_dir() + "/again", 4).status;
  CHECK(again.code == StatusCode::unsupported && again.message.find("quantised already") != std::string::npos);
}

PAGODA_TEST(quantize_files_refuses_what_it_cannot_do) {
  const std::string out = test::temporary_dir() + "/never";
  const struct {
    const char* config;
    StatusCode code;
  } rows[] = {{"{", StatusCode::bad_file},
              {"[]", StatusCode::bad_file},
              {R"({"num_experts": 4})", StatusCode::unsupported},
              {R"({"text_config": {"num_experts": 4}})", StatusCode::unsupported}};
  for (const auto& row : rows) CHECK(quantize(folder_with(row.config), out, 4).status.code == row.code);
  CHECK(quantize(test::fixtures_dir() + "/gguf/qwen3moe.gguf", out, 4).status.code == StatusCode::unsupported);
  CHECK(quantize(test::mini_model_dir(), out, 3).status.code == StatusCode::invalid_argument);
  CHECK(quantize(test::mini_model_dir(), test::mini_model_dir(), 4).status.code == StatusCode::invalid_argument);
  CHECK(!fs::exists(out) && !fs::exists(out + ".partial"));
}

PAGODA_TEST(quantize_files_leaves_nothing_when_it_ends_early) {
  const std::string out = test::temporary_dir() + "/early";
  int calls = 0;
  const QuantizeResult result =
      quantize_files(*files_in(test::mini_model_dir()), out, {}, [&](double) { return ++calls < 20; });
  CHECK(result.status.code == StatusCode::cancelled && calls == 20);
  CHECK(!fs::exists(out) && !fs::exists(out + ".partial"));
}

PAGODA_TEST(quantize_files_does_not_write_a_number_that_is_not_finite) {
  const std::string folder = folder_with(*files_in(test::mini_model_dir())->read_text("config.json", 1 << 20));
  const auto checkpoint = Checkpoint::open(*files_in(folder));
  REQUIRE_OK(checkpoint);
  const TensorEntry& entry = *checkpoint->find("model.language_model.layers.3.self_attn.q_proj.weight");
  std::fstream file(checkpoint->file_name(entry.file_index), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(entry.offset_bytes + 100));
  file.write("\xff\x7f", 2);
  file.close();
  const std::string out = test::temporary_dir() + "/nan";
  const Status status = quantize(folder, out, 8).status;
  CHECK(status.code == StatusCode::bad_file && status.message.find("q_proj") != std::string::npos);
  CHECK(!fs::exists(out) && !fs::exists(out + ".partial"));
}

PAGODA_TEST(output_folder_has_one_writer_and_takes_over_after_a_killed_one) {
  const std::string path = test::temporary_dir() + "/one";
  fs::create_directories(path + ".partial");
  std::ofstream(path + ".partial/rest") << "x";
  {
    auto first = OutputFolder::create(path, 1);
    REQUIRE_OK(first);
    CHECK(!fs::exists((*first)->file("rest")));
    CHECK(OutputFolder::create(path, 1).status.code == StatusCode::io_error);
    std::ofstream((*first)->file("a")) << "x";
    CHECK(!fs::exists(path));
    CHECK_OK((*first)->commit());
  }
  CHECK(fs::exists(path + "/a") && !fs::exists(path + ".partial"));
  CHECK(OutputFolder::create(path, 1).status.code == StatusCode::invalid_argument);
  CHECK(OutputFolder::create(path + "2", uint64_t{1} << 62).status.code == StatusCode::resource_exhausted);
}

}  // namespace pagoda::io
