// How a model wants its images: preprocessor_config.json beside vision_config.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "io/config/vision.h"
#include "pagoda/image.h"

namespace pagoda::io {

// text: the file's content; empty for a model without one, which then has Qwen3.5's values. `where` starts messages.
Result<ImageOptions> read_image_options(std::string_view text, const std::string& where, const VisionConfig& vision);

}  // namespace pagoda::io
