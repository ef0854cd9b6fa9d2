// Reading the rotary embedding's parameters from config.json, in the old style and in that of transformers 5.
#pragma once

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// `section` is the object that describes the text model; errors are left in it. Needs head_dim, context_length and
// qk_norm. Of full_attention layers, or of sliding_attention ones, which differ in Gemma 3.
RopeConfig read_rope_config(ConfigFields& section, const ModelConfig& config, LayerKind kind);

// A scaling as the command line spells it: none, or linear, dynamic or yarn with a factor and perhaps the context that
// the model was trained with: yarn:4 or yarn:4:32768. Replaces that of the model and its context_length.
Status set_rope_scaling(const std::string& choice, ModelConfig& config);

// The context that scaled rotations reach.
int32_t scaled_context(const RopeConfig& rope, int32_t context_length) noexcept;

// The factor YaRN applies to queries and keys, unless the file gives another.
double yarn_attention_factor(double factor, double mscale, double mscale_all_dim) noexcept;

}  // namespace pagoda::io
