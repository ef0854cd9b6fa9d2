// The frequencies of rotary position embedding, with the scalings used by long-context models.
#pragma once

#include <cstdint>
#include <vector>

#include "io/config/model_config.h"

namespace pagoda::model {

// Rows of frequencies: row 0 for positions within the trained context. Dynamic scaling has a row for each later
// position up to `context_length`, longrope one for all of them; other scalings have only row 0.
int64_t num_rope_rows(const io::RopeConfig& rope, int32_t context_length) noexcept;
int64_t rope_row(const io::RopeConfig& rope, int64_t num_rows, int32_t position) noexcept;

// Rows of the table, [rows, rotary_dim / 2], radians per position: those above, and for a model that takes images
// three more, for time, height and width, each with only the frequencies of its coordinate. The others are 0 and
// rotate nothing, so that three rotations one after the other are that of an image token.
std::vector<float> rope_table(const io::RopeConfig& rope, const io::ModelConfig& config);
int64_t num_table_rows(const io::RopeConfig& rope, const io::ModelConfig& config) noexcept;
inline int64_t image_rope_row(int64_t num_table_rows, int coordinate) noexcept {
  return num_table_rows - 3 + coordinate;
}

// The factor on the scores that is equivalent to multiplying queries and keys by attention_factor, for models whose
// heads rotate as a whole.
double rope_score_factor(const io::RopeConfig& rope, int32_t head_dim) noexcept;

// Factor on the scores of latent attention if a scaling has mscale_all_dim.
double latent_score_factor(const io::RopeConfig& rope) noexcept;

// The factor that the norm of queries and keys applies to dimension `i`: attention_factor if only part of a head
// rotates.
double rope_norm_factor(const io::RopeConfig& rope, int32_t head_dim, int64_t i) noexcept;

}  // namespace pagoda::model
