// The rotation speeds of rotary position embedding, with the scalings long-context models use.
#pragma once

#include <vector>

#include "io/config/model_config.h"

namespace pagoda::model {

// [rotary_dim / 2], radians per position.
std::vector<float> rope_inv_freq(const io::RopeConfig& rope);

}  // namespace pagoda::model
