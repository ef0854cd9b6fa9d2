// The rotation speeds of rotary position embedding, with the scalings long-context models use.
#pragma once

#include <cstdint>
#include <vector>

#include "io/config/model_config.h"

namespace pagoda::model {

// Rows of speeds: row 0 for positions within the trained context. Dynamic scaling has a row for each further position
// up to `context_length`, longrope one for all of them; other scalings have row 0 alone.
int64_t num_rope_rows(const io::RopeConfig& rope, int32_t context_length) noexcept;
int64_t rope_row(const io::RopeConfig& rope, int64_t num_rows, int32_t position) noexcept;

// [rows, rotary_dim / 2], radians per position.
std::vector<float> rope_inv_freq(const io::RopeConfig& rope, int32_t context_length);

// The factor of scores that stands for multiplying queries and keys by attention_factor, where that is done
// after the fact: all of a head rotates.
double rope_score_factor(const io::RopeConfig& rope, int32_t head_dim) noexcept;

// Factor of the scores of latent attention where a scaling has mscale_all_dim.
double latent_score_factor(const io::RopeConfig& rope) noexcept;

// The factor the norm of queries and keys applies to dimension `i`: attention_factor where part of a head rotates.
double rope_norm_factor(const io::RopeConfig& rope, int32_t head_dim, int64_t i) noexcept;

}  // namespace pagoda::model
