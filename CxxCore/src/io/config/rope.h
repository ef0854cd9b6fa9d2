// Reading the rotary embedding's parameters from config.json, in the old style and in that of transformers 5.
#pragma once

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// `section` is the object that describes the text model; errors are recorded in it. Needs head_dim, context_length and
// qk_norm. `kind`: full_attention or sliding_attention, which have different settings in Gemma 3.
RopeConfig read_rope_config(ConfigFields& section, const ModelConfig& config, LayerKind kind);

// A scaling in command-line syntax: none, or linear, dynamic or yarn with a factor and optionally the trained
// context: yarn:4 or yarn:4:32768. Replaces the model's scaling and its context_length.
Status set_rope_scaling(const std::string& choice, ModelConfig& config);

// The context length with scaling.
int32_t scaled_context(const RopeConfig& rope, int32_t context_length) noexcept;

// The factor that YaRN applies to queries and keys, unless the file states one.
double yarn_attention_factor(double factor, double mscale, double mscale_all_dim) noexcept;

}  // namespace pagoda::io
