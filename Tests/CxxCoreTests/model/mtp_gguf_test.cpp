// An MTP head in a GGUF file, as one more block or in a separate file: the same drafts as from safetensors.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "io/gguf/gguf_file.h"
#include "io/quantize/files.h"
#include "model/checkpoint_editor.h"
#include "model/mtp_runner.h"

namespace pagoda::test {
namespace {

// A tensor of the head by its names in safetensors and in GGUF, where the head is layer 2 of the fixtures.
struct HeadTensor {
  std::string name, gguf_name;
  std::vector<int64_t> shape;
  std::vector<float> values;
  bool is_norm = false;
};

const std::pair<const char*, const char*> kLayerNames[] = {
    {"input_layernorm.weight", "attn_norm.weight"},
    {"post_attention_layernorm.weight", "post_attention_norm.weight"},
    {"self_attn.q_proj.weight", "attn_q.weight"},
    {"self_attn.k_proj.weight", "attn_k.weight"},
    {"self_attn.v_proj.weight", "attn_v.weight"},
    {"self_attn.o_proj.weight", "attn_output.weight"},
    {"self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"mlp.gate_proj.weight", "ffn_gate.weight"},
    {"mlp.up_proj.weight", "ffn_up.weight"},
    {"mlp.down_proj.weight", "ffn_down.weight"},
    {"mlp.gate.weight", "ffn_gate_inp.weight"},
    {"mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight"},
    {"mlp.experts.down_proj", "ffn_down_exps.weight"},
    {"mlp.shared_expert_gate.weight", "ffn_gate_inp_shexp.weight"},
    {"mlp.shared_expert.gate_proj.weight", "ffn_gate_shexp.weight"},
    {"mlp.shared_expert.up_proj.weight", "ffn_up_shexp.weight"},
    {"mlp.shared_expert.down_proj.weight", "ffn_down_shexp.weight"},
};

// Random numbers in the shapes of the fixture's attention layer.
std::vector<HeadTensor> make_head(const CheckpointEditor& editor) {
  std::vector<HeadTensor> head;
  for (const auto& [name, gguf_name] : kLayerNames) {
    const auto found = editor.tensors.find(std::string("model.layers.1.") + name);
    if (found != editor.tensors.end())
      head.push_back({std::string("mtp.layers.0.") + name, std::string("blk.2.") + gguf_name, found->second.shape, {}});
  }
  const int64_t size = editor.tensors.at("model.norm.weight").shape.front();
  head.push_back({"mtp.fc.weight", "blk.2.nextn.eh_proj.weight", {size, 2 * size}, {}});
  head.push_back({"mtp.pre_fc_norm_embedding.weight", "blk.2.nextn.enorm.weight", {size}, {}});
  head.push_back({"mtp.pre_fc_norm_hidden.weight", "blk.2.nextn.hnorm.weight", {size}, {}});
  head.push_back({"mtp.norm.weight", "blk.2.nextn.shared_head_norm.weight", {size}, {}});
  std::mt19937_64 rng(7);
  for (HeadTensor& tensor : head) {
    int64_t count = 1;
    for (const int64_t dim : tensor.shape) count *= dim;
    for (int64_t i = 0; i < count; ++i)
      tensor.values.push_back((static_cast<float>(rng() >> 40) / static_cast<float>(1 << 24) - 0.5f) * 0.8f);
    tensor.is_norm = tensor.shape.size() == 1;
  }
  return head;
}

void pad(std::string& bytes) { bytes.resize((bytes.size() + 31) / 32 * 32); }

// The GGUF file with the head as one more block: values as its converter writes them, norms with 1 added. is_alone: a
// file with only the head, and the tensors that a model has besides its layers.
std::string gguf_with_head(const std::string& architecture, const std::vector<HeadTensor>& head, bool is_alone) {
  std::ifstream file(fixtures_dir() + "/gguf/" + architecture + ".gguf", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  uint64_t num_tensors = 0, num_keys = 0;
  std::memcpy(&num_tensors, bytes.data() + 8, 8);
  std::memcpy(&num_keys, bytes.data() + 16, 8);
  const size_t begin = bytes.find(gguf_string("token_embd.weight"));
  CHECK(begin != std::string::npos);
  size_t end = begin;
  uint64_t num_kept = 0;
  std::string kept;
  for (uint64_t i = 0; i < num_tensors; ++i) {
    uint64_t name_size = 0;
    uint32_t num_dims = 0;
    std::memcpy(&name_size, bytes.data() + end, 8);
    std::memcpy(&num_dims, bytes.data() + end + 8 + name_size, 4);
    const size_t size = 8 + name_size + 4 + 8 * num_dims + 4 + 8;
    if (!is_alone || bytes.compare(end + 8, 4, "blk.") != 0) {
      kept += bytes.substr(end, size);
      ++num_kept;
    }
    end += size;
  }
  std::string keys = bytes.substr(24, begin - 24), data = bytes.substr((end + 31) / 32 * 32), descriptions;
  const std::string layers = gguf_u32(architecture + ".block_count", 2);
  CHECK(keys.find(layers) != std::string::npos);
  keys.replace(keys.find(layers), layers.size(), gguf_u32(architecture + ".block_count", 3));
  keys += gguf_u32(architecture + ".nextn_predict_layers", 1);
  for (const HeadTensor& tensor : head) {
    pad(data);
    descriptions += gguf_string(tensor.gguf_name) + raw(static_cast<uint32_t>(tensor.shape.size()));
    for (size_t i = tensor.shape.size(); i-- > 0;) descriptions += raw(static_cast<uint64_t>(tensor.shape[i]));
    descriptions += raw(uint32_t{0}) + raw(uint64_t{data.size()});
    for (const float value : tensor.values) data += raw(tensor.is_norm ? value + 1 : value);
  }
  std::string all = bytes.substr(0, 8) + raw(num_kept + head.size()) + raw(num_keys + 1) + keys + kept + descriptions;
  pad(all);
  return all + data;
}

void check_gguf(const std::string& architecture, bool has_own_file) {
  CheckpointEditor editor(fixtures_dir() + "/gguf/" + architecture);
  const std::vector<HeadTensor> head = make_head(editor);
  for (const HeadTensor& tensor : head) {
    CheckpointEditor::Tensor& to = editor.tensors[tensor.name];
    to = {"F32", tensor.shape, std::vector<std::byte>(tensor.values.size() * sizeof(float))};
    std::memcpy(to.bytes.data(), tensor.values.data(), to.bytes.size());
  }
  const MtpGolden wanted = drafts_of(editor.write());
  const auto as_file = [](const char* name, const std::string& bytes) {
    return ModelFile{name, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  };
  ModelSource source;
  const std::string with_head = gguf_with_head(architecture, head, false),
                    alone = gguf_with_head(architecture, head, true);
  std::ifstream file(fixtures_dir() + "/gguf/" + architecture + ".gguf", std::ios::binary);
  const std::string plain{std::istreambuf_iterator<char>(file), {}};
  if (has_own_file) source.files = {as_file("m.gguf", plain), as_file("mtp-m.gguf", alone)};
  else source.files = {as_file("m.gguf", with_head)};
  const MtpGolden golden = drafts_of(source);
  REQUIRE(!wanted.logits.empty() && wanted.logits.size() == golden.logits.size());
  CHECK(wanted.next == golden.next && wanted.drafts == golden.drafts);
  double worst = 0;
  for (size_t i = 0; i < wanted.logits.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(wanted.logits[i] - golden.logits[i])));
  note(architecture + ": largest difference " + std::to_string(worst));
  CHECK(worst <= 1e-5);
}

}  // namespace

PAGODA_TEST(mtp_a_head_in_a_gguf_file_drafts_as_in_safetensors) {
  for (const char* architecture : {"qwen35", "qwen35moe"}) check_gguf(architecture, false);
}

PAGODA_TEST(mtp_a_head_in_a_gguf_file_of_its_own_drafts_as_in_safetensors) {
  for (const char* architecture : {"qwen35", "qwen35moe"}) check_gguf(architecture, true);
}

// The head itself is not quantised, so its tensors have the values of the file, in 16 bits.
PAGODA_TEST(mtp_a_quantised_copy_of_a_gguf_file_keeps_the_head) {
  const std::vector<HeadTensor> head = make_head(CheckpointEditor(fixtures_dir() + "/gguf/qwen35"));
  const std::string path = temporary_dir() + "/m.gguf", out = temporary_dir() + "/copy";
  std::ofstream(path, std::ios::binary) << gguf_with_head("qwen35", head, false);
  const auto files = io::open_model_files(folder(path));
  REQUIRE_OK(files);
  REQUIRE_OK(io::quantize_files(**files, out, {.bits = 8, .group_size = 32}, [](double) { return true; }).status);
  const CheckpointEditor copy(out);
  for (const HeadTensor& tensor : head) {
    const auto found = copy.tensors.find(tensor.name);
    REQUIRE(found != copy.tensors.end());
    CHECK(found->second.shape == tensor.shape);
    CHECK_EQ(found->second.dtype, std::string(tensor.is_norm ? "F32" : "F16"));
  }
  CHECK(drafts_of(folder(out)).drafts.size() == 6);
}

PAGODA_TEST(mtp_a_gguf_head_alone_is_no_model) {
  const std::string bytes =
      gguf_with_head("qwen35", make_head(CheckpointEditor(fixtures_dir() + "/gguf/qwen35")), true);
  const ModelFile file{"other.gguf", reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  const Status status = engine::load({.directory = "", .files = {file}}, {}, nullptr).status;
  CHECK(status.message.find("only an MTP head") != std::string::npos);
}

}  // namespace pagoda::test
