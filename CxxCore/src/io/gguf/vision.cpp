// Names and metadata of llama.cpp's mmproj files for Qwen3-VL and Qwen3.5.
#include "io/gguf/vision.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/concat.h"
#include "base/json_writer.h"

namespace pagoda::io {
namespace {

constexpr std::string_view kPrefix = "clip.vision.", kVisual = "model.visual.";
constexpr std::string_view kTokens = "tokenizer.ggml.tokens", kImagePad = "<|image_pad|>";

struct Name {
  std::string_view gguf, hugging_face;
};
constexpr Name kTowerNames[] = {
    {"v.patch_embd.", "patch_embed.proj."},  // weight and weight.1: the two frames of a patch
    {"v.position_embd.", "pos_embed."},     {"v.post_ln.", "merger.norm."},
    {"mm.0.", "merger.linear_fc1."},        {"mm.2.", "merger.linear_fc2."},
};
constexpr Name kBlockNames[] = {
    {"ln1.", "norm1."},
    {"ln2.", "norm2."},
    {"attn_qkv.", "attn.qkv."},
    {"attn_out.", "attn.proj."},
    {"ffn_up.", "mlp.linear_fc1."},
    {"ffn_down.", "mlp.linear_fc2."},
};
constexpr Name kDeepNames[] = {{"norm.", "norm."}, {"fc1.", "linear_fc1."}, {"fc2.", "linear_fc2."}};

std::vector<int64_t> deep_blocks(const Gguf& vision) {
  std::vector<int64_t> blocks;
  const auto flags = vision.booleans(std::string(kPrefix) + "is_deepstack_layers");
  for (size_t i = 0; flags && i < flags->size(); ++i)
    if ((*flags)[i]) blocks.push_back(static_cast<int64_t>(i));
  return blocks;
}

// Takes "12." off the front of `name`; -1 if there is no number.
int64_t take_number(std::string_view& name) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const auto size = static_cast<size_t>(end - name.data());
  if (error != std::errc() || number < 0 || size >= name.size() || name[size] != '.') return -1;
  name.remove_prefix(size + 1);
  return number;
}

template <size_t N>
std::string renamed(const Name (&names)[N], const std::string& before, std::string_view name) {
  for (const Name& known : names)
    if (name.starts_with(known.gguf))
      return concat(kVisual, before, known.hugging_face, name.substr(known.gguf.size()));
  return {};
}

Json list_of(const std::vector<int64_t>& values) {
  std::vector<Json> list;
  for (const int64_t value : values) list.push_back(Json::make_integer(value));
  return Json::make_array(std::move(list));
}

std::string_view projector(const Gguf& vision) {
  return vision.string("clip.projector_type").value_or(vision.string("clip.vision.projector_type").value_or("unknown"));
}

}  // namespace

bool is_gguf_vision(const Gguf& part) { return part.string("general.architecture") == "clip"; }

void add_vision(const Gguf& vision, const Gguf& text, Members& config) {
  Members tower;
  tower.add("projector_type", projector(vision));
  for (const auto& [key, name] : {std::pair("block_count", "depth"),
                                  {"embedding_length", "hidden_size"},
                                  {"feed_forward_length", "intermediate_size"},
                                  {"attention.head_count", "num_heads"},
                                  {"projection_dim", "out_hidden_size"},
                                  {"patch_size", "patch_size"},
                                  {"spatial_merge_size", "spatial_merge_size"}})
    if (const auto value = vision.integer(std::string(kPrefix) + key)) tower.add(name, *value);
  const auto positions = vision.tensors().find("v.position_embd.weight");
  if (positions != vision.tensors().end()) tower.add("num_position_embeddings", positions->second.shape.front());
  tower.add("deepstack_visual_indexes", list_of(deep_blocks(vision)));
  config.add("vision_config", tower.take());
  const auto tokens = text.strings(kTokens);
  if (!tokens) return;
  const auto pad = std::ranges::find(*tokens, kImagePad);
  if (pad != tokens->end()) config.add("image_token_id", static_cast<int64_t>(pad - tokens->begin()));
}

std::string gguf_preprocessor_json(const Gguf& vision) {
  Members config;
  for (const char* key : {"image_mean", "image_std"}) {
    const auto values = vision.floats(std::string(kPrefix) + key);
    std::vector<Json> list;
    for (size_t i = 0; values && i < values->size(); ++i) list.push_back(Json::make_real((*values)[i]));
    if (!list.empty()) config.add(key, Json::make_array(std::move(list)));
  }
  for (const auto& [key, name] : {std::pair("image_min_pixels", "min_pixels"), {"image_max_pixels", "max_pixels"}})
    if (const auto value = vision.integer(std::string(kPrefix) + key)) config.add(name, *value);
  std::string text;
  append_json(config.take(), text);
  return text;
}

// DeepStack's mergers are numbered by their blocks here, and one after the other in Hugging Face's files.
std::string vision_tensor_name(const Gguf& vision, std::string_view name) {
  constexpr std::string_view kBlock = "v.blk.", kDeep = "v.deepstack.";
  if (name.starts_with(kBlock)) {
    name.remove_prefix(kBlock.size());
    const int64_t block = take_number(name);
    return block < 0 ? std::string() : renamed(kBlockNames, concat("blocks.", block, "."), name);
  }
  if (name.starts_with(kDeep)) {
    name.remove_prefix(kDeep.size());
    const std::vector<int64_t> blocks = deep_blocks(vision);
    const auto found = std::ranges::find(blocks, take_number(name));
    if (found == blocks.end()) return {};
    return renamed(kDeepNames, concat("deepstack_merger_list.", found - blocks.begin(), "."), name);
  }
  return renamed(kTowerNames, "", name);
}

}  // namespace pagoda::io
