// Embeds the files of the mini model (fifth edition), so that the first command needs no download and no folder.
#include "mini_model.h"

#if !defined(__has_embed)
#error "MiniModel needs a compiler with #embed: clang 19 or later, Swift 6.2 or later, or Xcode 26 or later."
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wc23-extensions"
#endif

namespace {

// 64-byte alignment lets a device read tensors in place.
alignas(64) constexpr uint8_t kConfig[] = {
#embed "files/config.json"
};
alignas(64) constexpr uint8_t kGenerationConfig[] = {
#embed "files/generation_config.json"
};
alignas(64) constexpr uint8_t kChatTemplate[] = {
#embed "files/chat_template.jinja"
};
alignas(64) constexpr uint8_t kTokenizer[] = {
#embed "files/tokenizer.json"
};
alignas(64) constexpr uint8_t kIndex[] = {
#embed "files/model.safetensors.index.json"
};
alignas(64) constexpr uint8_t kPreprocessor[] = {
#embed "files/preprocessor_config.json"
};
alignas(64) constexpr uint8_t kShard1[] = {
#embed "files/model-00001-of-00003.safetensors"
};
alignas(64) constexpr uint8_t kShard2[] = {
#embed "files/model-00002-of-00003.safetensors"
};
alignas(64) constexpr uint8_t kShard3[] = {
#embed "files/model-00003-of-00003.safetensors"
};

constexpr PagodaMiniFile kFiles[] = {
    {"config.json", kConfig, sizeof kConfig},
    {"generation_config.json", kGenerationConfig, sizeof kGenerationConfig},
    {"chat_template.jinja", kChatTemplate, sizeof kChatTemplate},
    {"tokenizer.json", kTokenizer, sizeof kTokenizer},
    {"model.safetensors.index.json", kIndex, sizeof kIndex},
    {"preprocessor_config.json", kPreprocessor, sizeof kPreprocessor},
    {"model-00001-of-00003.safetensors", kShard1, sizeof kShard1},
    {"model-00002-of-00003.safetensors", kShard2, sizeof kShard2},
    {"model-00003-of-00003.safetensors", kShard3, sizeof kShard3},
};

}  // namespace

size_t pagoda_mini_file_count(void) { return sizeof kFiles / sizeof kFiles[0]; }

PagodaMiniFile pagoda_mini_file(size_t index) { return kFiles[index]; }
